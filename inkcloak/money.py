"""Our costs are whole nano-dollars: read from what people and providers write, written for people. No float anywhere.

    parse("$0.15")   150_000_000          read(Decimal("0.00016"))   160_000
    exact(123_000)   "$0.000123"          shown(123_000)             "$0.000123", in the reader's language

Prices an hour divided over a batch of texts need nine places, and sums of integers are exact everywhere.
"""

import re
from decimal import ROUND_HALF_EVEN, Decimal

from django.utils import formats

NANO = 1_000_000_000  # nano-dollars in a dollar
CENT = NANO // 100
PLACES = 9
FIGURES = 3  # shown of an amount below one dollar
_AMOUNT = re.compile(r"(?P<minus>-?)\$?(?P<whole>[0-9]{1,9})(\.(?P<rest>[0-9]{1,9}))?")


def parse(text: str) -> int:
    """Nano-dollars of "0.15", "$0.15" or "-1.5", exactly. Raises ValueError for anything else, a tenth place too."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no amount in dollars")
    amount = int(found["whole"]) * NANO + int((found["rest"] or "").ljust(PLACES, "0"))
    return -amount if found["minus"] else amount


def read(amount: Decimal) -> int:
    """Nano-dollars of a provider's amount, to the nearest: it prints floats, whose last places are noise."""
    return int((amount * NANO).to_integral_value(rounding=ROUND_HALF_EVEN))


def dollars(nanousd: int) -> Decimal:
    """Exactly; for printing alone."""
    return Decimal(nanousd).scaleb(-PLACES)


def exact(nanousd: int) -> str:
    """Every place that is not zero, and cents at least: what a ledger line says."""
    whole, rest = divmod(abs(nanousd), NANO)
    places = f"{rest:09d}".rstrip("0").ljust(2, "0")
    return f"{'-' if nanousd < 0 else ''}${whole}.{places}"


def shown(nanousd: int) -> str:
    """Cents from one dollar on, below it three figures, in the language of whoever reads."""
    amount = dollars(abs(nanousd))
    places = 2 if abs(nanousd) >= NANO or not nanousd else max(2, FIGURES - 1 - amount.adjusted())
    number = formats.number_format(round(amount, min(places, PLACES)), min(places, PLACES), force_grouping=True)
    return f"{'-' if nanousd < 0 else ''}${number}"

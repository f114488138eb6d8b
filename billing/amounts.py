"""Amounts of customers' money for people: whole minor units of a currency, written as the page's language writes them.

    exact(1_900, "usd")   "$19.00", "19,00 US$"      every place: invoices
    price(1_900, "usd")   "$19", "19 US$"            no empty cents: what a plan costs

How many minor units make one unit depends on the currency, as Stripe counts them. Nothing here calculates.
"""

from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import get_language

# https://docs.stripe.com/currencies: ISK and UGX have no cents, and are counted with two places all the same.
WITHOUT_CENTS = frozenset(
    ["bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"]
)
THREE_PLACES = frozenset(["bhd", "jod", "kwd", "omr", "tnd"])
SIGNS = {"en": {"usd": "$", "eur": "€", "gbp": "£", "jpy": "¥"}, "es": {"usd": "US$", "eur": "€", "gbp": "GBP"}}
UNBROKEN = "\u00a0"  # between number and sign: they stay on one line


def places(currency: str) -> int:
    """Decimal places of the currency's minor unit: 2, but for some."""
    code = currency.lower()
    return 0 if code in WITHOUT_CENTS else 3 if code in THREE_PLACES else 2


def exact(minor: int, currency: str) -> str:
    """With every place that the currency has."""
    return _written(minor, currency, places(currency))


def price(minor: int, currency: str) -> str:
    """Without cents where there are none."""
    shown = places(currency)
    return _written(minor, currency, 0 if minor % 10**shown == 0 else shown)


def _written(minor: int, currency: str, shown: int) -> str:
    amount = Decimal(abs(minor)).scaleb(-places(currency))
    number = number_format(amount, shown, force_grouping=True)
    language = "es" if (get_language() or "en").startswith("es") else "en"
    sign = SIGNS[language].get(currency.lower(), currency.upper())
    minus = "-" if minor < 0 else ""
    if language == "es":
        return f"{minus}{number}{UNBROKEN}{sign}"
    return f"{minus}{sign}{UNBROKEN if sign.isalpha() else ''}{number}"

"""Integer money in minor units: exponents, proration, percentages, Stripe's fees. Pure; rounds half up, once."""

from decimal import ROUND_HALF_UP, Decimal

ZERO_DECIMAL = frozenset(
    ["bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "ugx", "vnd", "vuv", "xaf", "xof", "xpf"]
)
THREE_DECIMAL = frozenset(["bhd", "jod", "kwd", "omr", "tnd"])
FEE_PER_MILLE = 29
FEE_FIXED_CENTS = 30  # for a currency of two decimals
DISPUTE_FEE_CENTS = 1500


def exponent(currency: str) -> int:
    """Decimals of a currency."""
    if currency in ZERO_DECIMAL:
        return 0
    return 3 if currency in THREE_DECIMAL else 2


def scaled(cents: int, currency: str) -> int:
    """A fixed fee, written for two decimals, in the currency's minor units (JPY counts as hundredths of dollars)."""
    return cents * 10 if exponent(currency) == 3 else cents


def divided(numerator: int, denominator: int) -> int:
    """Rounded half away from zero."""
    sign = -1 if (numerator < 0) != (denominator < 0) else 1
    top, bottom = abs(numerator), abs(denominator)
    return sign * ((2 * top + bottom) // (2 * bottom))


def part(amount: int, seconds: int, of_seconds: int, currency: str) -> int:
    """The share of an amount for part of a period; three-decimal currencies end in 0."""
    step = 10 if exponent(currency) == 3 else 1
    return divided(amount * seconds, of_seconds * step) * step


def percent(amount: int, share: Decimal, currency: str) -> int:
    """That many percent of it."""
    step = 10 if exponent(currency) == 3 else 1
    exact = Decimal(amount) * share / (100 * step)
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP)) * step


def fee(amount: int, currency: str) -> int:
    """What Stripe keeps of a charge: 2.9 % and a fixed part."""
    return divided(amount * FEE_PER_MILLE, 1000) + scaled(FEE_FIXED_CENTS, currency)


def times(unit: Decimal, quantity: int) -> int:
    """A price that may have a fraction of a minor unit, times a quantity."""
    return int((unit * quantity).quantize(Decimal(1), ROUND_HALF_UP))


def shown(amount: int, currency: str) -> str:
    """For people, on the double's own pages."""
    digits = exponent(currency)
    value = Decimal(amount).scaleb(-digits)
    return f"{value:.{digits}f} {currency.upper()}"

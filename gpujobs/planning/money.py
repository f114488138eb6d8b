"""Integer nano-dollars: products are rounded up once, at their end; dollars only where a person reads them. Pure."""

NANO = 1_000_000_000


def cost(price_nanousd: int, amount: int, per: int = 1) -> int:
    """So much of something at a price for `per` of it, rounded up."""
    return -(-price_nanousd * amount // per)


def milli(amount: float) -> int:
    """A measured or expected amount in whole thousandths, rounded up: what money is multiplied with is an integer."""
    thousandths = int(amount * 1000)
    return thousandths + (thousandths < amount * 1000)


def dollars(nanousd: int, places: int = 2) -> str:
    """1234567890 -> "1.23", half up, without any float."""
    unit = 10 ** (9 - places)
    whole, rest = divmod((abs(nanousd) + unit // 2) // unit, 10**places)
    sign = "-" if nanousd < 0 else ""
    return f"{sign}{whole:,}.{rest:0{places}d}" if places else f"{sign}{whole:,}"

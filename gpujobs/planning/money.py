"""Whole nano-dollars of a plan: a product is rounded up once, at its end. Pure. inkcloak.money writes amounts."""


def cost(price_nanousd: int, amount: int, per: int = 1) -> int:
    """So much of something at a price for `per` of it, rounded up."""
    return -(-price_nanousd * amount // per)


def milli(amount: float) -> int:
    """A measured or expected amount in whole thousandths, rounded up: what money is multiplied with is an integer."""
    thousandths = int(amount * 1000)
    return thousandths + (thousandths < amount * 1000)

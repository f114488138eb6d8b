"""Money as each language writes it, with as many places as its currency has."""

import pytest
from django.utils import translation

from billing import amounts


@pytest.mark.parametrize(
    ("minor", "currency", "english", "spanish"),
    [
        (1_900, "usd", "$19.00", "19,00\u00a0US$"),
        (123_456_789, "eur", "€1,234,567.89", "1\u00a0234\u00a0567,89\u00a0€"),
        (900, "jpy", "¥900", "900\u00a0JPY"),
        (1_234_567, "KWD", "KWD\u00a01,234.567", "1\u00a0234,567\u00a0KWD"),
        (-50, "usd", "-$0.50", "-0,50\u00a0US$"),
        (0, "eur", "€0.00", "0,00\u00a0€"),
        (1_900, "xyz", "XYZ\u00a019.00", "19,00\u00a0XYZ"),
    ],
)
def test_it_writes_every_place(minor: int, currency: str, english: str, spanish: str) -> None:
    with translation.override("en"):
        assert amounts.exact(minor, currency) == english
    with translation.override("es"):
        assert amounts.exact(minor, currency) == spanish


@pytest.mark.parametrize(
    ("minor", "currency", "written"),
    [
        (1_900, "usd", "$19"),
        (1_950, "usd", "$19.50"),
        (29_000, "eur", "€290"),
        (900, "jpy", "¥900"),
        (1_500, "bhd", "BHD\u00a01.500"),
        (0, "usd", "$0"),
    ],
)
def test_a_price_has_no_empty_cents(minor: int, currency: str, written: str) -> None:
    with translation.override("en"):
        assert amounts.price(minor, currency) == written


def test_it_loses_nothing_of_what_a_float_could_not_hold() -> None:
    with translation.override("en"):
        assert amounts.exact(9_007_199_254_740_993, "usd") == "$90,071,992,547,409.93"

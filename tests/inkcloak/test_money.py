"""Amounts in nano-dollars, read and written without a float."""

from decimal import Decimal

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from inkcloak import money


@pytest.mark.parametrize(
    ("text", "nanousd"),
    [("0.15", 150_000_000), ("$0.15", 150_000_000), (" -1.5 ", -1_500_000_000), ("$3", 3 * money.NANO),
     ("0.000000001", 1), ("-$0.2", -200_000_000)],
)  # fmt: skip
def test_it_reads_dollars_exactly(text: str, nanousd: int) -> None:
    assert money.parse(text) == nanousd


@pytest.mark.parametrize("text", ["", "$", "1,5", "1e3", "0.0000000001", "1.", ".5", "--1", "NaN", "9" * 12, "١"])
def test_it_refuses_what_is_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match="no amount"):
        money.parse(text)


@given(st.integers(-(10**17), 10**17))
def test_what_is_written_exactly_is_read_as_the_same(nanousd: int) -> None:
    assert money.parse(money.exact(nanousd)) == nanousd
    assert money.read(money.dollars(nanousd)) == nanousd


def test_a_providers_float_is_read_to_the_nearest() -> None:
    assert money.read(Decimal("0.30000000000000004")) == 300_000_000


@pytest.mark.parametrize(
    ("nanousd", "english", "spanish"),
    [
        (0, "$0.00", "$0,00"),
        (123_000, "$0.000123", "$0,000123"),
        (123_456, "$0.000123", "$0,000123"),
        (150_000_000, "$0.150", "$0,150"),
        (1_234_567_890_000, "$1,234.57", "$1.234,57"),
        (-20_000_000, "-$0.0200", "-$0,0200"),
        (1, "$0.000000001", "$0,000000001"),
    ],
)
def test_it_shows_three_figures_in_the_readers_language(nanousd: int, english: str, spanish: str) -> None:
    for language, expected in (("en", english), ("es", spanish)):
        with translation.override(language):
            assert money.shown(nanousd).replace("\xa0", ".") == expected


def test_it_writes_exactly_what_a_ledger_line_says() -> None:
    assert [money.exact(n) for n in (0, 123_000, -1_500_000_000)] == ["$0.00", "$0.000123", "-$1.50"]

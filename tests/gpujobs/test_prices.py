"""Prices are dated rows: what was asked at an instant, where, and by whom; what nobody knows is None."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from gpujobs import list_prices, prices
from gpujobs.models import Price
from gpujobs.pricing import Rate, between, cost, disk, started_seconds, stored

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
A4000 = "NVIDIA RTX A4000"
GB_MONTH = 100_000_000  # nano-dollars
HOUR_MS = 3_600_000


def asked(amount: int, *, gpu: str = "X", since: datetime = NOW, region: str = "") -> Price:
    return Price.objects.create(
        provider="runpod", gpu_type=gpu, mode="flex", region=region, amount_nanousd=amount, source="a test",
        as_of=date(2026, 11, 30), valid_from=since,
    )  # fmt: skip


@pytest.mark.django_db
def test_the_last_one_that_was_valid_counts() -> None:
    asked(5, since=NOW - timedelta(days=9))
    asked(6, since=NOW)
    for seconds, amount in ((0, 6), (-1, 5), (86_400, 6)):
        found = prices.price_at("runpod", "X", "flex", NOW + timedelta(seconds=seconds))
        assert found is not None
        assert found.amount_nanousd == amount
    assert prices.price_at("runpod", "X", "flex", NOW - timedelta(days=10)) is None


@pytest.mark.django_db
def test_a_regions_own_price_goes_before_everybodys_newer_one() -> None:
    asked(5, region="EU", since=NOW - timedelta(days=9))
    asked(6)
    amounts = [found.amount_nanousd for region in ("EU", "US", "") if (found := _at(region)) is not None]
    assert amounts == [5, 6, 6]


def _at(region: str) -> Price | None:
    return prices.price_at("runpod", "X", "flex", NOW, region)


@pytest.mark.django_db
def test_what_nobody_knows_is_no_price() -> None:
    for provider, gpu, mode in (("runpod", "", "flex"), ("runpod", "X", "flex"), ("gcp", A4000, "flex")):
        assert prices.price_at(provider, gpu, mode, NOW) is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("gpu", "mode", "hourly"),
    [
        (A4000, "flex", 576_000_000),  # $0.00016 a second
        ("AMPERE_16", "flex", 576_000_000),
        ("AMPERE_16", "active", 396_000_000),
        ("NVIDIA H200", "flex", 5_580_000_000),
        (A4000, "pod", 250_000_000),
        ("", "storage", GB_MONTH),
    ],
)
def test_list_prices_ship(gpu: str, mode: str, hourly: int) -> None:
    found = prices.price_at("runpod", gpu, mode, NOW)
    assert found is not None
    assert (found.amount_nanousd, bool(found.source), found.as_of) == (hourly, True, list_prices.AUGUST)


@pytest.mark.django_db
def test_shipping_them_again_adds_none() -> None:
    assert prices.seed() == 0
    assert Price.objects.count() == len(list(list_prices.listed()))


@pytest.mark.django_db
def test_a_price_is_never_changed() -> None:
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Price.objects.update(amount_nanousd=1)


@pytest.mark.django_db
def test_the_price_of_a_disk_is_no_price_of_an_hour() -> None:
    found = prices.price_at("runpod", "", "storage", NOW)
    assert found is not None
    with pytest.raises(ValueError, match="hour"):
        prices.rate_of(found)


# --- What time and space cost --------------------------------------------------------------------------------------


def test_a_known_record_of_a_provider() -> None:
    """138,301 ms at $0.58 an hour were billed with $0.02228, by the second."""
    assert cost(Rate(580_000_000), 138_301) == 22_281_828  # 22,281,827.8
    assert cost(Rate(576_000_000), started_seconds(138_301)) == 22_240_000


def test_it_rounds_up_once() -> None:
    assert [cost(Rate(1), ms) for ms in (0, 1, HOUR_MS, HOUR_MS + 1)] == [0, 1, 1, 2]
    assert [started_seconds(ms) for ms in (0, 1, 1000, 1001)] == [0, 1000, 1000, 2000]
    with pytest.raises(ValueError, match="negative"):
        cost(Rate(1), -1)


def test_pieces_add_up_however_a_whole_is_cut() -> None:
    rate = Rate(333_333_333)
    pieces = [between(rate, start, start + 7) for start in range(0, 7_000, 7)]
    assert sum(pieces) == cost(rate, 7_000)


def test_disks_are_billed_in_started_steps_and_by_the_month() -> None:
    month_ms = 30 * 24 * HOUR_MS
    assert disk(GB_MONTH, 20, month_ms) == 20 * GB_MONTH == stored(GB_MONTH, 20, month_ms)
    assert disk(GB_MONTH, 20, 1) == disk(GB_MONTH, 20, 300_000) == 231_482  # 231,481.5
    assert (disk(GB_MONTH, 20, 0), stored(GB_MONTH, 1, 1)) == (0, 1)

"""What was spent in days of any zone: sums, their sides, what they are held against, and how they are billed."""

import uuid
from datetime import UTC, date, datetime, timedelta

import pytest

from gpujobs import date_ranges, ledger, spending
from gpujobs.date_ranges import DateRange
from gpujobs.models import CostEntry, ReconciledDay

pytestmark = pytest.mark.django_db
MADRID, LORD_HOWE = "Europe/Madrid", "Australia/Lord_Howe"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def post(moment: str, amount: int, **fields: object) -> None:
    plain = {"kind": "execution", "service": "inference", "provider": "runpod", "gpu_type": "A4000"}
    ledger.post([CostEntry(at=at(moment), amount_nanousd=amount, source_ref=str(uuid.uuid4()), **plain | fields)])


def days(first: str, last: str, zone: str = "UTC") -> DateRange:
    return DateRange(date.fromisoformat(first), date.fromisoformat(last), zone)


def totals(chosen: DateRange) -> list[int]:
    return [day.total for day in spending.by_day(spending.cells(chosen), chosen)]


@pytest.mark.parametrize(
    ("zone", "day", "hours", "first", "last"),
    [
        (MADRID, "2026-03-29", 23, "2026-03-28T23:00", "2026-03-29T21:45"),
        (MADRID, "2026-10-25", 25, "2026-10-24T22:00", "2026-10-25T22:45"),
        (LORD_HOWE, "2026-04-05", 24.5, "2026-04-04T13:00", "2026-04-05T13:15"),
        ("UTC", "2026-03-29", 24, "2026-03-29T00:00", "2026-03-29T23:45"),
    ],
)
def test_a_day_is_as_long_as_its_clocks_say(zone: str, day: str, hours: float, first: str, last: str) -> None:
    chosen = days(day, day, zone)
    assert (chosen.end - chosen.start) / timedelta(hours=1) == hours
    post(first, 1)
    post(last, 10)
    quarter = timedelta(minutes=15)
    post((at(first) - quarter).replace(tzinfo=None).isoformat(), 100)  # the day before
    post((at(last) + quarter).replace(tzinfo=None).isoformat(), 1000)  # the day after
    assert totals(chosen) == [11]
    near = DateRange(chosen.first - date_ranges.ONE_DAY, chosen.last + date_ranges.ONE_DAY, zone)
    assert totals(near) == [100, 11, 1000]


def test_another_zone_moves_lines_between_days_and_loses_none() -> None:
    for hour in range(48):
        post(f"2026-06-{1 + hour // 24:02}T{hour % 24:02}:30", 1 << hour)
    wide = [days("2026-05-30", "2026-06-04", zone) for zone in ("UTC", MADRID, "America/New_York", "Asia/Kathmandu")]
    found = [totals(each) for each in wide]
    assert {sum(each) for each in found} == {(1 << 48) - 1}
    assert len({tuple(each) for each in found}) == len(wide)


def test_a_late_entry_counts_for_the_day_that_it_is_of() -> None:
    chosen = days("2026-06-01", "2026-06-02")
    post("2026-06-02T00:10", 5)
    assert totals(chosen) == [0, 5]
    post("2026-06-01T23:59", 7)  # posted after midnight
    assert totals(chosen) == [7, 5]


def test_every_side_adds_up_to_the_same() -> None:
    post("2026-06-01T10:00", 5, account_id=uuid.uuid4(), milliseconds=50, model_version="v1")
    post("2026-06-01T10:01", 3, kind="idle", milliseconds=30)
    post("2026-06-01T10:02", 2, kind="cold_start", milliseconds=20, gpu_type="A5000")
    post("2026-06-02T10:00", 11, kind="training", service="training", milliseconds=500)
    post("2026-06-02T10:00", -1, kind="adjustment", gpu_type="")
    chosen = days("2026-06-01", "2026-06-02")
    found = spending.cells(chosen)
    for side in spending.SIDES:
        assert sum(amount for _, amount in spending.by(side, found)) == spending.total(found) == 20
    assert spending.by("gpu_type", found) == [("A4000", 19), ("A5000", 2), ("", -1)]
    parts = spending.parts(found)
    assert (parts.used, parts.cold, parts.idle, parts.other) == (16, 2, 3, -1)
    assert (parts.used_ms, parts.cold_ms, parts.idle_ms, parts.machines_ms) == (550, 20, 30, 600)
    owners = spending.accounts(chosen.start, chosen.end, 10)
    assert [owner.nanousd for owner in owners] == [15, 5]
    assert owners[0].account_id == ledger.UNALLOCATED


def test_what_is_cut_off_is_left_out() -> None:
    post("2026-06-01T10:00", 1)
    post("2026-06-01T11:00", 2)
    assert spending.total(spending.cells(days("2026-06-01", "2026-06-01"), at("2026-06-01T10:45"))) == 1


def test_a_day_is_confirmed_once_all_that_it_touches_is_billed() -> None:
    post("2026-06-01T10:00", 100)
    post("2026-06-01T10:00", 50, kind="training", service="training")
    utc, madrid = days("2026-06-01", "2026-06-01"), days("2026-06-01", "2026-06-01", MADRID)
    assert spending.bills(utc) == []
    for day, service, thought, billed in (
        ("2026-06-01", "inference", 100, 110),
        ("2026-06-01", "inference", 110, 108),  # a later bill
        ("2026-06-01", "training", 50, 50),
    ):
        ReconciledDay.objects.create(
            provider="runpod", service=service, day=day, estimated_nanousd=thought, billed_nanousd=billed,
            delta_nanousd=billed - thought,
        )  # fmt: skip
    bills = spending.bills(utc)
    assert [(bill.service, bill.estimated, bill.billed, bill.delta) for bill in bills] == [
        ("inference", 100, 108, 8),
        ("training", 50, 50, 0),
    ]
    assert spending.confirmed(spending.cells(utc), bills, utc) == {utc.first}
    bills = spending.bills(madrid)
    assert spending.confirmed(spending.cells(madrid), bills, madrid) == set(), "it begins on 31 May, UTC"


def test_the_ledger_begins_on_a_local_day() -> None:
    assert spending.first_day("UTC") is None
    post("2026-06-01T23:30", 1)
    assert spending.first_day("UTC") == date(2026, 6, 1)
    assert spending.first_day(MADRID) == date(2026, 6, 2)

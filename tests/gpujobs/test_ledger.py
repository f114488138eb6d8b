"""The ledger's verbs: a line is posted once, corrected by another, and what was spent is the sum of all."""

import uuid
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import factories
import pytest
from django.db import connection

from gpujobs import ledger, spending
from gpujobs.date_ranges import DateRange
from gpujobs.models import AccountQuarter, CostEntry, CostQuarter
from gpujobs.periods import span_of

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 30, 12, 7, tzinfo=UTC)
HOUR = timedelta(hours=1)
ALICE, BOB = uuid.UUID(int=1), uuid.UUID(int=2)


def entry(ref: str, amount: int, **changes: object) -> CostEntry:
    values = {"kind": "execution", "service": "inference", "provider": "runpod", "at": NOON}
    return CostEntry(source_ref=ref, amount_nanousd=amount, **values | changes)


def total(**asked: object) -> int:
    return ledger.spent(NOON - HOUR, NOON + HOUR, **asked)


def test_it_posts_a_line_once() -> None:
    assert ledger.post([entry("a", 5), entry("b", 7)]) == 2
    assert ledger.post([entry("a", 5), entry("c", 1)]) == 1
    assert total() == 13


def test_it_refuses_the_same_line_with_another_amount_and_adds_none() -> None:
    ledger.post([entry("a", 5)])
    with pytest.raises(ledger.Conflict, match="otherwise of a") as refused:
        ledger.post([entry("a", 6), entry("b", 7)])
    assert (refused.value.refs, total()) == (("a",), 5)


def test_it_refuses_two_lines_of_one_name_that_differ() -> None:
    assert ledger.post([entry("a", 5), entry("a", 5)]) == 1
    with pytest.raises(ledger.Conflict):
        ledger.post([entry("b", 5), entry("b", 5, kind="idle")])


@pytest.mark.django_db(transaction=True)
def test_many_who_post_the_same_lines_at_once_post_them_once() -> None:
    found = factories.together(lambda n: ledger.post([entry("a", 5), entry("b", 7, account_id=ALICE)]), 8)
    assert sorted(found) == [0] * 7 + [2]
    assert (total(), total(account_id=ALICE)) == (12, 7)


@pytest.mark.django_db(transaction=True)
def test_many_who_post_other_amounts_at_once_leave_one() -> None:
    found = factories.together(lambda n: ledger.post([entry("a", 5 + n)]), 8)
    assert sum(isinstance(each, ledger.Conflict) for each in found) == 7
    assert total() == CostEntry.objects.get().amount_nanousd


def test_a_correction_is_another_line_for_the_same_account_and_instant() -> None:
    line = entry("a", 5, account_id=ALICE, milliseconds=40)
    ledger.post([line])
    made = ledger.correct(line, 3, "counted twice")
    assert made is not None
    assert (made.kind, made.amount_nanousd, made.corrects_id, made.at) == ("adjustment", -2, line.pk, NOON)
    assert total(account_id=ALICE) == 3
    assert ledger.correct(line, 3, "counted twice") is None
    again = ledger.correct(line, 9, "counted too little")
    assert again is not None
    assert (again.source_ref, total()) == (f"correct:{line.pk}:2", 9)


def test_it_tells_what_was_spent_by_service_account_and_provider() -> None:
    ledger.post([
        entry("a", 1, account_id=ALICE),
        entry("b", 20, account_id=BOB, service="training"),
        entry("c", 300, provider="gcp"),
        entry("d", 4_000, at=NOON - 2 * HOUR),
    ])  # fmt: skip
    assert total() == 321
    assert total(service="training") == 20
    assert total(provider="gcp") == 300
    assert total(account_id=ALICE) == 1
    assert total(account_id=ledger.UNALLOCATED) == 300
    assert total(account_id=BOB, service="inference") == 0
    with pytest.raises(ValueError, match="by provider"):
        total(account_id=ALICE, provider="gcp")


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("12:00", "12:15", 11_111),
        ("12:00", "12:15:00.000001", 111_111),
        ("12:01", "12:20", 111_110),
        ("11:45", "12:14", 1_001_111),
        ("11:46", "12:14", 1_111),
        ("12:01", "12:14", 1_110),
        ("12:01", "12:13:59.999999", 110),
        ("12:14", "12:14", 0),
        ("12:03", "12:00", 0),
        ("12:20", "11:40", 0),
    ],
)
@pytest.mark.parametrize("asked", [{}, {"account_id": ALICE}, {"service": "inference"}])
def test_an_edge_inside_a_quarter_is_exact(start: str, end: str, expected: int, asked: dict) -> None:
    times = ("12:00", "12:01", "12:07", "12:13:59.999999", "12:14", "12:15", "11:45")
    ledger.post([entry(at, 10**n, at=moment(at), account_id=ALICE) for n, at in enumerate(times)])
    assert ledger.spent(moment(start), moment(end), **asked) == expected


def moment(time: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-30T{time}+00:00")


# --- Days of any length ------------------------------------------------------------------------------------------


def shown(first: date, last: date, zone: str) -> dict[date, dict[str, int]]:
    """As pages show these days."""
    days = DateRange(first, last, zone)
    return {day.day: day.kinds for day in spending.by_day(spending.cells(days), days)}


def hourly(zone: str, day: date) -> int:
    """A line each hour of three UTC days around it; what its local day has."""
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) - 24 * HOUR
    ledger.post([entry(f"{zone}-{n}", 1, at=start + n * HOUR) for n in range(72)])
    span = span_of("day", zone, datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(zone)))
    spent = ledger.spent(span.start, span.end)
    assert shown(day, day, zone) == {day: {"execution": spent}}
    return spent


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Madrid", date(2026, 3, 29), 23),
        ("Europe/Madrid", date(2026, 10, 25), 25),
        ("America/New_York", date(2026, 11, 1), 25),
        ("Asia/Kathmandu", date(2026, 11, 30), 24),  # 5:45 h off
        ("UTC", date(2026, 11, 30), 24),
    ],
)
def test_days_of_23_and_25_hours_have_what_was_spent_in_them(zone: str, day: date, hours: int) -> None:
    assert hourly(zone, day) == hours


def test_a_change_of_zone_moves_the_edges_and_loses_nothing() -> None:
    ledger.post([entry(f"h{n}", 1, at=NOON + n * HOUR) for n in range(-72, 72)])
    for zone in ("UTC", "Pacific/Auckland", "America/Los_Angeles", "Australia/Lord_Howe"):
        days = shown(date(2026, 11, 26), date(2026, 12, 5), zone)
        assert sum(sum(kinds.values()) for kinds in days.values()) == 144
        assert sum(1 for kinds in days.values() if kinds == {"execution": 24}) >= 5


def test_a_line_that_is_posted_after_midnight_counts_on_the_day_it_was_spent() -> None:
    """In Madrid the day ends at 23:00 UTC."""
    before = datetime(2026, 11, 30, 22, 59, 59, tzinfo=UTC)
    ledger.post([entry("late", 5, at=before), entry("next", 7, at=before + timedelta(seconds=1))])
    today, tomorrow, november = (
        span_of(period, "Europe/Madrid", at)
        for period, at in (("day", before), ("day", before + HOUR), ("month", before))
    )
    assert [ledger.spent(span.start, span.end) for span in (today, tomorrow, november)] == [5, 7, 5]
    first, second = date(2026, 11, 30), date(2026, 12, 1)
    assert shown(first, second, "Europe/Madrid") == {first: {"execution": 5}, second: {"execution": 7}}


# --- The sums, proved --------------------------------------------------------------------------------------------


def test_sums_that_are_right_stay_as_they_are() -> None:
    ledger.post([entry("a", 5), entry("b", 7, kind="idle", milliseconds=9), entry("c", 1, account_id=ALICE)])
    assert ledger.rebuild_sums() == 0


def test_sums_that_went_wrong_are_found_and_put_right() -> None:
    ledger.post([entry("a", 5), entry("b", 7, kind="idle", account_id=ALICE)])
    CostQuarter.objects.filter(kind="idle").update(amount_nanousd=8)
    AccountQuarter.objects.filter(account_id=ALICE).delete()
    assert ledger.rebuild_sums(repair=False) == 3  # one wrong on both sides, one missing
    assert ledger.rebuild_sums() == 3
    assert (total(), total(account_id=ALICE), ledger.rebuild_sums()) == (12, 7, 0)


def test_a_sum_without_lines_is_found() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE gpujobs_costentry DISABLE TRIGGER cost_entry_sums")
    entry("a", 5).save()
    assert total() == 0
    assert ledger.rebuild_sums() == 2
    assert total() == 5

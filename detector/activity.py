"""Who was active on which day. Lines that the database wrote with each check are folded into quarters of an hour.

    fold()       lines -> quarters; a job does it each minute, so that pages are that much behind
    days(…)      active accounts, people, visitors, checks and words of each local day
    forget(…)    quarters that no page reaches back to

An active user of a day is an account, or a visitor's browser without one, of which at least one text was accepted for
checking that day. Our own account is none.
"""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, F, Sum

from billing.models import Account
from detector.models import ActivityQuarter
from gpujobs.date_ranges import DateRange
from gpujobs.spending import bucket

KEPT = timedelta(days=800)  # two years and what a comparison needs
Kind = ActivityQuarter.Kind

FOLD = """
WITH gone AS (DELETE FROM detector_activityline RETURNING at, account_id, user_id, visitor, words),
each AS (
    SELECT at, words, kind, who FROM gone, LATERAL (VALUES
        ('account', account_id::text), ('user', user_id::text), ('visitor', nullif(visitor, ''))
    ) AS names (kind, who) WHERE who IS NOT NULL
)
INSERT INTO detector_activityquarter AS kept (start, kind, who, checks, words)
SELECT date_bin('15 minutes', at, TIMESTAMPTZ '2000-01-01 00:00:00+00'), kind, who, count(*), sum(words)
FROM each GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (start, kind, who) DO UPDATE SET
    checks = kept.checks + excluded.checks, words = kept.words + excluded.words
"""


@dataclass(frozen=True, slots=True)
class ActiveDay:
    """checks, words: of accounts and visitors together, our own account's left out."""

    day: date
    accounts: int = 0
    people: int = 0
    visitors: int = 0
    checks: int = 0
    words: int = 0

    @property
    def users(self) -> int:
        """Daily active users: accounts, and visitors without one."""
        return self.accounts + self.visitors


@transaction.atomic
def fold() -> int:
    """Returns how many rows it touched. Twice, or beside itself, counts nothing twice: a line is deleted by one."""
    with connection.cursor() as cursor:
        cursor.execute(FOLD)
        return int(cursor.rowcount)


def forget(now: datetime) -> int:
    deleted, _ = ActivityQuarter.objects.filter(start__lt=now - KEPT).delete()
    return deleted


def days(wanted: DateRange, end: datetime | None = None) -> list[ActiveDay]:
    """Every day of the range, also one on which nobody came. end: as in gpujobs.spending.cells."""
    until = wanted.end if end is None else min(end, wanted.end)
    rows = ActivityQuarter.objects.filter(start__gte=wanted.start, start__lt=until).exclude(who__in=_our_own())
    sums = (
        rows.annotate(bucket=bucket(F("start"), wanted.starts))
        .values_list("bucket", "kind")
        .annotate(Count("who", distinct=True), Sum("checks"), Sum("words"))
        .order_by("bucket", "kind")
    )
    found: dict[int, dict[str, Sequence[Any]]] = defaultdict(dict)
    for number, kind, *figures in sums:
        found[number - 1][kind] = figures
    return [_day(day, found.get(number, {})) for number, day in enumerate(wanted.days)]


def _day(day: date, kinds: dict[str, Sequence[Any]]) -> ActiveDay:
    nobody = (0, 0, 0)
    accounts, people, visitors = (kinds.get(kind, nobody) for kind in (Kind.ACCOUNT, Kind.USER, Kind.VISITOR))
    return ActiveDay(
        day=day,
        accounts=int(accounts[0]),
        people=int(people[0]),
        visitors=int(visitors[0]),
        checks=int(accounts[1]) + int(visitors[1]),
        words=int(accounts[2]) + int(visitors[2]),
    )


def active_accounts(wanted: DateRange) -> set[uuid.UUID]:
    """Of the whole range, our own left out."""
    rows = ActivityQuarter.objects.filter(kind=Kind.ACCOUNT, start__gte=wanted.start, start__lt=wanted.end)
    return {uuid.UUID(who) for who in rows.exclude(who__in=_our_own()).values_list("who", flat=True).distinct()}


def _our_own() -> list[str]:
    return [str(pk) for pk in Account.objects.filter(internal=True).values_list("pk", flat=True)]

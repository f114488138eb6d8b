"""What was spent, seen from every side: by day, kind, service, provider, GPU, version, account. Read side.

    cells(days)          the ledger's sums of these days, one statement; all other views of them are pure functions:
    by_day, by, total, parts, day_totals
    accounts(…)          whose work it was, the dearest first
    bills(days)          which days the provider's bill has confirmed, and by how much it differed

Only the sums by quarter of an hour are read, never the ledger's lines: it takes as long after ten million lines as
after a hundred thousand. Late entries count for the day they are of, since the sums are kept by the line's own instant.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.contrib.postgres.fields import ArrayField
from django.db.models import DateTimeField, F, Func, IntegerField, Min, Sum, Value

from gpujobs.date_ranges import ONE_DAY, DateRange, start_of
from gpujobs.models import AccountQuarter, CostEntry, CostQuarter, ReconciledDay

Kind = CostEntry.Kind
USED = (Kind.EXECUTION, Kind.TRAINING, Kind.BENCHMARK)
SIDES = ("kind", "service", "provider", "gpu_type", "version")  # by which a sum can be broken down


@dataclass(frozen=True, slots=True)
class Cell:
    """One day's sum of one kind of cost. day: local.  milliseconds: of machine time; 0 where the cost is none of it."""

    day: date
    kind: str
    service: str
    provider: str
    gpu_type: str
    version: str
    entries: int
    milliseconds: int
    nanousd: int


@dataclass(frozen=True, slots=True)
class Day:
    """kinds: nano-dollars by kind, only those that are not zero."""

    day: date
    kinds: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


@dataclass(frozen=True, slots=True)
class Parts:
    """How machine time was spent, in nano-dollars and milliseconds of used, cold and idle.

    other: nano-dollars that are no machine's time (storage, and adjustments, whose share of it nobody knows).
    """

    used: int
    cold: int
    idle: int
    other: int
    used_ms: int
    cold_ms: int
    idle_ms: int

    @property
    def machines(self) -> int:
        return self.used + self.cold + self.idle

    @property
    def machines_ms(self) -> int:
        return self.used_ms + self.cold_ms + self.idle_ms


@dataclass(frozen=True, slots=True)
class AccountSpend:
    """account_id: AccountQuarter.UNALLOCATED for what is nobody's: idle time, cold starts, storage, training."""

    account_id: uuid.UUID
    entries: int
    nanousd: int


@dataclass(frozen=True, slots=True)
class Bill:
    """A UTC day of a provider's service. estimated: before the first bill.  delta: all that bills corrected."""

    day: date
    provider: str
    service: str
    estimated: int
    billed: int
    delta: int
    at: datetime


# --- Rows ---------------------------------------------------------------------------------------------------


def cells(days: DateRange, end: datetime | None = None) -> tuple[Cell, ...]:
    """Sums of [days.start, end), end at most days.end and read to the quarter of an hour."""
    columns = ("kind", "service", "provider", "gpu_type", "model_version")
    until = days.end if end is None else min(end, days.end)
    rows = CostQuarter.objects.filter(start__gte=days.start, start__lt=until)
    sums = (
        rows.annotate(bucket=bucket(F("start"), days.starts))
        .values_list("bucket", *columns)
        .annotate(Sum("entries"), Sum("milliseconds"), Sum("amount_nanousd"))
        .order_by("bucket", *columns)
    )
    dates = days.days
    return tuple(
        Cell(dates[number - 1], *names, *map(int, rest))
        for number, *names_and_rest in sums.iterator()
        for names, rest in [(names_and_rest[:5], names_and_rest[5:])]
    )


def bucket(moment: F, starts: Sequence[datetime]) -> Func:
    """Which of these days it lies in, from 1. By instants: the database's own calendar of zones may be another one."""
    bounds = Value(list(starts), output_field=ArrayField(DateTimeField()))
    return Func(moment, bounds, function="width_bucket", output_field=IntegerField())


def accounts(start: datetime, end: datetime, most: int) -> list[AccountSpend]:
    """The dearest first; what is nobody's is one of them."""
    rows = AccountQuarter.objects.filter(start__gte=start, start__lt=end).values_list("account_id")
    sums = rows.annotate(entries_sum=Sum("entries"), sum=Sum("amount_nanousd")).order_by("-sum", "account_id")[:most]
    return [AccountSpend(account, int(entries), int(total)) for account, entries, total in sums]


def first_day(zone: str) -> date | None:
    """The local day of the ledger's first line; None of an empty one."""
    first = CostQuarter.objects.aggregate(first=Min("start"))["first"]
    return None if first is None else _local_day(first, zone)


def bills(days: DateRange) -> list[Bill]:
    """Of the UTC days that these touch, the latest day first."""
    first, last = days.start.date(), (days.end - timedelta(microseconds=1)).date()
    found: dict[tuple[date, str, str], list[ReconciledDay]] = defaultdict(list)
    for row in ReconciledDay.objects.filter(day__range=(first, last)).order_by("-day", "provider", "service", "pk"):
        found[row.day, row.provider, row.service].append(row)
    return [
        Bill(
            *key,
            rows[0].estimated_nanousd,
            rows[-1].billed_nanousd,
            sum(row.delta_nanousd for row in rows),
            rows[-1].at,
        )
        for key, rows in found.items()
    ]


# --- Pure ---------------------------------------------------------------------------------------------------


def total(found: Iterable[Cell]) -> int:
    return sum(cell.nanousd for cell in found)


def by(side: str, found: Iterable[Cell]) -> list[tuple[str, int]]:
    """(value, nano-dollars), the dearest first. side: one of SIDES."""
    sums: dict[str, int] = defaultdict(int)
    for cell in found:
        sums[getattr(cell, side)] += cell.nanousd
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))


def by_day(found: Iterable[Cell], days: DateRange) -> list[Day]:
    """Every day of the range, also one on which nothing was spent."""
    sums: dict[date, dict[str, int]] = {day: defaultdict(int) for day in days.days}
    for cell in found:
        sums[cell.day][cell.kind] += cell.nanousd
    return [Day(day, {kind: amount for kind, amount in kinds.items() if amount}) for day, kinds in sums.items()]


def parts(found: Iterable[Cell]) -> Parts:
    money: dict[str, int] = defaultdict(int)
    time: dict[str, int] = defaultdict(int)
    for cell in found:
        name = "used" if cell.kind in USED else cell.kind
        money[name] += cell.nanousd
        time[name] += cell.milliseconds
    cold, idle = str(Kind.COLD_START), str(Kind.IDLE)
    other = sum(amount for name, amount in money.items() if name not in ("used", cold, idle))
    return Parts(money["used"], money[cold], money[idle], other, time["used"], time[cold], time[idle])


def confirmed(found: Iterable[Cell], bills: Iterable[Bill], days: DateRange) -> set[date]:
    """Days of whose every cost there is a bill: of each provider and service, for each UTC day that the day touches."""
    billed = {(bill.day, bill.provider, bill.service) for bill in bills}
    spent: dict[date, set[tuple[str, str]]] = defaultdict(set)
    for cell in found:
        if cell.nanousd:
            spent[cell.day].add((cell.provider, cell.service))
    return {
        day
        for day, sources in spent.items()
        if all((utc, *source) in billed for utc in _utc_days(day, days.zone) for source in sources)
    }


def _utc_days(day: date, zone: str) -> list[date]:
    first, last = start_of(day, zone), start_of(day + ONE_DAY, zone) - timedelta(microseconds=1)
    return sorted({first.date(), last.date()})


def _local_day(moment: datetime, zone: str) -> date:
    day = moment.astimezone(UTC).date()
    near = (day - ONE_DAY, day, day + ONE_DAY)
    return max(each for each in near if start_of(each, zone) <= moment)

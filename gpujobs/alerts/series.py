"""What alerts look at: nano-dollars by the hour, seen from several sides. Pure.

An hour is a whole number: hours since 1970, in UTC. Its slot is the hour of the week on the wall clock of a zone (0 to
167, Monday's first is 0), so that a day of 23 or 25 hours keeps its shape: a slot is then missing or twice there.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

HOUR_SECONDS = 3600
DAY_HOURS, WEEK_HOURS = 24, 168
SILENCE_HOURS = 24  # without any cost, longer than the one before it: the site was down, or not in use
NO_MACHINE_TIME = frozenset({"storage", "adjustment"})
WASTE = frozenset({"idle", "cold_start", "storage"})  # kinds that buy no work: a leak shows there first
ALL_SIDE, KIND, SERVICE, VERSION, GPU, MACHINE, BUDGET = "all", "kind", "service", "version", "gpu", "machine", "budget"


class Series(NamedTuple):
    """side: one of the above.  name: "" for all; provider/GPU type; of a machine service/provider/GPU type."""

    side: str
    name: str

    def __str__(self) -> str:
        return f"{self.side}:{self.name}" if self.name else self.side


ALL = Series(ALL_SIDE, "")


def parse(text: str) -> Series:
    """The reverse of str()."""
    side, _colon, name = text.partition(":")
    return Series(side, name)


class Cell(NamedTuple):
    """One hour's sum of one kind of cost. milliseconds: of machine time."""

    hour: int
    kind: str
    service: str
    provider: str
    gpu_type: str
    version: str
    milliseconds: int
    nanousd: int


@dataclass(frozen=True, slots=True)
class Clock:
    """Hours first, first + 1, ...: slots of the week, and which of them are known (no silence)."""

    first: int
    slots: Sequence[int]
    known: Sequence[bool]

    def __len__(self) -> int:
        return len(self.slots)


@dataclass(frozen=True, slots=True)
class Machine:
    """By the hour: machine time in milliseconds, what it cost, and whether any run was at work."""

    milliseconds: list[int]
    nanousd: list[int]
    worked: list[bool]


@dataclass(frozen=True, slots=True)
class Ledger:
    """money: series -> nano-dollars by the hour.  times: GPU series -> (milliseconds, nano-dollars that they cost).

    together: pairs of series that have had a cost in common.
    """

    clock: Clock
    money: dict[Series, list[int]]
    times: dict[Series, tuple[list[int], list[int]]]
    machines: dict[Series, Machine]
    together: frozenset[tuple[Series, Series]] = field(default=frozenset())


def hour_of(moment: datetime) -> int:
    """The hour that it lies in."""
    return int(moment.timestamp()) // HOUR_SECONDS


def instant(hour: int) -> datetime:
    """Its beginning."""
    return datetime.fromtimestamp(hour * HOUR_SECONDS, UTC)


@lru_cache(maxsize=100_000)
def slot_of(hour: int, zone: str) -> int:
    local = instant(hour).astimezone(ZoneInfo(zone))
    return local.weekday() * DAY_HOURS + local.hour


def sides_of(cell: Cell) -> tuple[Series, ...]:
    """Every series that the cell is part of."""
    found = [ALL, Series(SERVICE, cell.service)]
    if cell.version:
        found.append(Series(VERSION, cell.version))
    if cell.gpu_type:
        found.append(Series(GPU, f"{cell.provider}/{cell.gpu_type}"))
    if cell.kind in WASTE:
        found.append(Series(KIND, cell.kind))
    return tuple(found)


def build(
    cells: Iterable[Cell],
    *,
    first: int,
    end: int,
    zone: str,
    worked: Iterable[tuple[int, str, str, str]] = (),
    warm_on_purpose: bool = False,
) -> Ledger:
    """worked: (hour, service, provider, GPU type) in which a run was at work.  warm_on_purpose: workers are kept
    without work by decision, so that their idle time is no finding."""
    count = end - first
    money: dict[Series, list[int]] = defaultdict(lambda: [0] * count)
    times: dict[Series, tuple[list[int], list[int]]] = defaultdict(lambda: ([0] * count, [0] * count))
    machines: dict[Series, Machine] = defaultdict(lambda: Machine([0] * count, [0] * count, [False] * count))
    together: set[tuple[Series, Series]] = set()
    seen: set[tuple[Series, ...]] = set()
    for cell in cells:
        at = cell.hour - first
        sides = sides_of(cell)
        for series in sides:
            money[series][at] += cell.nanousd
        if sides not in seen:
            seen.add(sides)
            together.update((one, other) for one in sides for other in sides)
        if cell.gpu_type and cell.milliseconds and cell.kind not in NO_MACHINE_TIME:
            gpu = Series(GPU, f"{cell.provider}/{cell.gpu_type}")
            spent, paid = times[gpu]
            spent[at] += cell.milliseconds
            paid[at] += cell.nanousd
            if not (warm_on_purpose and cell.kind == "idle"):
                series = Series(MACHINE, f"{cell.service}/{cell.provider}/{cell.gpu_type}")
                machines[series].milliseconds[at] += cell.milliseconds
                machines[series].nanousd[at] += cell.nanousd
                together.update(pair for side in sides for pair in ((series, side), (side, series)))
    for hour, service, provider, gpu_type in worked:
        series = Series(MACHINE, f"{service}/{provider}/{gpu_type}")
        if series in machines and first <= hour < end:
            machines[series].worked[hour - first] = True
    slots = [slot_of(hour, zone) for hour in range(first, end)]
    clock = Clock(first, slots, known(money.get(ALL, [0] * count)))
    return Ledger(clock, dict(money), dict(times), dict(machines), frozenset(together))


def known(values: Sequence[int]) -> list[bool]:
    """False for hours of a silence: a whole day and longer without any cost at all; what was before the first cost is
    none of history either. Shorter ones are ordinary where little is spent."""
    found = [True] * len(values)
    begin = 0
    for at, value in enumerate([*values, 1]):
        if value:
            if at - begin >= SILENCE_HOURS or (begin == 0 and at):
                found[begin:at] = [False] * (at - begin)
            begin = at + 1
    return found

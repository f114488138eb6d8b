"""Tables and drawings of the staff's page about the GPU, from figures of gpujobs.dashboard. Pure.

flights(), backends(), workers()     tables, as the partial `accuracy_table.html` writes them
drawings()                           runs and their delay over three hours, as bars in percent of the highest
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from detector.templatetags.ink import duration, share, whole
from detector.views.accuracy_tables import NONE, Cell, Row, Table
from detector.views.gpu_words import BACKENDS
from gpujobs.dashboard import BackendToday, Figures, InFlight, Slot, Spread, WorkerToday

SECOND_MS = 1000
BAR_HEIGHT, BAR_WIDTH, BAR_GAP = 100, 10, 2  # in the drawing's own units


@dataclass(frozen=True, slots=True)
class Bar:
    """In the drawing's units, which have no decimals.  title: shown by whoever points at it."""

    x: int
    y: int
    height: int
    title: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """about: the same in words, for who can't see it.  highest: the value at the upper edge."""

    name: str
    about: str
    highest: str
    bars: tuple[Bar, ...]
    width: int
    start: datetime
    middle: datetime
    end: datetime


# --- Tables -------------------------------------------------------------------------------------------------


def flights(found: Figures) -> Table:
    columns = (_("Run"), _("Where"), _("Texts"), _("Age"), _("At RunPod"), _("Next look"))
    return Table(_("Runs in flight, the oldest first"), columns, tuple(map(_flight, found.in_flight)))


def _flight(run: InFlight) -> Row:
    cells = (
        Cell(str(BACKENDS.get(run.backend, run.backend))),
        Cell(whole(run.texts)),
        Cell(duration(run.age_seconds)),
        Cell(run.external_id or NONE),
        Cell(soon(run.next_look_seconds)),
    )
    return Row(run.id[:8], cells)


def soon(seconds: int | None) -> str:
    """30 -> "in 30 seconds", -30 -> "30 seconds overdue"."""
    if seconds is None:
        return NONE
    if seconds < 0:
        return _("%(time)s overdue") % {"time": duration(-seconds)}
    return _("in %(time)s") % {"time": duration(seconds)}


def backends(found: Figures) -> Table:
    columns = (
        _("Backend"),
        _("Runs"),
        _("Failed"),
        _("Texts"),
        _("Delay, median"),
        _("Delay, p95"),
        _("Work, median"),
        _("Work, p95"),
    )
    return Table(_("Runs that ended today, by backend"), columns, tuple(map(_backend, found.backends)))


def _backend(today: BackendToday) -> Row:
    failures = tuple(f"{code} {whole(count)}" for code, count in today.failures)
    cells = (
        Cell(whole(today.runs)),
        Cell(whole(today.failed), failures, wraps=True),
        Cell(whole(today.texts)),
        *_spread(today.delay),
        *_spread(today.execution),
    )
    return Row(str(BACKENDS.get(today.name, today.name)), cells)


def _spread(found: Spread) -> tuple[Cell, Cell]:
    return Cell(time(found.p50)), Cell(time(found.p95))


def workers(found: Figures) -> Table:
    columns = (_("Worker"), _("Runs"), _("Texts"), _("Texts a second"), _("Occupied"))
    return Table(_("Workers of today, the latest first"), columns, tuple(map(_worker, found.workers)))


def _worker(today: WorkerToday) -> Row:
    speed = NONE if today.texts_per_second is None else number_format(round(today.texts_per_second, 1), 1)
    cells = (Cell(whole(today.runs)), Cell(whole(today.texts)), Cell(speed), Cell(share(today.occupancy)))
    return Row(today.id, cells, raw=True)


def time(milliseconds: int | None) -> str:
    """850 -> "850 ms", 12345 -> "12.3 s"."""
    if milliseconds is None:
        return NONE
    if milliseconds < SECOND_MS:
        return f"{milliseconds}\u00a0ms"
    return f"{number_format(round(milliseconds / SECOND_MS, 1), 1, force_grouping=True)}\u00a0s"


# --- Drawings -----------------------------------------------------------------------------------------------


def drawings(slots: Sequence[Slot]) -> tuple[Drawing, ...]:
    runs = _drawing(slots, _("Runs begun in five minutes"), lambda slot: slot.runs, _runs)
    delay = _drawing(slots, _("Delay of these runs, p95"), lambda slot: slot.delay_p95, time)
    return runs, delay


def _runs(count: int | None) -> str:
    return ngettext("%(n)s run", "%(n)s runs", count or 0) % {"n": whole(count or 0)}


def _drawing(
    slots: Sequence[Slot], name: str, value: Callable[[Slot], int | None], written: Callable[[int | None], str]
) -> Drawing:
    highest = max((value(slot) or 0 for slot in slots), default=0)
    last = next((value(slot) for slot in reversed(slots) if value(slot)), None)
    about = _("%(name)s, over three hours. Highest: %(highest)s. Last: %(last)s.")
    bars = [_bar(place, value(slot), highest, written) for place, slot in enumerate(slots)]
    return Drawing(
        name=name,
        about=about % {"name": name, "highest": written(highest or None), "last": written(last)},
        highest=written(highest or None),
        bars=tuple(bar for bar in bars if bar.height),
        width=len(slots) * BAR_WIDTH,
        start=slots[0].start,
        middle=slots[len(slots) // 2].start,
        end=slots[-1].start,
    )


def _bar(place: int, value: int | None, highest: int, written: Callable[[int | None], str]) -> Bar:
    height = max(round(BAR_HEIGHT * value / highest), 1) if value and highest else 0
    return Bar(place * BAR_WIDTH + BAR_GAP // 2, BAR_HEIGHT - height, height, written(value))

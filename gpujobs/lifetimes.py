"""The time of one worker, from what its runs tell: cold starts, work, idle gaps and tails, adding up to what is billed.

        cold start │ run   run │ gap │ run │ tail │        (parked, free)        │ cold start │ run …
        opened                                    closed                         opened again (FlashBoot resumes)

A provider bills a worker from its start to its full stop, in started seconds: the idle time in it, and its start, as
much as work. Runs overlap on a worker; a moment that several share is split among them. Nothing here knows of rows or
prices but `priced`; all instants are whole milliseconds since 1970. Pure.

What is laid out must be known: `horizon_ms` is an instant before which no run can have worked that is not given here.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from gpujobs.pricing import Rate, between, started_seconds
from gpujobs.splitting import split

# A longer wait of the first run was not all this worker's start: images are pulled and GPUs awaited free of charge.
LONGEST_COLD_START_MS = 60_000
COLD, IDLE = "cold_start", "idle"


@dataclass(frozen=True, slots=True)
class Work:
    """A run on this worker. delay_ms: from its hand-over to `taken_ms`."""

    id: str
    taken_ms: int
    ended_ms: int
    delay_ms: int = 0


@dataclass(frozen=True, slots=True)
class Life:
    """The last life of a worker: all of [opened_ms, until_ms) is laid out. closed: its idle tail too."""

    opened_ms: int
    until_ms: int
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """Of the life that opened then, nobody's work. work_id: of a cold start, the run that waited for it.

    ends: the worker stopped here; the piece was rounded up to its life's started second.
    """

    kind: str
    start_ms: int
    end_ms: int
    opened_ms: int
    work_id: str = ""
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    """[start, end) of a run, shared among `of` runs; this run has place `place` among them."""

    start_ms: int
    end_ms: int
    place: int
    of: int


@dataclass(frozen=True, slots=True)
class Done:
    """A run whose time is all known now."""

    work: Work
    opened_ms: int
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True)
class Laid:
    """What may be posted now, and where to go on."""

    life: Life | None
    pieces: tuple[Piece, ...]
    done: tuple[Done, ...]


def lay(
    works: Iterable[Work], life: Life | None, *, horizon_ms: int, idle_ms: int, known: Collection[str] = ()
) -> Laid:
    """works: in any order, also of runs that are done already (`known`) where they overlap others.

    idle_ms: so long an idle worker waits before it stops. Each run comes out as done once, when the horizon is past it.
    """
    pieces: list[Piece] = []
    done: list[Done] = []
    for block in _blocks(works):
        if block[0].taken_ms >= horizon_ms:
            break
        start, end = block[0].taken_ms, min(max(work.ended_ms for work in block), horizon_ms)
        if life is None or end > life.until_ms:  # else its time is laid out already
            life, before = _enter(life, block[0], idle_ms)
            pieces += before
        opened = life.opened_ms if start >= life.opened_ms else start  # else of an earlier life, told too late
        due = [work for work in block if work.ended_ms <= horizon_ms and work.id not in known]
        done += [Done(work, opened, _moments(work, block)) for work in due]
        life = replace(life, until_ms=max(life.until_ms, end))
    if life is not None and not life.closed:
        stopped, tail = _close(life, idle_ms)
        if stopped.until_ms <= horizon_ms:  # until its last second is over, a run may still come into it
            life = stopped
            pieces.append(tail)
    return Laid(life, tuple(pieces), tuple(done))


def _enter(life: Life | None, first: Work, idle_ms: int) -> tuple[Life, list[Piece]]:
    """The life in which a block of work begins, and what was before the block."""
    pieces: list[Piece] = []
    start = first.taken_ms
    if life is not None and not life.closed:
        stopped, tail = _close(life, idle_ms)
        if start > stopped.until_ms:
            life = stopped
            pieces.append(tail)
    if life is None or (life.closed and start > life.until_ms):
        cold = min(first.delay_ms, LONGEST_COLD_START_MS)
        opened = start - cold if life is None else max(start - cold, life.until_ms)
        if opened < start:
            pieces.append(Piece(COLD, opened, start, opened, work_id=first.id))
        return Life(opened, start), pieces
    if start > life.until_ms:
        pieces.append(Piece(IDLE, life.until_ms, start, life.opened_ms))
        life = replace(life, until_ms=start)
    return replace(life, closed=False), pieces


def _close(life: Life, idle_ms: int) -> tuple[Life, Piece]:
    """After its idle time, at a whole second of its life."""
    end = life.opened_ms + started_seconds(life.until_ms + idle_ms - life.opened_ms)
    return Life(life.opened_ms, end, closed=True), Piece(IDLE, life.until_ms, end, life.opened_ms, ends=True)


def _blocks(works: Iterable[Work]) -> list[list[Work]]:
    """Runs that overlap, directly or by others between them; each block and the blocks in the order of time."""
    blocks: list[list[Work]] = []
    end = 0
    for work in sorted(works, key=lambda each: (each.taken_ms, each.id)):
        if blocks and work.taken_ms < end:
            blocks[-1].append(work)
            end = max(end, work.ended_ms)
        else:
            blocks.append([work])
            end = work.ended_ms
    return blocks


def _moments(work: Work, block: Sequence[Work]) -> tuple[Moment, ...]:
    """Where nobody comes or goes, the same runs share; their order is that of the block, for each of them alike."""
    near = [other for other in block if other.taken_ms < work.ended_ms and other.ended_ms > work.taken_ms]
    edges = {edge for other in near for edge in (other.taken_ms, other.ended_ms)}
    inside = sorted(edge for edge in edges if work.taken_ms <= edge <= work.ended_ms)
    found = []
    for start, end in pairwise(inside):
        there = [other.id for other in near if other.taken_ms <= start and other.ended_ms >= end]
        found.append(Moment(start, end, there.index(work.id), len(there)))
    return tuple(found)


def priced(rate: Rate, done: Done) -> tuple[int, int]:
    """(milliseconds, nano-dollars) of a run's part: those of all runs, cold starts and idle pieces of a life add up."""
    milliseconds = nanousd = 0
    for moment in done.moments:
        equal = [1] * moment.of
        milliseconds += split(moment.end_ms - moment.start_ms, equal)[moment.place]
        of_all = between(rate, moment.start_ms - done.opened_ms, moment.end_ms - done.opened_ms)
        nanousd += split(of_all, equal)[moment.place]
    return milliseconds, nanousd


def awake(works: Iterable[Work], idle_ms: int) -> list[tuple[int, int]]:
    """When this worker was paid for, by what its runs tell: (from, to), apart from each other and in order."""
    laid = lay(works, None, horizon_ms=2**62, idle_ms=idle_ms)
    ends = [piece.end_ms for piece in laid.pieces if piece.ends]
    starts = sorted({done.opened_ms for done in laid.done})
    return list(zip(starts, ends, strict=True))


def short_of(least: int, spans: Iterable[tuple[int, int]], start_ms: int, end_ms: int) -> int:
    """Worker-milliseconds of [start, end) in which fewer than `least` were awake, for each that was missing.

    Workers that are always on cost also while none of their runs tells of them.
    """
    changes = [(max(a, start_ms), 1) for a, b in spans if a < end_ms and b > start_ms]
    changes += [(min(b, end_ms), -1) for a, b in spans if a < end_ms and b > start_ms]
    there, at, missing = 0, start_ms, 0
    for when, change in sorted(changes):
        missing += max(0, least - there) * (when - at)
        there, at = there + change, when
    return missing + max(0, least - there) * (end_ms - at)

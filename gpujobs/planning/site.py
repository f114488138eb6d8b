"""One day of arrivals through the site's queue and both its dispatchers, on a simulated clock.

Which tier takes a batch is the product's own rule, gpujobs.routing.route; the order is that of detector.dispatch (the
CPU's worker is told first and has one batch at a time; the GPU's has so many runs in flight). How texts are packed is
given as `Packing`: `make bench-billing` gives the detector's own rule, the planner the plain one of this module, which
a test holds against it. Speeds are models: characters a second for this machine, endpoint.py for the rented one.
Nothing fails here: faults are what tests are for. No database, no network, no sleep.
"""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, Protocol, TypeVar

from gpujobs import routing, runs
from gpujobs.planning.arrivals import BULK, DAY_SECONDS, INTERACTIVE
from gpujobs.planning.endpoint import Clock, Endpoint, Limits, windows

NETWORK_SECONDS = 0.05  # to the endpoint, and as long back: a warm answer was seen after 0.09 to 0.10 s
# What a batch may hold, as detector.batching and detector.dispatch have it.
CPU_BATCH = (60_000, 32)  # characters, texts
GPU_BATCH = (250_000, 64)
CLAIM_ROWS = 128  # of the queue, that one claim looks at
COUNTED_ROWS = 2000


class Text(Protocol):
    """What the site needs to know of a text; all of them read-only."""

    @property
    def id(self) -> object: ...
    @property
    def at(self) -> float: ...
    @property
    def characters(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def lane(self) -> int: ...


T = TypeVar("T", bound=Text)
Pack = Callable[[Sequence[T]], list[T]]


@dataclass(frozen=True)
class Packing(Generic[T]):
    """How a batch is made of the first rows, by tier.  counted_rows: so many waiting rows count as enough work."""

    cpu: Pack[T]
    gpu: Pack[T]
    claim_rows: int
    counted_rows: int


@dataclass(frozen=True)
class Setup:
    """What the founder sets: .env.example describes each."""

    policy: str
    wake_seconds: float
    characters_per_second: float
    runs_in_flight: int
    endpoint: Limits = field(default_factory=Limits)


@dataclass
class Outcome:
    """waits: seconds from arrival to answer, by kind of text.  tiers: answered texts.  The rest is of all workers."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    tiers: Counter[str] = field(default_factory=Counter)
    billed_seconds: int = 0
    useful_seconds: float = 0.0
    cold_starts: int = 0

    @property
    def useful_share(self) -> float | None:
        """Of the billed seconds, how many a forward pass filled; None where nothing was billed."""
        return self.useful_seconds / self.billed_seconds if self.billed_seconds else None

    @property
    def answered(self) -> int:
        return self.tiers.total()


def play(texts: Sequence[T], setup: Setup, packing: Packing[T]) -> Outcome:
    """The day. Raises RuntimeError if a text is lost or answered twice."""
    clock = Clock()
    site = Site(clock, setup, packing)
    for text in texts:
        clock.at(text.at, lambda each=text: site.arrive(each))  # type: ignore[misc]
    clock.run()
    if site.answered != {text.id for text in texts}:
        raise RuntimeError("a text was lost")
    endpoint, found = site.endpoint, site.outcome
    endpoint.close(DAY_SECONDS)
    found.billed_seconds, found.useful_seconds = endpoint.billed_seconds, endpoint.useful_seconds
    found.cold_starts = endpoint.cold_starts
    return found


def together(outcomes: Sequence[Outcome]) -> Outcome:
    """All their texts and seconds as one."""
    whole = Outcome()
    for outcome in outcomes:
        for kind, waits in outcome.waits.items():
            whole.waits.setdefault(kind, []).extend(waits)
        whole.tiers += outcome.tiers
        whole.billed_seconds += outcome.billed_seconds
        whole.useful_seconds += outcome.useful_seconds
        whole.cold_starts += outcome.cold_starts
    return whole


class Site(Generic[T]):
    """The queue and both dispatchers."""

    def __init__(self, clock: Clock, setup: Setup, packing: Packing[T]) -> None:
        self._clock, self._setup, self._packing = clock, setup, packing
        self._lanes: dict[int, deque[T]] = {INTERACTIVE: deque(), BULK: deque()}
        self._characters = 0  # of all that waits
        self._scoring, self._in_flight = False, 0
        self._answered_at: float | None = None  # by a GPU, the last time
        self.endpoint = Endpoint(clock, setup.endpoint)
        self.answered: set[object] = set()
        self.outcome = Outcome()

    def arrive(self, text: T) -> None:
        self._lanes[text.lane].append(text)
        self._characters += text.characters
        self._wake()

    def _wake(self) -> None:
        """detector.wakeups.queue_has_work: both tiers look at the queue."""
        self._score_here()
        self._hand_over()

    # --- The policy -----------------------------------------------------------------------------------------------

    def _route(self) -> routing.Route:
        """gpujobs.routing.now_open with the simulation's queue and the simulation's last answer."""
        setup = self._setup
        limit = setup.wake_seconds * setup.characters_per_second
        many = sum(map(len, self._lanes.values())) >= self._packing.counted_rows
        waiting = limit if many else min(self._characters, limit)
        return routing.route(
            setup.policy,
            routing.Gpu(usable=True, warm=self._warm()),
            waiting_seconds=waiting / setup.characters_per_second,
            wake_seconds=setup.wake_seconds,
        )

    def _warm(self) -> bool:
        if self._setup.endpoint.workers_min:
            return True
        at = self._answered_at
        return at is not None and self._clock.now - at <= self._setup.endpoint.idle_seconds

    def _claim(self, pack: Pack[T]) -> list[T]:
        """detector.dispatch.claim: a batch of the first rows, interactive ones before bulk."""
        most = self._packing.claim_rows
        waiting = [text for lane in self._lanes.values() for text in islice(lane, most)]
        batch = pack(waiting[:most])
        for text in batch:
            if self._lanes[text.lane].popleft() is not text:
                raise RuntimeError("a batch is the head of one lane")
            self._characters -= text.characters
        return batch

    # --- This machine ---------------------------------------------------------------------------------------------

    def _score_here(self) -> None:
        if self._scoring or not self._anything_waits or not self._route().takes(routing.CPU):
            return
        batch = self._claim(self._packing.cpu)
        self._scoring = True
        seconds = sum(text.characters for text in batch) / self._setup.characters_per_second
        self._clock.at(self._clock.now + seconds, lambda: self._scored(batch))

    def _scored(self, batch: Sequence[T]) -> None:
        self._scoring = False
        self._answer(batch, routing.CPU)
        self._score_here()

    # --- The rented one -------------------------------------------------------------------------------------------

    def _hand_over(self) -> None:
        while self._anything_waits and self._in_flight < self._setup.runs_in_flight:
            if not self._route().takes(routing.GPU):
                return
            self._submit(self._claim(self._packing.gpu))

    def _submit(self, batch: list[T]) -> None:
        self._in_flight += 1
        handed_over = self._clock.now
        places = sum(windows(text.characters) for text in batch)

        def done() -> None:
            ended = self._clock.now + NETWORK_SECONDS
            seen = ended if batch[0].lane == INTERACTIVE else look_after(handed_over, ended)
            self._clock.at(seen, lambda: self._collected(batch))

        self._clock.at(handed_over + NETWORK_SECONDS, lambda: self.endpoint.submit(places, done))

    def _collected(self, batch: Sequence[T]) -> None:
        self._in_flight -= 1
        self._answered_at = self._clock.now
        self._answer(batch, routing.GPU)
        self._wake()

    @property
    def _anything_waits(self) -> bool:
        return any(self._lanes.values())

    def _answer(self, batch: Sequence[T], tier: str) -> None:
        for text in batch:
            if text.id in self.answered:
                raise RuntimeError("a text was answered twice")
            self.answered.add(text.id)
            self.outcome.waits.setdefault(text.kind, []).append(self._clock.now - text.at)
        self.outcome.tiers[tier] += len(batch)


def plain_pack(limits: tuple[int, int]) -> Pack[T]:
    """The first text and those behind it in its lane, up to so many characters and texts; a longer one goes alone."""
    most_characters, most_texts = limits

    def pack(waiting: Sequence[T]) -> list[T]:
        batch: list[T] = []
        characters = 0
        for text in waiting:
            if text.lane != waiting[0].lane or len(batch) >= most_texts:
                break
            if batch and characters + text.characters > most_characters:
                break
            batch.append(text)
            characters += text.characters
        return batch

    return pack


def plain() -> Packing[T]:
    """detector.batching.pack for texts of one model version that never failed."""
    return Packing(plain_pack(CPU_BATCH), plain_pack(GPU_BATCH), CLAIM_ROWS, COUNTED_ROWS)


def look_after(handed_over: float, ended: float) -> float:
    """When the site sees that a bulk run has ended: it asks by itself (gpujobs.runs.take_look, unspread), since
    webhooks are an extra that the founder sets. Interactive runs are waited for."""
    look = handed_over + runs.FIRST_LOOK_SECONDS
    while look < ended:
        look += min(max((look - handed_over) / 4, runs.FIRST_LOOK_SECONDS), runs.LONGEST_LOOK_SECONDS)
    return look

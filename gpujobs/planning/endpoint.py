"""A serverless endpoint on a simulated clock: queue, scaler, cold starts, forward passes, idle stops, what is billed.

A worker is billed from its start to its stop, rounded up to the second: loading, working, idling. Image pulls cost
nothing and are left out. FlashBoot is a shorter cold start here, which RunPod does not promise. Pure.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from gpujobs.planning.scaler import Load, QueueDelay, target

# The founder's measurements with DeBERTa-v3-large on a 16 GB card: one text 83 ms, eight together 89 ms, never more.
PASS_TEXTS = 8
ALONE_SECONDS, TOGETHER_SECONDS = 0.083, 0.089
WINDOW_CHARACTERS = 1500  # what the model reads at once, 384 tokens: a longer text counts as several in a pass
COLD_START_SECONDS = 5.0  # the founder's, from container start to ready, model preloaded
QUEUE_DELAY_SECONDS = 4.0  # RUNPOD_SCALER_VALUE
JOBS_AT_ONCE = 8  # of a worker: gpujobs/pod/handler.py

Action = Callable[[], None]


class Clock:
    """Simulated time in seconds since midnight; what is due at the same moment runs in the order of its booking."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, Action]] = []
        self._numbers = count()

    def at(self, moment: float, action: Action) -> None:
        heapq.heappush(self._due, (moment, next(self._numbers), action))

    def run(self) -> None:
        """Until nothing is due any more."""
        while self._due:
            self.now, _, action = heapq.heappop(self._due)
            action()


@dataclass(frozen=True)
class Limits:
    """Settings of the endpoint. Workers below `workers_min` run all day."""

    workers_min: int = 0
    workers_max: int = 3
    idle_seconds: float = 5.0
    cold_start_seconds: float = COLD_START_SECONDS
    queue_delay_seconds: float = QUEUE_DELAY_SECONDS
    alone_seconds: float = ALONE_SECONDS
    together_seconds: float = TOGETHER_SECONDS


@dataclass(eq=False, slots=True)
class Job:
    """One batch. left: windows that no pass has taken yet."""

    left: int
    submitted_at: float
    done: Action


@dataclass(eq=False, slots=True)
class Worker:
    """From its start to its stop."""

    started_at: float
    ready: bool = False
    busy: bool = False
    jobs: list[Job] = field(default_factory=list)
    idle_since: float = 0.0
    stopped_at: float | None = None

    def billed_seconds(self) -> int:
        if self.stopped_at is None:
            raise RuntimeError("close() first")
        return math.ceil(round(self.stopped_at - self.started_at, 6))


def windows(characters: int) -> int:
    """How many places in a forward pass a text takes."""
    return max(1, math.ceil(characters / WINDOW_CHARACTERS))


def pass_seconds(places: int, alone: float = ALONE_SECONDS, together: float = TOGETHER_SECONDS) -> float:
    """How long a forward pass with so many takes. Between one and eight: evenly."""
    share = (places - 1) / (PASS_TEXTS - 1)
    return alone + share * (together - alone)


class Endpoint:
    """`submit` takes a batch; its `done` is called when a worker has answered."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock, self._limits = clock, limits
        self._scaler = QueueDelay(limits.queue_delay_seconds)
        self._queue: deque[Job] = deque()
        self._live: list[Worker] = []
        self.workers: list[Worker] = []  # all that ever were
        self.useful_seconds, self.cold_starts = 0.0, 0
        for _ in range(limits.workers_min):
            self._ready(self._new_worker())

    def submit(self, places: int, done: Action) -> None:
        self._queue.append(Job(places, self._clock.now, done))
        self._hand_out()
        self._scale()
        self._clock.at(self._clock.now + self._limits.queue_delay_seconds, self._scale)

    def close(self, at: float) -> None:
        """The end of the day: workers that always run are billed up to here, or until they have finished."""
        if self._queue:
            raise RuntimeError("work is left")
        for worker in self._live:
            worker.stopped_at = max(at, worker.idle_since)
        self._live = []

    @property
    def billed_seconds(self) -> int:
        return sum(worker.billed_seconds() for worker in self.workers)

    # --- Workers --------------------------------------------------------------------------------------------------

    def _scale(self) -> None:
        waits = [self._clock.now - job.submitted_at for job in self._queue]
        starting = sum(not worker.ready for worker in self._live)
        in_progress = sum(len(worker.jobs) for worker in self._live)
        load = Load(waits, in_progress, len(self._live), starting)
        wanted = target(self._scaler, load, self._limits.workers_min, self._limits.workers_max)
        for _ in range(wanted - len(self._live)):
            worker = self._new_worker()
            self.cold_starts += 1
            self._clock.at(self._clock.now + self._limits.cold_start_seconds, lambda new=worker: self._ready(new))  # type: ignore[misc]

    def _new_worker(self) -> Worker:
        worker = Worker(self._clock.now)
        self.workers.append(worker)
        self._live.append(worker)
        return worker

    def _ready(self, worker: Worker) -> None:
        worker.ready = True
        self._idle(worker)
        self._hand_out()

    def _idle(self, worker: Worker) -> None:
        since = worker.idle_since = self._clock.now
        if len(self._live) > self._limits.workers_min:
            self._clock.at(since + self._limits.idle_seconds, lambda: self._stop_if_idle(worker, since))

    def _stop_if_idle(self, worker: Worker, since: float) -> None:
        still = not worker.jobs and worker.idle_since == since and worker.stopped_at is None
        if still and len(self._live) > self._limits.workers_min:
            worker.stopped_at = self._clock.now
            self._live.remove(worker)

    # --- Work -----------------------------------------------------------------------------------------------------

    def _hand_out(self) -> None:
        """Waiting jobs to the worker that has the fewest."""
        while self._queue:
            free = [worker for worker in self._live if worker.ready and len(worker.jobs) < JOBS_AT_ONCE]
            if not free:
                return
            worker = min(free, key=lambda each: len(each.jobs))
            worker.jobs.append(self._queue.popleft())
            if not worker.busy:
                self._begin_pass(worker)

    def _begin_pass(self, worker: Worker) -> None:
        """Up to eight windows: those of the job with the fewest left first, as gpujobs/pod/batcher.py takes them."""
        room = PASS_TEXTS
        for job in sorted(worker.jobs, key=lambda each: each.left):
            taken = min(job.left, room)
            job.left -= taken
            room -= taken
        seconds = pass_seconds(PASS_TEXTS - room, self._limits.alone_seconds, self._limits.together_seconds)
        self.useful_seconds += seconds
        worker.busy = True
        self._clock.at(self._clock.now + seconds, lambda: self._end_pass(worker))

    def _end_pass(self, worker: Worker) -> None:
        worker.busy = False
        finished = [job for job in worker.jobs if not job.left]
        worker.jobs = [job for job in worker.jobs if job.left]
        for job in finished:
            job.done()
        self._hand_out()
        if worker.jobs and not worker.busy:
            self._begin_pass(worker)
        elif not worker.jobs:
            self._idle(worker)

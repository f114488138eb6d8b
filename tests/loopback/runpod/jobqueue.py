"""An endpoint's jobs: submitted, taken, finished, cancelled, retried, expired. Knows no HTTP and no processes.

What is undocumented is told by Habits and can be changed from the control door.
"""

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.loopback.runpod.clock import Clock
from tests.loopback.runpod.faults import Faults
from tests.loopback.runpod.jobs import NOTHING, Job, Malformed, Policy, Status
from tests.loopback.runpod.pulse import Pulse

RUN_RETENTION_SECONDS = 1800.0
RUNSYNC_RETENTION_SECONDS = 60.0
RUNSYNC_RETENTION_MOST_SECONDS = 300.0
HISTORY_JOBS = 20_000
QUEUE_CAP_JOBS = 50
QUEUE_CAP_PER_WORKER = 500


class NotPossible(Exception):
    """The job is not in a state for that."""


class QueueFull(Exception):
    """The documented (and since removed) cap of the queue."""


@dataclass
class Counts:
    """Since the endpoint was made, as /health shows them."""

    completed: int = 0
    failed: int = 0
    retried: int = 0


@dataclass
class JobQueue:
    """`stop_on_worker(worker_id, job_id)`: tell it to stop. `ended(job)`: final now."""

    endpoint_id: str
    clock: Clock
    faults: Faults
    timeout_ms: Callable[[], int]
    stop_on_worker: Callable[[str, str], None]
    ended: Callable[[Job], None]
    requeue_limit: int | None = 3  # lost workers a job survives; None = all [open]
    capped: bool = False
    jobs: dict[str, Job] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    history: deque[Job] = field(default_factory=lambda: deque(maxlen=HISTORY_JOBS))  # for the control door
    changed: Pulse = field(default_factory=Pulse)
    last_request_at: float = 0.0
    running: dict[str, Job] = field(default_factory=dict)
    _waiting: deque[Job] = field(default_factory=deque)
    _again: list[Job] = field(default_factory=list)  # handed over, and to be handed over once more (run_twice)
    _due: list[tuple[float, int, Job]] = field(default_factory=list)
    _noted: int = 0

    def submit(self, body: Any, *, sync: bool, wait_seconds: float, max_workers: int) -> Job:
        """Raises Malformed, QueueFull. wait_seconds: of /runsync, keeps its result for as long."""
        if not isinstance(body, dict) or "input" not in body:
            raise Malformed("a job needs an input")
        policy = Policy.read(body.get("policy"))
        if self.capped and len(self.queued()) > max(QUEUE_CAP_JOBS, max_workers * QUEUE_CAP_PER_WORKER):
            raise QueueFull
        now = self.last_request_at = self.clock.now()
        kept = min(max(RUNSYNC_RETENTION_SECONDS, wait_seconds), RUNSYNC_RETENTION_MOST_SECONDS)
        webhook = body.get("webhook")
        job = Job(
            input=body["input"],
            submitted_at=now,
            policy=policy,
            retention_seconds=kept if sync else RUN_RETENTION_SECONDS,
            sync=sync,
            webhook=webhook if isinstance(webhook, str) and webhook else None,
        )
        self.jobs[job.id] = job
        self.history.append(job)
        self._remind(job.ttl_at, job)
        self._waiting.append(job)
        self.changed.beat()
        return job

    def queued(self) -> list[Job]:
        """Those that wait, the oldest first."""
        if any(job.status is not Status.IN_QUEUE or job.forgotten for job in self._waiting):
            alive = (job for job in self._waiting if job.status is Status.IN_QUEUE and not job.forgotten)
            self._waiting = deque(alive)
        return list(self._waiting)

    def find(self, job_id: str) -> Job | None:
        """None when unknown or forgotten."""
        return self.jobs.get(job_id)

    def take(self, worker_id: str, most: int) -> list[Job]:
        """Hand over up to `most` jobs."""
        taken, self._again = self._again[:most], self._again[most:]
        for job in taken:
            job.attempts.append(worker_id)
        for job in self.queued()[: most - len(taken)]:
            self._hand_over(job, worker_id)
            taken.append(job)
        return taken

    def _hand_over(self, job: Job, worker_id: str) -> None:
        now = self.clock.now()
        job.status, job.taken_at, job.worker_id = Status.IN_PROGRESS, now, worker_id
        job.attempts.append(worker_id)
        self.running[job.id] = job
        self._remind(now + self._timeout_seconds(job), job)
        seen = {"endpoint": self.endpoint_id, "worker": worker_id, "job": job.id, "input": job.input}
        if self.faults.take("run_twice", now, **seen):
            self._again.append(job)

    def _timeout_seconds(self, job: Job) -> float:
        own = job.policy.execution_timeout_ms
        return (self.timeout_ms() if own is None else own) / 1000

    def progress(self, job_id: str, value: Any) -> None:
        """A progress update; one that comes after the end is ignored."""
        job = self.jobs.get(job_id)
        if job is not None and not job.final:
            job.progress = value

    def chunk(self, job_id: str, value: Any) -> None:
        """A partial output of a generator."""
        job = self.jobs.get(job_id)
        if job is not None and not job.final:
            job.chunks.append(value)

    def finish(self, job: Job, *, output: Any, error: str | None) -> None:
        """The worker's result; the first one counts, later ones are ignored."""
        if job.final:
            return
        job.output, job.error = output, error
        self._end(job, Status.COMPLETED if error is None else Status.FAILED)

    def _end(self, job: Job, status: Status) -> None:
        now = self.clock.now()
        self.running.pop(job.id, None)
        job.status, job.finished_at = status, now
        job.expires_at = now + job.retention_seconds
        self._remind(job.expires_at, job)
        self.counts.completed += status is Status.COMPLETED
        self.counts.failed += status in (Status.FAILED, Status.TIMED_OUT)
        job.finished.set()
        self.changed.beat()
        self.ended(job)

    def cancel(self, job: Job) -> None:
        """In the queue or running; a final job stays what it is."""
        if job.final:
            return
        running = job.status is Status.IN_PROGRESS
        self._end(job, Status.CANCELLED)
        if running and job.worker_id:
            self.stop_on_worker(job.worker_id, job.id)

    def retry(self, job: Job) -> None:
        """The same id again; raises NotPossible unless it failed or timed out."""
        if job.status not in (Status.FAILED, Status.TIMED_OUT):
            raise NotPossible(f"a job that is {job.status.value} cannot be retried")
        job.output, job.error = NOTHING, None
        job.taken_at = job.finished_at = job.expires_at = None
        job.finished.clear()
        job.shown_final = False
        self._back(job, first=False)

    def lost(self, worker_id: str) -> None:
        """The worker is gone: what it held goes back to the queue, or fails when that happened too often."""
        for job in [job for job in self.running.values() if job.worker_id == worker_id]:
            if self.requeue_limit is not None and job.retries >= self.requeue_limit:
                job.error = "worker exited unexpectedly"
                self._end(job, Status.FAILED)
            else:
                job.retries += 1
                self.counts.retried += 1
                self._back(job, first=True)

    def _back(self, job: Job, *, first: bool) -> None:
        self.running.pop(job.id, None)
        job.status, job.worker_id, job.taken_at = Status.IN_QUEUE, None, None
        job.progress = NOTHING
        (self._waiting.appendleft if first else self._waiting.append)(job)
        self.changed.beat()

    def purge(self) -> int:
        """Remove all that wait; how many."""
        waiting = self.queued()
        for job in waiting:
            self._end(job, Status.CANCELLED)
        return len(waiting)

    def forget(self, job: Job) -> None:
        """As if it had never been."""
        job.forgotten = True
        job.input, job.output, job.progress, job.error = None, NOTHING, NOTHING, None  # texts go with it
        self.jobs.pop(job.id, None)
        self.running.pop(job.id, None)
        job.finished.set()
        self.changed.beat()

    def keep_until(self, job: Job, when: float) -> None:
        """Shorten a final job's retention (never lengthen it)."""
        if job.expires_at is not None and when < job.expires_at:
            job.expires_at = when
            self._remind(when, job)

    def _remind(self, when: float, job: Job) -> None:
        self._noted += 1
        heapq.heappush(self._due, (self.clock.note(when), self._noted, job))

    def sweep(self, now: float) -> None:
        """Let expire what is due: time to live, execution timeout, retention."""
        while self._due and self._due[0][0] <= now:
            _, _, job = heapq.heappop(self._due)
            if job.forgotten:
                continue
            if now >= job.ttl_at or (job.expires_at is not None and now >= job.expires_at):
                self.forget(job)
            elif self._is_overtime(job, now):
                self._end(job, Status.TIMED_OUT)
                if job.worker_id:
                    self.stop_on_worker(job.worker_id, job.id)

    def _is_overtime(self, job: Job, now: float) -> bool:
        if job.status is not Status.IN_PROGRESS or job.taken_at is None:
            return False
        return now >= job.taken_at + self._timeout_seconds(job)

"""An endpoint's workers: started, found idle, parked, stopped, lost. `tick` does all that is due; no HTTP here."""

import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from gpujobs.planning.scaler import Load, target
from tests.loopback.runpod.clock import Clock
from tests.loopback.runpod.faults import Faults
from tests.loopback.runpod.habits import Habits
from tests.loopback.runpod.jobqueue import JobQueue
from tests.loopback.runpod.launcher import Launcher
from tests.loopback.runpod.ledger import Ledger, Lifetime
from tests.loopback.runpod.processes import NoProcess
from tests.loopback.runpod.settings import EndpointSettings
from tests.loopback.runpod.workers import Phase, Worker


@dataclass
class Surroundings:
    """What a fleet needs of the account. `room()`: workers that the account may still add."""

    clock: Clock
    faults: Faults
    ledger: Ledger
    launcher: Launcher
    room: Callable[[], int]


@dataclass
class Fleet:
    """All workers of one endpoint; `gone` are those that were."""

    endpoint_id: str
    around: Surroundings
    settings: EndpointSettings
    habits: Habits
    queue: JobQueue
    workers: dict[str, Worker] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    failed_in_a_row: int = 0
    closing: bool = False

    # --- What is due ------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """In the order of a worker's life."""
        now = self.around.clock.now()
        for worker in list(self.workers.values()):
            self._reap(worker, now)
        for worker in list(self.workers.values()):
            self._go_on(worker, now)
        self._scale(now)

    def _reap(self, worker: Worker, now: float) -> None:
        status = worker.process.exited() if worker.process else None
        if status is None:
            return
        worker.process = None
        was_ready = worker.phase in (Phase.READY, Phase.PARKED)
        if worker.phase is Phase.STOPPING:
            self._remove(worker, worker.stopped_at())
        elif was_ready:
            self._remove(worker, now)  # crashed at work: paid up to here
        else:
            self.fail(worker, f"exited with status {status}")

    def _go_on(self, worker: Worker, now: float) -> None:
        if worker.phase is Phase.STOPPING:
            assert worker.stopping_since is not None
            if time.monotonic() - worker.stopping_since[1] >= self.habits.stop_grace_real_seconds and worker.process:
                worker.process.kill()
        elif worker.phase is Phase.READY:
            self._stop_if_idle(worker, now)
        elif worker.starting and self._live() > self.settings.workers["max"]:
            self.stop(worker, now)
        elif now < worker.due_at:
            return
        elif worker.phase is Phase.THROTTLED:
            self._place(worker, now)
        elif worker.phase is Phase.PULLING:
            self._start_container(worker, now)
        elif worker.phase is Phase.UNHEALTHY:
            self._remove(worker, now)
        elif worker.phase is Phase.PARKED:
            self._resume(worker, now)
            self.stop(worker, now)
            self._close_lifetime(worker, now, billed=False)  # a slot costs nothing

    def _stop_if_idle(self, worker: Worker, now: float) -> None:
        if worker.jobs or worker.keeps_running:
            return
        if worker.stale_until is not None and now >= worker.stale_until:
            self.stop(worker, now)
            return
        surplus = self._live() > self.settings.workers["max"]
        idle = worker.idle_since is not None and now - worker.idle_since >= self.idle_seconds
        if surplus or (idle and self._live() > self._least()):
            seen = {"endpoint": self.endpoint_id, "worker": worker.id}
            if self.around.faults.take("worker_stop_ignored", now, **seen):
                worker.keeps_running = True
            elif self.settings.flashboot != "OFF" and worker.stale_until is None and not surplus:
                self._park(worker, now)
            else:
                self.stop(worker, now)

    def _least(self) -> int:
        if self.settings.idle_applies:
            return self.settings.workers["min"]
        return max(self.settings.workers["min"], self._wanted(self.around.clock.now()))

    @property
    def idle_seconds(self) -> float:
        """How long a worker may be idle."""
        if self.settings.idle_applies:
            return float(self.settings.workers["idleTimeout"])
        return self.habits.request_count_idle_seconds

    # --- More workers -----------------------------------------------------------------------------------------

    def _live(self) -> int:
        return sum(worker.counts for worker in self.workers.values())

    def _wanted(self, now: float) -> int:
        waits = [now - job.submitted_at for job in self.queue.queued() if not job.policy.low_priority]
        starting = sum(worker.starting for worker in self.workers.values())
        load = Load(waits, len(self.queue.running), self._live(), starting)
        workers = self.settings.workers
        return target(self.settings.scaler, load, workers["min"], workers["max"])

    def _scale(self, now: float) -> None:
        if self.closing:
            return
        for _ in range(min(self._wanted(now) - self._live(), self.around.room())):
            self._add(now)

    def _add(self, now: float) -> None:
        parked = next((worker for worker in self.workers.values() if worker.phase is Phase.PARKED), None)
        if parked is not None:
            self._resume(parked, now)
            return
        settings, gpu = self.settings, self.settings.gpu_type
        worker = Worker(
            secrets.token_hex(7), gpu.id, settings.version, settings.image, Phase.THROTTLED, now,
            self.habits.cold_start_seconds,
        )  # fmt: skip
        self.workers[worker.id] = worker
        self._place(worker, now)

    def _place(self, worker: Worker, now: float) -> None:
        """Find a GPU, unless there is none just now."""
        take = self.around.faults.take
        if take("throttled", now, endpoint=self.endpoint_id, gpu=worker.gpu_type):
            return
        cold = take("cold_start", now, endpoint=self.endpoint_id)
        pull = cold.number("pull_seconds", 0) if cold else self.habits.pull_seconds
        if cold:
            worker.cold_start_seconds = cold.number("seconds_to_start", worker.cold_start_seconds)
        if mixed := take("mixed_versions", now, endpoint=self.endpoint_id):
            worker.env = {str(name): str(value) for name, value in dict(mixed.values.get("env", {})).items()}
        worker.phase, worker.due_at = Phase.PULLING, self.around.clock.note(now + pull)
        if pull <= 0:
            self._start_container(worker, now)

    def _start_container(self, worker: Worker, now: float) -> None:
        worker.phase = Phase.STARTING
        worker.due_at = self.around.clock.note(now + worker.cold_start_seconds)
        self._open_lifetime(worker, now)
        if self.habits.played_by_test:
            worker.process = NoProcess()
            return
        settings = self.settings
        broken = self.around.faults.take("unhealthy", now, endpoint=self.endpoint_id) is not None
        try:
            worker.process = self.around.launcher.start(
                endpoint_id=self.endpoint_id, worker_id=worker.id, image=worker.image, args=settings.args,
                gpu=worker.gpu_type, env=self._worker_env(worker), broken=broken,
            )  # fmt: skip
        except OSError as problem:
            self.fail(worker, f"cannot be started: {problem.strerror}")

    def _worker_env(self, worker: Worker) -> dict[str, str]:
        pings = {"RUNPOD_PING_INTERVAL": str(self.habits.ping_real_seconds * 1000)}
        return {**pings, **self.settings.env, **worker.env}

    def _open_lifetime(self, worker: Worker, now: float) -> None:
        rate = self.settings.gpu_type.serverless_nanousd_per_hour * int(self.settings.gpu.get("count", 1))
        life = Lifetime("worker", self.endpoint_id, worker.id, worker.gpu_type, rate, self.settings.disk, now)
        worker.lifetime = self.around.ledger.open(life)

    def _close_lifetime(self, worker: Worker, at: float, *, billed: bool = True) -> None:
        if worker.lifetime is not None and worker.lifetime.ended_at is None:
            self.around.ledger.close(worker.lifetime, at, billed=billed)

    # --- A worker's turns -------------------------------------------------------------------------------------

    def may_take(self, worker: Worker) -> bool:
        """Whether it may be handed jobs now; its first chance makes it ready."""
        now = self.around.clock.now()
        if worker.phase is Phase.STARTING and now >= worker.due_at:
            worker.phase, worker.ready_at = Phase.READY, now
            self.failed_in_a_row = 0
            self.idle(worker)
        return worker.phase is Phase.READY and now >= worker.due_at

    def idle(self, worker: Worker) -> None:
        """It has nothing to do from now on."""
        now = worker.idle_since = self.around.clock.now()
        self.around.clock.note(now + self.idle_seconds)

    def released(self, worker_id: str, job_id: str) -> None:
        """The worker no longer holds this job."""
        worker = self.workers.get(worker_id)
        if worker is not None and job_id in worker.jobs:
            worker.jobs.discard(job_id)
            if not worker.jobs:
                self.idle(worker)

    def fail(self, worker: Worker, why: str) -> None:
        """It never became ready: shown as unhealthy for a while, not billed."""
        now = self.around.clock.now()
        if worker.process is not None:
            worker.process.kill()
            worker.process = None
        worker.phase, worker.failed_as = Phase.UNHEALTHY, why
        worker.due_at = self.around.clock.note(now + self.habits.unhealthy_seconds)
        self._close_lifetime(worker, now, billed=False)
        self.failed_in_a_row += 1
        limit = self.habits.unhealthy_limit
        if limit is not None and self.failed_in_a_row >= limit and self.settings.workers["max"]:
            self.settings.workers["max"] -= 1
            self.failed_in_a_row = 0

    def stop(self, worker: Worker, now: float) -> None:
        """SIGTERM; later ticks see to the rest."""
        worker.phase, worker.stopping_since = Phase.STOPPING, (now, time.monotonic())
        if worker.process is None:
            self._remove(worker, now)
            return
        worker.process.terminate()
        worker.stop_pulse.beat()
        self.queue.changed.beat()  # lets its open polls return

    def _park(self, worker: Worker, now: float) -> None:
        worker.phase, worker.due_at = Phase.PARKED, self.around.clock.note(now + self.habits.park_seconds)
        self._close_lifetime(worker, now)
        if worker.process is not None:
            worker.process.park()

    def _resume(self, worker: Worker, now: float) -> None:
        if worker.process is not None:
            worker.process.resume()
        worker.phase, worker.idle_since = Phase.READY, now
        self.around.clock.note(now + self.idle_seconds)
        worker.due_at = self.around.clock.note(now + self.habits.resume_seconds)
        self._open_lifetime(worker, now)
        self.queue.changed.beat()

    def _remove(self, worker: Worker, at: float) -> None:
        self._close_lifetime(worker, at)
        self.workers.pop(worker.id, None)
        self.gone.append(worker.id)
        worker.stop_pulse.beat()
        self.queue.lost(worker.id)

    def renew(self, now: float) -> None:
        """The configuration has changed: those that run the old one serve a while longer."""
        for worker in self.workers.values():
            if worker.version != self.settings.version and worker.stale_until is None:
                worker.stale_until = self.around.clock.note(now + self.habits.rollout_seconds)

    def kill_all(self) -> None:
        """At the server's end: no process stays."""
        self.closing = True
        for worker in list(self.workers.values()):
            if worker.process is not None:
                worker.process.kill()
            self._remove(worker, self.around.clock.now())

    def tally(self) -> Counter[str]:
        """Workers by what the API shows."""
        return Counter(worker.shown for worker in self.workers.values() if worker.phase is not Phase.STOPPING)

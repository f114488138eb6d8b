"""One serverless endpoint: its settings, its queue, its workers, its rates, and what ties them together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.loopback.runpod.clock import rfc3339
from tests.loopback.runpod.fleet import Fleet, Surroundings
from tests.loopback.runpod.habits import Habits
from tests.loopback.runpod.jobqueue import JobQueue
from tests.loopback.runpod.jobs import Job
from tests.loopback.runpod.limits import Rates
from tests.loopback.runpod.settings import EndpointSettings

DAY_SECONDS = 86_400.0
QUIET_DAYS = ((3.0, 2), (7.0, 0))  # without requests for so many days: at most so many workers
ROUTES = {"run": "run", "runSync": "runsync", "status": "status/{job_id}", "stream": "stream/{job_id}",
          "cancel": "cancel/{job_id}", "retry": "retry/{job_id}", "purgeQueue": "purge-queue",
          "health": "health"}  # fmt: skip


@dataclass
class Endpoint:
    """`webhook(job, body)`: deliver it."""

    id: str
    settings: EndpointSettings
    around: Surroundings
    webhook: Callable[["Endpoint", Job], None]
    habits: Habits = field(default_factory=Habits)
    rates: Rates = field(default_factory=Rates)
    created_at: float = 0.0
    quiet_steps: int = 0

    def __post_init__(self) -> None:
        clock = self.around.clock
        self.created_at = clock.now()
        self.queue = JobQueue(
            self.id,
            clock,
            self.around.faults,
            timeout_ms=lambda: self.settings.timeout,
            stop_on_worker=self._stop_on_worker,
            ended=self._ended,
        )
        self.queue.last_request_at = self.created_at
        self.fleet = Fleet(self.id, self.around, self.settings, self.habits, self.queue)
        self.change_habits({})
        self._expect_quiet()

    def change_habits(self, data: Mapping[str, Any]) -> None:
        """Raises ValueError on an unknown one."""
        self.habits = self.fleet.habits = self.habits.changed(data)
        self.queue.requeue_limit, self.queue.capped = self.habits.requeue_limit, self.habits.queue_cap

    def configure(self, settings: EndpointSettings) -> None:
        """From now on; workers of an older version are replaced."""
        self.settings = self.fleet.settings = settings
        self.fleet.renew(self.around.clock.now())
        self.tick()

    def tick(self) -> None:
        """All that is due."""
        now = self.around.clock.now()
        self.queue.sweep(now)
        self._lower_when_quiet(now)
        self.fleet.tick()

    def _expect_quiet(self) -> None:
        for days, _ in QUIET_DAYS:
            self.around.clock.note(self.queue.last_request_at + days * DAY_SECONDS)

    def _lower_when_quiet(self, now: float) -> None:
        quiet = (now - self.queue.last_request_at) / DAY_SECONDS
        steps = sum(quiet >= days for days, _ in QUIET_DAYS)
        if steps > self.quiet_steps:
            most = QUIET_DAYS[steps - 1][1]
            workers = self.settings.workers
            workers["max"] = min(workers["max"], most)
            workers["min"] = min(workers["min"], workers["max"])
        self.quiet_steps = steps

    def submitted(self, job: Job) -> None:
        """The scaler shall look, now and when this job has waited too long."""
        delay = self.settings.scaling.get("queueDelay")
        if delay is not None:
            self.around.clock.note(job.submitted_at + float(delay))
        self._expect_quiet()
        self.fleet.tick()

    def _stop_on_worker(self, worker_id: str, job_id: str) -> None:
        now, seen = self.around.clock.now(), {"endpoint": self.id, "worker": worker_id, "job": job_id}
        worker = self.fleet.workers.get(worker_id)
        if worker is not None and not self.around.faults.take("stop_signal_lost", now, **seen):
            worker.stops.append(job_id)
            worker.stop_pulse.beat()
        self.fleet.released(worker_id, job_id)

    def _ended(self, job: Job) -> None:
        if job.worker_id is not None:
            self.fleet.released(job.worker_id, job.id)
        if job.webhook is not None:
            self.webhook(self, job)

    def health(self) -> dict[str, Any]:
        """The body of /health."""
        counts, tally = self.queue.counts, self.fleet.tally()
        return {
            "jobs": {
                "completed": counts.completed,
                "failed": counts.failed,
                "inProgress": len(self.queue.running),
                "inQueue": len(self.queue.queued()),
                "retried": counts.retried,
            },
            "workers": {
                "idle": tally["IDLE"],
                "initializing": tally["INITIALIZING"],
                "ready": tally["IDLE"],
                "running": tally["RUNNING"],
                "throttled": tally["THROTTLED"],
                "unhealthy": tally["UNHEALTHY"],
            },
        }

    def workers_json(self) -> dict[str, Any]:
        """The body of REST v2's list of workers."""
        now, version = self.around.clock.now(), self.settings.version
        shown = [worker.to_json(version, now) for worker in self.fleet.workers.values() if worker.counts]
        names = ("RUNNING", "IDLE", "INITIALIZING", "THROTTLED", "UNHEALTHY")
        summary = {name.lower(): sum(worker["status"] == name for worker in shown) for name in names}
        return {"workers": shown, "summary": summary | {"total": len(shown)}, "endpointVersion": version}

    def to_json(self, base_url: str) -> dict[str, Any]:
        """REST v2's Endpoint."""
        urls = {name: f"{base_url}/v2/{self.id}/{path}" for name, path in ROUTES.items()}
        return {"id": self.id, **self.settings.to_json(), "requestUrls": urls, "createdAt": rfc3339(self.created_at)}

    def inside(self) -> dict[str, Any]:
        """For the control door."""
        return {
            "id": self.id,
            **self.health(),
            "live": [worker.inside() for worker in self.fleet.workers.values()],
            "gone": self.fleet.gone,
            "failed_in_a_row": self.fleet.failed_in_a_row,
            "version": self.settings.version,
        }

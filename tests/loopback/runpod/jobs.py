"""One job: its states, its times, and what a client sees of it.

        take            done
IN_QUEUE ───> IN_PROGRESS ───> COMPLETED | FAILED
   │   <─────────┘  │ executionTimeout
   │   worker lost  └──────────> TIMED_OUT
   └─────────── cancel ────────> CANCELLED          (retry: FAILED, TIMED_OUT -> IN_QUEUE)
"""

import asyncio
import uuid
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

REGION = "u1"
DEFAULT_TTL_MS = 86_400_000
MAX_MS = 7 * 86_400_000
MIN_TTL_MS = 10_000
MIN_EXECUTION_TIMEOUT_MS = 5_000
NOTHING: Final = object()  # no output at all, which is not the output null


class Status(StrEnum):
    """As the API names them."""

    IN_QUEUE = "IN_QUEUE"
    IN_PROGRESS = "IN_PROGRESS"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMED_OUT = "TIMED_OUT"


FINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMED_OUT})


class Malformed(ValueError):
    """A request body that is not one of a job."""


@dataclass(frozen=True)
class Policy:
    """Milliseconds; execution_timeout_ms None = the endpoint's own."""

    execution_timeout_ms: int | None = None
    ttl_ms: int = DEFAULT_TTL_MS
    low_priority: bool = False

    @classmethod
    def read(cls, data: Any) -> "Policy":
        """Of a request's `policy`; raises Malformed on values outside the documented bounds."""
        if data is None:
            return cls()
        if not isinstance(data, dict):
            raise Malformed("policy is not an object")
        timeout = _milliseconds(data, "executionTimeout", MIN_EXECUTION_TIMEOUT_MS)
        ttl = _milliseconds(data, "ttl", MIN_TTL_MS)
        return cls(timeout, DEFAULT_TTL_MS if ttl is None else ttl, data.get("lowPriority") is True)


def _milliseconds(data: dict[str, Any], name: str, least: int) -> int | None:
    value = data.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_MS:
        raise Malformed(f"policy.{name} is not a whole number between {least} and {MAX_MS}")
    return value


@dataclass(eq=False)
class Job:
    """Times are moments of the clock in seconds."""

    input: Any
    submitted_at: float
    policy: Policy
    retention_seconds: float
    sync: bool = False
    webhook: str | None = None
    id: str = ""
    status: Status = Status.IN_QUEUE
    taken_at: float | None = None
    finished_at: float | None = None
    worker_id: str | None = None
    output: Any = NOTHING
    error: str | None = None
    progress: Any = NOTHING
    retries: int = 0  # times it went back to the queue because its worker was lost
    attempts: list[str] = field(default_factory=list)  # worker ids, one per hand-over
    chunks: list[Any] = field(default_factory=list)  # streamed, not yet fetched
    expires_at: float | None = None  # when a final job is forgotten
    forgotten: bool = False
    shown_final: bool = False  # a client was told the end at least once
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.id = self.id or f"{'sync-' if self.sync else ''}{uuid.uuid4()}-{REGION}"

    @property
    def final(self) -> bool:
        """Whether it has ended, well or not."""
        return self.status in FINAL

    @property
    def ttl_at(self) -> float:
        """When it vanishes, whatever its state: counted from submission over queue and run."""
        return self.submitted_at + self.policy.ttl_ms / 1000

    def for_worker(self) -> dict[str, Any]:
        """What a worker is handed."""
        return {"id": self.id, "input": self.input}

    def seen(self) -> dict[str, Any]:
        """The body of /status, of a finished /runsync and of a webhook."""
        body: dict[str, Any] = {"id": self.id, "status": self.status.value}
        if self.taken_at is not None:
            body["delayTime"] = round((self.taken_at - self.submitted_at) * 1000)
            body["workerId"] = self.worker_id
        if self.retries:
            body["retries"] = self.retries
        if self.final and self.taken_at is not None and self.finished_at is not None:
            body["executionTime"] = round((self.finished_at - self.taken_at) * 1000)
        shown = self.output if self.final else self.progress
        if shown is not NOTHING:
            body["output"] = shown
        if self.error is not None:
            body["error"] = self.error
        return body

    def summary(self) -> dict[str, Any]:
        """For the control door: everything but the customer's input and output."""
        return {
            "id": self.id,
            "status": self.status.value,
            "attempts": self.attempts,
            "retries": self.retries,
            "submitted_at": self.submitted_at,
            "taken_at": self.taken_at,
            "finished_at": self.finished_at,
            "forgotten": self.forgotten,
        }

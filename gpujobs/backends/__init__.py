"""Where a batch is scored, behind one face.

A backend's `start` takes a ScoreRequest and an Order (how it is wanted) and returns either an Answer (it worked while
we waited, as the local one always does) or Accepted (it took the batch; ask `poll` later, as a serverless endpoint
can). Answers and errors alike carry the Usage of a rented machine, where there was one: also work in vain is paid.
"""

from dataclasses import dataclass
from typing import Protocol

from gpujobs.pod.contract import ScoreRequest, ScoreResponse


@dataclass(frozen=True, slots=True)
class Usage:
    """What a provider says of one job. delay_ms: queue and cold start; execution_ms: handed over until done.

    None: it did not say. submissions: how often the batch was handed in, since a doubtful hand-over is repeated and
    both may have run.
    """

    delay_ms: int | None = None
    execution_ms: int | None = None
    worker_id: str = ""
    submissions: int = 1


class BackendError(RuntimeError):
    """The backend could not score. `permanent` means that the same request would fail again."""

    def __init__(self, code: str, *, permanent: bool, usage: Usage | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.permanent = permanent
        self.usage = usage


# Failures before anything was handed over: the texts had no attempt. The breaker's refusal is one.
NOT_TRIED = frozenset({"runpod_breaker_open"})


@dataclass(frozen=True, slots=True)
class Answer:
    response: ScoreResponse
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """external_id: for `poll` and `cancel`.  attempt: the one that the backend has; its answer echoes it."""

    external_id: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Order:
    """How a batch is wanted.

    seconds: from now until we give it up; None = the backend's own limit.  wait: answer in `start`, as for somebody
    who looks at the page; False = Accepted is welcome.  wake: a machine may be started for it.
    """

    seconds: float | None = None
    wait: bool = True
    wake: bool = True


AS_USUAL = Order()


class Backend(Protocol):
    """name: as stored on the run.  tier: what the customer is told, `cpu` or `gpu`."""

    name: str
    tier: str

    def warm(self, model_version: str) -> None:
        """Gets ready to score with that version. Raises BackendError."""

    def start(self, request: ScoreRequest, order: Order = AS_USUAL) -> Answer | Accepted:
        """Raises BackendError."""

    def poll(self, external_id: str) -> Answer | None:
        """None while it is still working. Raises BackendError."""

    def cancel(self, external_id: str) -> Usage | None:
        """Nobody wants the answer any more: what it cost, as far as that is known. Never raises."""


def get(name: str) -> Backend:
    """The backend of that name. Raises LookupError for an unknown one."""
    if name == "local":
        from gpujobs.backends.local import LocalBackend

        return LocalBackend()
    if name == "runpod":
        from gpujobs.backends.runpod import RunpodBackend

        return RunpodBackend.from_settings()
    raise LookupError(f"unknown backend {name!r}")

"""Where a batch is scored, behind one face.

A backend's `start` takes a ScoreRequest and returns either an Answer (it worked while we waited, as the local one
does) or Accepted (it took the batch; ask `poll` later, as a serverless endpoint does).
"""

from dataclasses import dataclass
from typing import Protocol

from gpujobs.pod.contract import ScoreRequest, ScoreResponse


class BackendError(RuntimeError):
    """The backend could not score. `permanent` means that the same request would fail again."""

    def __init__(self, code: str, *, permanent: bool) -> None:
        super().__init__(code)
        self.code = code
        self.permanent = permanent


@dataclass(frozen=True, slots=True)
class Answer:
    response: ScoreResponse


@dataclass(frozen=True, slots=True)
class Accepted:
    external_id: str


class Backend(Protocol):
    """name: as stored on the run.  tier: what the customer is told, `cpu` or `gpu`."""

    name: str
    tier: str

    def warm(self, model_version: str) -> None:
        """Gets ready to score with that version. Raises BackendError."""

    def start(self, request: ScoreRequest) -> Answer | Accepted:
        """Raises BackendError."""

    def poll(self, external_id: str) -> Answer | None:
        """None while it is still working. Raises BackendError."""


def get(name: str) -> Backend:
    """The backend of that name. Raises LookupError for an unknown one."""
    if name == "local":
        from gpujobs.backends.local import LocalBackend

        return LocalBackend()
    raise LookupError(f"unknown backend {name!r}")

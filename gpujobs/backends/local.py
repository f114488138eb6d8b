"""The pod's own code on this machine's CPU, inside a worker process: the embedded default.

The one place where Django code imports the scorer, and only when a batch is there: a web process never does.
"""

import threading
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings

from gpujobs import registry
from gpujobs.backends import AS_USUAL, Accepted, Answer, BackendError, Order, Usage
from gpujobs.pod.contract import ScoreRequest

if TYPE_CHECKING:
    from gpujobs.pod.score import Scorer

MODELS_IN_MEMORY = 2
_one_at_a_time = threading.Lock()


class LocalBackend:
    name = "local"
    tier = "cpu"

    def warm(self, model_version: str) -> None:
        try:
            scorer(model_version)
        except (LookupError, OSError, ValueError) as error:
            raise BackendError(_code(error), permanent=True) from error

    def start(self, request: ScoreRequest, order: Order = AS_USUAL) -> Answer | Accepted:
        try:
            with _one_at_a_time:  # the engine already uses every core
                return Answer(scorer(request.model_version).score(request))
        except Exception as error:  # whatever the engine raises ends this run, not the worker
            raise BackendError(_code(error), permanent=isinstance(error, LookupError | ValueError)) from error

    def poll(self, external_id: str) -> Answer | None:
        raise BackendError("local_never_waits", permanent=True)

    def cancel(self, external_id: str) -> Usage | None:
        return None  # what is scored here is never left alone


def _code(error: Exception) -> str:
    """The error's kind: its message might quote a text."""
    return f"local_{type(error).__name__.lower()}"


@lru_cache(maxsize=MODELS_IN_MEMORY)
def scorer(version: str) -> "Scorer":
    """The loaded model of a version; loading verifies each file's hash."""
    from gpujobs.pod.score import Scorer

    return Scorer.load(registry.folder_of(version), threads=settings.LOCAL_ENGINE_THREADS)

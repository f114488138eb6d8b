"""Order a batch of scores: ask the backend, keep its answer on the run."""

import logging

from django.utils import timezone

from gpujobs import runs
from gpujobs.backends import Answer, Backend, BackendError
from gpujobs.models import GpuRun
from gpujobs.pod.contract import ContractError, ScoreRequest, ScoreResponse, match

log = logging.getLogger(__name__)


def start(run: GpuRun, request: ScoreRequest, backend: Backend) -> None:
    """Hands the batch over; the run ends here where the backend answers at once. Never raises for its errors:
    the run's status says how it went, and `result` holds the scores."""
    runs.started(run)
    try:
        with runs.keep_alive(run):
            outcome = backend.start(request)
        if isinstance(outcome, Answer):
            _keep(run, request, outcome.response)
    except BackendError as error:
        log.error("run %s failed: %s", run.pk, error.code)
        runs.fail(run, error.code, now=timezone.now())
    except ContractError as error:
        log.error("run %s: bad answer: %s", run.pk, error)
        runs.fail(run, "bad_answer", now=timezone.now())


def response_of(run: GpuRun) -> ScoreResponse:
    """The scores kept on a succeeded run. Raises ContractError where another version of the contract wrote them."""
    return ScoreResponse.from_json(run.result or {})


def _keep(run: GpuRun, request: ScoreRequest, response: ScoreResponse) -> None:
    match(request, response)
    runs.succeed(
        run,
        result=response.to_json(),
        tokens=sum(text.tokens for text in response.texts),
        execution_ms=response.execution_ms,
        now=timezone.now(),
    )

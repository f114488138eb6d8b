"""Order a batch of scores: ask the backend, and keep its answer on the run, at once or after some looks."""

import logging
from datetime import datetime
from typing import Any

from django.utils import timezone

from gpujobs import runs
from gpujobs.backends import AS_USUAL, Accepted, Answer, Backend, BackendError, Order, Usage
from gpujobs.models import GpuRun
from gpujobs.pod.contract import ContractError, ScoreRequest, ScoreResponse, match

log = logging.getLogger(__name__)

BAD_ANSWER = "bad_answer"
GIVEN_UP = "gave_up_waiting"
LONGEST_WAIT_SECONDS = 600.0  # for an answer, where the order names no time


def start(run: GpuRun, request: ScoreRequest, backend: Backend, order: Order = AS_USUAL) -> None:
    """Hands the batch over; the run ends here where the backend answers at once. Never raises for its errors:
    the run's status says how it went, and `result` holds the scores."""
    runs.started(run)
    try:
        with runs.keep_alive(run):
            outcome = backend.start(request, order)
        if isinstance(outcome, Accepted):
            _wait_for(run, outcome, order)
        else:
            match(request, outcome.response)
            _keep(run, outcome, now=timezone.now())
    except BackendError as error:
        _failed(run, error, now=timezone.now())
    except ContractError as error:
        _refused(run, error, now=timezone.now())


def look(run: GpuRun, backend: Backend, *, now: datetime) -> None:
    """Asks after a run that the backend works on by itself; ends it with the answer, an error, or at its time."""
    try:
        answer = backend.poll(run.external_id)
        if answer is not None:
            _check(run, answer.response)
            _keep(run, answer, now=now)
        elif run.give_up_at is not None and now >= run.give_up_at:
            runs.fail(run, GIVEN_UP, now=now, usage=_fields(backend.cancel(run.external_id)))
    except BackendError as error:
        _failed(run, error, now=now)
    except ContractError as error:
        _refused(run, error, now=now)


def response_of(run: GpuRun) -> ScoreResponse:
    """The scores kept on a succeeded run. Raises ContractError where another version of the contract wrote them."""
    return ScoreResponse.from_json(run.result or {})


def _wait_for(run: GpuRun, outcome: Accepted, order: Order) -> None:
    seconds = LONGEST_WAIT_SECONDS if order.seconds is None else order.seconds
    runs.accepted(run, external_id=outcome.external_id, attempt=outcome.attempt, seconds=seconds, now=timezone.now())


def _check(run: GpuRun, response: ScoreResponse) -> None:
    """As contract.match, without the request: the texts may have been deleted meanwhile."""
    if response.run_id != str(run.pk) or not 1 <= response.attempt <= run.attempt:
        raise ContractError("the answer belongs to another run")
    if response.model_version != run.model_version_id:
        raise ContractError("the answer comes from another model version")


def _keep(run: GpuRun, answer: Answer, *, now: datetime) -> None:
    response = answer.response
    runs.succeed(
        run,
        result=response.to_json(),
        tokens=sum(text.tokens for text in response.texts),
        execution_ms=response.execution_ms,
        now=now,
        usage=_fields(answer.usage),
    )


def _failed(run: GpuRun, error: BackendError, *, now: datetime) -> None:
    log.error("run %s failed: %s", run.pk, error.code)
    runs.fail(run, error.code, now=now, usage=_fields(error.usage))


def _refused(run: GpuRun, error: ContractError, *, now: datetime) -> None:
    log.error("run %s: bad answer: %s", run.pk, error)
    runs.fail(run, BAD_ANSWER, now=now)


def _fields(usage: Usage | None) -> dict[str, Any]:
    """What the provider said of its machine, as the run's fields; what it did not say is left as it is."""
    if usage is None:
        return {}
    told = {"delay_ms": usage.delay_ms, "execution_ms": usage.execution_ms}
    known = {name: value for name, value in told.items() if value is not None}
    return {**known, "worker_id": usage.worker_id, "handed_in": usage.submissions}

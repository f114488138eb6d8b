"""A RunPod serverless endpoint: batches go to rented GPUs that scale to zero.

`start` waits for the answer (`/runsync`, then looks at `/status` in growing, jittered pauses) or hands the batch in
(`/run`) for `poll` to ask later. Where RunPod can reach us it says when a job has ended (`runpod_hooks`): that brings
the next look forward, and no more. Deadlines are ours: RunPod's own timers are set just above them, and a batch that is
given up is cancelled. A hand-over that nobody can tell the end of is repeated under the next attempt number: the first
valid answer wins, the other one only costs. Errors and logs name codes and ids, never a text or a message of a worker.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.conf import settings

from gpujobs.backends import AS_USUAL, Accepted, Answer, BackendError, Order, Usage, answers, runpod_hooks
from gpujobs.backends.runpod_http import CLOSED_DOORS, JOB_LOST, MALFORMED, TOO_LARGE, Health, Job, RunpodHttp, cadence
from gpujobs.breaker import Breaker, BreakerOpen
from gpujobs.pod.contract import ContractError, ScoreRequest, ScoreResponse

log = logging.getLogger(__name__)

SYNC_WAIT_SECONDS = 60.0  # longest /runsync; proxies on the way cut connections at about 100 s
TTL_MARGIN_SECONDS = 30.0  # RunPod forgets a job so much later than we do, so that we cancel it and learn its times
SHORTEST_TTL_SECONDS, LONGEST_SECONDS = 10.0, 7 * 86_400.0  # RunPod's bounds
SHORTEST_EXECUTION_SECONDS = 5.0
# What our worker calls a batch that it cannot score; anything else it says is "failed".
WORKER_ERRORS = {"contract": ("runpod_contract", True), "engine": ("runpod_engine", False)}
BREAKER_NAME = "runpod"
BREAKER_OPEN = "runpod_breaker_open"
# About the request, not about the endpoint: no reason to stop asking it.
OWN_FAULTS = frozenset({"runpod_contract", "runpod_cancelled", MALFORMED, TOO_LARGE})


@dataclass(frozen=True, slots=True)
class Limits:
    """run_seconds: a batch is given up after that, unless its order says otherwise.  execution_seconds: just above
    what the worst batch takes on a worker; a hung one is stopped then."""

    run_seconds: float = 600.0
    execution_seconds: float = 60.0


class RunpodBackend:
    name = "runpod"
    tier = "gpu"

    def __init__(
        self,
        http: RunpodHttp,
        breaker: Breaker,
        limits: Limits = Limits(),
        *,
        webhooks_at: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """webhooks_at: the address of this site for RunPod's webhooks; empty: none are asked for."""
        self._http, self._breaker, self._limits, self._sleep = http, breaker, limits, sleep
        self._webhooks_at = webhooks_at

    @classmethod
    def from_settings(cls) -> "RunpodBackend":
        http = _client(
            settings.RUNPOD_BASE_URL,
            settings.RUNPOD_ENDPOINT_ID,
            settings.RUNPOD_API_KEY,
            settings.RUNPOD_TIMEOUT_SECONDS,
            os.getpid(),  # sockets must not cross a fork
        )
        limits = Limits(settings.RUNPOD_RUN_SECONDS, settings.RUNPOD_EXECUTION_SECONDS)
        return cls(http, Breaker(BREAKER_NAME), limits, webhooks_at=settings.RUNPOD_WEBHOOK_URL)

    def warm(self, model_version: str) -> None:
        """Asks whether the endpoint is there and takes our key; wakes no machine."""
        self._http.health()

    def start(self, request: ScoreRequest, order: Order = AS_USUAL) -> Answer | Accepted:
        seconds = self._limits.run_seconds if order.seconds is None else order.seconds
        with self._watched():
            if not order.wait:
                job, submissions = self._http.submit(self._bodies(request, order, seconds))
                return Accepted(job.id, request.attempt + submissions - 1)
            answer = self._wait(request, order, seconds)
        self._breaker.succeeded()
        return answer

    def poll(self, external_id: str) -> Answer | None:
        """Also None when RunPod cannot be asked just now: the caller's deadline decides how long that is borne."""
        with self._watched(enter=False):
            job = self._look(Job(external_id, ""))
            if not job.final:
                return None
            answer = _answer(job, 1)
        self._breaker.succeeded()
        return answer

    def cancel(self, external_id: str) -> Usage | None:
        try:
            self._http.cancel(external_id)
            return self._http.status(external_id).usage()  # times of what ran until now
        except BackendError as error:
            log.warning("runpod job %s: not cancelled: %s", external_id, error.code)
            return None

    # --- Inside -------------------------------------------------------------------------------------------------

    def _wait(self, request: ScoreRequest, order: Order, seconds: float) -> Answer:
        deadline = time.monotonic() + seconds
        bodies = self._bodies(request, order, seconds)
        job, submissions = self._http.submit_and_wait(bodies, min(seconds, SYNC_WAIT_SECONDS))
        for pause in cadence():
            if job.final:
                break
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._give_up(job, submissions)
            self._sleep(min(pause, left))
            job = self._look(job)
        answer = _answer(job, submissions)
        return replace(answer, response=_checked(request, answer, submissions))

    def _look(self, job: Job) -> Job:
        """The job as it is now; as it was, where RunPod cannot be asked at the moment."""
        try:
            return self._http.status(job.id)
        except BackendError as error:
            if error.permanent or error.code == JOB_LOST:
                raise
            log.warning("runpod job %s: %s", job.id, error.code)
            return job

    def _give_up(self, job: Job, submissions: int) -> BackendError:
        """Cancels, and says why it took so long: a status alone cannot tell."""
        code = "runpod_deadline"
        if job.status == "IN_QUEUE":
            try:
                code = why_queued(self._http.health())
            except BackendError as error:
                code = error.code
        found = self.cancel(job.id) or job.usage()
        return BackendError(code, permanent=False, usage=replace(found, submissions=submissions))

    def _bodies(self, request: ScoreRequest, order: Order, seconds: float) -> Callable[[int], dict[str, Any]]:
        """The n-th submission's body, under its own attempt number."""
        around: dict[str, Any] = {"policy": policy_of(seconds, self._limits.execution_seconds, wake=order.wake)}
        if self._webhooks_at:
            around["webhook"] = runpod_hooks.address(self._webhooks_at, request.run_id)
        return lambda n: {"input": replace(request, attempt=request.attempt + n).to_json(), **around}

    @contextmanager
    def _watched(self, *, enter: bool = True) -> Iterator[None]:
        """Asks the breaker, and tells it of failures that are the endpoint's."""
        try:
            if enter:
                self._breaker.enter()
            yield
        except BreakerOpen as refused:
            raise BackendError(BREAKER_OPEN, permanent=False) from refused
        except BackendError as error:
            if error.code in OWN_FAULTS:
                self._breaker.undecided()
            else:
                self._breaker.failed(error.code, at_once=error.code in CLOSED_DOORS)
            raise


def policy_of(seconds: float, execution_seconds: float, *, wake: bool) -> dict[str, Any]:
    """RunPod's timers for a batch that we give up after `seconds`, in its milliseconds and within its bounds."""
    ttl = min(max(seconds + TTL_MARGIN_SECONDS, SHORTEST_TTL_SECONDS), LONGEST_SECONDS)
    execution = min(max(min(execution_seconds, seconds), SHORTEST_EXECUTION_SECONDS), LONGEST_SECONDS)
    return {"ttl": round(ttl * 1000), "executionTimeout": round(execution * 1000), "lowPriority": not wake}


def why_queued(health: Health) -> str:
    """Why a job never left the queue, as far as the workers tell."""
    if health.worker("running", "idle", "ready"):
        return "runpod_deadline"
    if health.worker("unhealthy"):
        return "runpod_workers_unhealthy"
    if health.worker("throttled"):
        return "runpod_throttled"
    return "runpod_cold_start" if health.worker("initializing") else "runpod_no_worker"


def _answer(job: Job, submissions: int) -> Answer:
    """What a final job brought. Raises BackendError with what it cost."""
    usage = job.usage(submissions)
    if job.status == "COMPLETED":
        try:
            return Answer(_response(job.output), usage)
        except ContractError as error:
            log.error("runpod job %s: bad answer: %s", job.id, error)
            raise BackendError("runpod_bad_answer", permanent=False, usage=usage) from None
    code, permanent = f"runpod_{job.status.lower()}", False
    if job.status == "FAILED":
        code, permanent = WORKER_ERRORS.get(job.error, (code, False))
        log.error("runpod job %s failed: %s %s", job.id, code, job.error_type)
    raise BackendError(code, permanent=permanent, usage=usage)


def _response(output: Any) -> ScoreResponse:
    """Of whatever a worker, or somebody who calls himself one, put out. Raises ContractError."""
    try:
        response = ScoreResponse.from_json(output)
    except (AttributeError, OverflowError):  # not an object; a count that is infinite
        raise ContractError("malformed score response") from None
    answers.check_texts(response)
    return response


def _checked(request: ScoreRequest, answer: Answer, submissions: int) -> ScoreResponse:
    """The answer, held against its request. Raises BackendError."""
    if answer.response.model_version != request.model_version:  # an older worker of a rolling release
        raise BackendError("runpod_other_model", permanent=False, usage=answer.usage)
    try:
        return answers.settle(request, answer.response, submissions)
    except ContractError as error:
        log.error("runpod run %s: bad answer: %s", request.run_id, error)
        raise BackendError("runpod_bad_answer", permanent=False, usage=answer.usage) from None


@lru_cache(maxsize=4)
def _client(base_url: str, endpoint_id: str, key: str, timeout: float, _process: int) -> RunpodHttp:
    return RunpodHttp(base_url, endpoint_id, key, timeout_seconds=timeout)

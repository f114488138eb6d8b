"""RunPod's serverless data plane over raw HTTP: hand in, look, cancel, health. Frozen dataclasses out, no ORM inside.

One exception for all that goes wrong: BackendError with a stable code and `permanent`. What is tried again and what
is not is the table below; a Retry-After is obeyed. Status codes decide, never bodies: RunPod documents none of them.
Neither key nor body is ever part of an error or a log line. May be imported by: backends/runpod.py; what asks after
the endpoint (checkup.py, endpoint_health.py, the command runpod_doctor); providers/runpod_rest.py, for its pauses.
"""

import json
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from gpujobs.backends import BackendError, Usage
from gpujobs.backends.answers import SUBMISSIONS

TRIES = 4  # of one call, the first included
DOUBTFUL_TRIES = SUBMISSIONS  # hand-overs that may have been carried out; each may cost a run
CONNECT_SECONDS = 5.0
SYNC_MARGIN_SECONDS = 15.0  # how much longer than the wait asked for a /runsync may take to answer
BACKOFF_SECONDS = (0.25, 4.0)  # first pause between tries and the longest; doubled, then jittered
RETRY_AFTER_CAP_SECONDS = 30.0
POLL_SECONDS = (0.5, 5.0)  # first pause between two looks and the longest
POLL_GROWTH = 1.5
JITTER = 0.3  # share by which a pause is shorter or longer, so that many waiters spread out
MOST_BODY_BYTES = 9_000_000  # RunPod refuses 10 MB

FINAL = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"})

# Never tried again: another try would be answered alike. The first four are about the endpoint, not the request.
UNAUTHORIZED, FORBIDDEN, UNPAID = "runpod_unauthorized", "runpod_forbidden", "runpod_unpaid"
ENDPOINT_MISSING = "runpod_endpoint_missing"
MALFORMED, TOO_LARGE = "runpod_malformed", "runpod_too_large"
REFUSALS = {401: UNAUTHORIZED, 402: UNPAID, 403: FORBIDDEN, 404: ENDPOINT_MISSING, 413: TOO_LARGE}
CLOSED_DOORS = frozenset({UNAUTHORIZED, FORBIDDEN, UNPAID, ENDPOINT_MISSING})
# Tried again: the request was not carried out (408, 425, 429), or nobody knows (5xx, a connection that broke).
BUSY, UNAVAILABLE, UNREACHABLE = "runpod_busy", "runpod_unavailable", "runpod_unreachable"
NOT_CARRIED_OUT = frozenset({408, 425, 429})
JOB_LOST = "runpod_job_lost"  # unknown although it was accepted: expired, or lost

_ERROR_CODE = re.compile(r"[a-z_]{1,40}")
_ERROR_TYPE = re.compile(r"<class '([A-Za-z_][\w.]{0,60})'>")


@dataclass(frozen=True, slots=True)
class Job:
    """A job as RunPod tells it. An unknown status counts as not final.

    error: a code of our own worker.  error_type: the Python name of another error. Messages are dropped: they may
    quote a text.
    """

    id: str
    status: str
    output: Any = None
    error: str = ""
    error_type: str = ""
    delay_ms: int | None = None
    execution_ms: int | None = None
    worker_id: str = ""

    @property
    def final(self) -> bool:
        return self.status in FINAL

    def usage(self, submissions: int = 1) -> Usage:
        return Usage(self.delay_ms, self.execution_ms, self.worker_id, submissions)


@dataclass(frozen=True, slots=True)
class Health:
    """Jobs and workers of the endpoint by state; what it does not mention is 0. `idle` proves no live worker."""

    jobs: Mapping[str, int]
    workers: Mapping[str, int]

    def worker(self, *states: str) -> int:
        return sum(self.workers.get(state, 0) for state in states)


class RunpodHttp:
    """One endpoint. Thread-safe; make one a process (sockets must not cross a fork)."""

    def __init__(
        self,
        base_url: str,
        endpoint_id: str,
        key: str,
        *,
        timeout_seconds: float = 10.0,
        tries: int = TRIES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """tries: of one call; 1 for whoever would rather know at once that RunPod does not answer."""
        self._timeout, self._tries = timeout_seconds, tries
        self._sleep = sleep
        self._http = httpx.Client(
            base_url=f"{base_url.rstrip('/')}/{endpoint_id}",
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds)),
            trust_env=False,  # texts and key go to RunPod, not to a proxy that the environment happens to name
        )

    def submit(self, body: Callable[[int], dict[str, Any]]) -> tuple[Job, int]:
        """POST /run. `body(n)` is the n-th submission's, counted from 0; a doubtful one is repeated under the next.

        Returns the job with the number of submissions that may have been carried out. Raises BackendError.
        """
        return self._submit("/run", body, self._timeout)

    def submit_and_wait(self, body: Callable[[int], dict[str, Any]], wait_seconds: float) -> tuple[Job, int]:
        """POST /runsync: the same, answered when the job is final or `wait_seconds` (1 to 300) are over."""
        wait = min(max(wait_seconds, 1.0), 300.0)
        return self._submit(f"/runsync?wait={round(wait * 1000)}", body, wait + SYNC_MARGIN_SECONDS)

    def status(self, job_id: str) -> Job:
        """GET /status. A 404 is JOB_LOST once /health says that the endpoint is there. Raises BackendError."""
        return self._of_job("GET", f"/status/{job_id}")

    def cancel(self, job_id: str) -> Job:
        """POST /cancel: in the queue or running; a job that has ended keeps its end. Raises BackendError."""
        return self._of_job("POST", f"/cancel/{job_id}")

    def health(self) -> Health:
        """GET /health. Raises BackendError."""
        data, _ = self._patiently(lambda _: self._http.build_request("GET", "/health"))
        return Health(_counts(data.get("jobs")), _counts(data.get("workers")))

    # --- Inside -------------------------------------------------------------------------------------------------

    def _submit(self, path: str, body: Callable[[int], dict[str, Any]], read_seconds: float) -> tuple[Job, int]:
        timeout = httpx.Timeout(max(read_seconds, self._timeout), connect=CONNECT_SECONDS)

        def build(doubts: int) -> httpx.Request:
            content = encoded(body(doubts))
            if len(content) > MOST_BODY_BYTES:
                raise BackendError(TOO_LARGE, permanent=True)
            headers = {"Content-Type": "application/json"}
            return self._http.build_request("POST", path, content=content, headers=headers, timeout=timeout)

        data, doubts = self._patiently(build)
        return job_of(data), doubts + 1

    def _of_job(self, method: str, path: str) -> Job:
        try:
            data, _ = self._patiently(lambda _: self._http.build_request(method, path))
        except BackendError as error:
            if error.code != ENDPOINT_MISSING:
                raise
            self.health()  # a 404 of the endpoint itself is raised here
            raise BackendError(JOB_LOST, permanent=False) from None
        return job_of(data)

    def _patiently(self, build: Callable[[int], httpx.Request]) -> tuple[dict[str, Any], int]:
        """The JSON object that a request is answered with, and how many doubtful tries came before it."""
        doubts, code = 0, UNREACHABLE
        pauses = backoff()
        for number in range(self._tries):
            request = build(doubts)
            wait, doubtful = 0.0, True
            try:
                response = self._http.send(request)
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
                code, doubtful = UNREACHABLE, False  # nothing was sent
            except httpx.TransportError:
                code = UNREACHABLE
            else:
                data = _object(response)
                if data is not None:
                    return data, doubts
                code = _refusal(response)
                doubtful = response.status_code not in NOT_CARRIED_OUT
                wait = retry_after(response.headers.get("Retry-After"), datetime.now(UTC))
            doubts += doubtful and request.method == "POST"
            if number + 1 == self._tries or doubts == DOUBTFUL_TRIES or wait > RETRY_AFTER_CAP_SECONDS:
                break
            self._sleep(max(next(pauses), wait))
        raise BackendError(code, permanent=False, usage=Usage(submissions=doubts))


def job_of(data: Mapping[str, Any]) -> Job:
    """Of the body of /run, /runsync, /status or /cancel."""
    error = data.get("error")
    text = error if isinstance(error, str) else ""
    named = _ERROR_TYPE.search(text)
    return Job(
        id=str(data.get("id", "")),
        status=str(data.get("status", "")),
        output=data.get("output"),
        error=text if _ERROR_CODE.fullmatch(text) else "",
        error_type=named[1] if named else "",
        delay_ms=_milliseconds(data.get("delayTime")),
        execution_ms=_milliseconds(data.get("executionTime")),
        worker_id=str(data.get("workerId") or "")[:100],
    )


def encoded(body: Mapping[str, Any]) -> bytes:
    """As JSON in UTF-8; escaped where a text has half a character, which UTF-8 cannot carry and a worker must see."""
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()


def backoff() -> Iterator[float]:
    """Pauses between tries, in seconds."""
    return _growing(*BACKOFF_SECONDS, 2.0)


def cadence() -> Iterator[float]:
    """Pauses between two looks at a job, in seconds: often at first, then every few seconds."""
    return _growing(*POLL_SECONDS, POLL_GROWTH)


def _growing(pause: float, longest: float, growth: float) -> Iterator[float]:
    while True:
        yield pause * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 (spreads load, guards nothing)
        pause = min(pause * growth, longest)


def retry_after(value: str | None, now: datetime) -> float:
    """Seconds that the header asks for, as a number or as a date; 0 where it says nothing understandable."""
    if not value:
        return 0.0
    try:
        if value.strip().isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - now).total_seconds())
    except (ValueError, TypeError):  # TypeError: a date without a zone
        return 0.0


def _object(response: httpx.Response) -> dict[str, Any] | None:
    """The JSON object of a success. A success that is none comes from a proxy, and says nothing."""
    if not response.is_success:
        return None
    try:
        data = response.json()
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _refusal(response: httpx.Response) -> str:
    """The code of what may be tried again. Raises BackendError for what may not."""
    status = response.status_code
    if status in NOT_CARRIED_OUT:
        return BUSY
    if 400 <= status < 500:
        raise BackendError(REFUSALS.get(status, MALFORMED), permanent=True)
    return UNAVAILABLE


def _counts(data: Any) -> dict[str, int]:
    if not isinstance(data, dict):
        return {}
    return {str(name): value for name, value in data.items() if isinstance(value, int) and not isinstance(value, bool)}


def _milliseconds(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**31:
        return None
    return round(value)

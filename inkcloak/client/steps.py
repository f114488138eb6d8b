"""How a call speaks to the network without doing so: it yields what to send and how long to pause, and gets answers.

One description of each call serves both clients: `Client` drives it with blocking input and output, `AsyncClient` with
awaited ones. Nothing here opens a connection or sleeps. Requests.ask is where a failed try becomes another one.
"""

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from inkcloak.client import retrying
from inkcloak.client.errors import ConnectionFailed, InkcloakError, NotFound, UnexpectedAnswer, problem_of

LONGEST_HOLD_SECONDS = 60  # how long the service holds one request at most
IN_FLIGHT_SECONDS = 180.0  # how long our own first try, whose answer got lost, may be at work
RETRIED_ERRORS = (httpx.TimeoutException, httpx.NetworkError, httpx.RemoteProtocolError, httpx.ProxyError)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Send:
    """A request. path: below the API's address.  hold: seconds that the service is asked to wait for a verdict.

    files: (name, bytes) of each; with them `form`, else `content` as JSON.  work: seconds that reading it all may take.
    """

    method: str
    path: str
    content: bytes | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[tuple[str, bytes]] = ()
    idempotency_key: str = ""
    hold: int | None = None
    work: float = 0.0

    def headers(self) -> dict[str, str]:
        made = {"Content-Type": "application/json"} if self.content is not None else {}
        if self.idempotency_key:
            made["Idempotency-Key"] = self.idempotency_key
        if self.hold is not None:
            made["Prefer"] = f"wait={self.hold}"
        return made


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


Outcome = httpx.Response | httpx.RequestError | None
Steps = Generator[Send | Pause, Outcome, T]


class Requests:
    """Requests and their tries. clock: seconds, only ever forward."""

    def __init__(self, policy: retrying.Policy, clock: Callable[[], float]) -> None:
        self.policy = policy
        self.clock = clock

    def json(self, send: Send) -> Steps[dict[str, Any]]:
        return json_object((yield from self.ask(send)))

    def ask(self, send: Send) -> Steps[httpx.Response]:
        """The answer that succeeds, after as many tries as make sense. Raises Problem, ConnectionFailed."""
        tried, lost, began = 0, False, self.clock()
        while True:
            outcome = yield send
            tried += 1
            if isinstance(outcome, httpx.Response) and outcome.is_success:
                return outcome
            error, again, retry_after = _failure(outcome)
            if lost and send.method == "DELETE" and isinstance(error, NotFound) and isinstance(outcome, httpx.Response):
                return outcome  # by our own try, whose answer got lost
            if error.code == retrying.IN_FLIGHT and self.clock() - began < IN_FLIGHT_SECONDS:
                tried = 1  # it is being done: a matter of time, not of tries
            pause = self.policy.pause(tried, retry_after) if again else None
            if pause is None:
                raise error
            lost = lost or not isinstance(outcome, httpx.Response)
            yield Pause(pause)


def held(wait: float) -> int:
    """Whole seconds for `Prefer: wait`."""
    return max(0, min(LONGEST_HOLD_SECONDS, math.ceil(wait)))


def _failure(outcome: Outcome) -> tuple[InkcloakError, bool, float | None]:
    """The error, whether another try makes sense, and when the service wants it."""
    if isinstance(outcome, httpx.Response):
        if outcome.is_redirect:
            return UnexpectedAnswer("the address leads elsewhere; is it the right one?"), False, None
        retry_after = retrying.seconds_of(outcome.headers.get("Retry-After"))
        request_id = outcome.headers.get("X-Request-ID", "")
        error = problem_of(outcome.status_code, _body(outcome), request_id=request_id, retry_after=retry_after)
        return error, retrying.is_transient(outcome.status_code, error.code), retry_after
    failed = ConnectionFailed(f"no answer from the service ({type(outcome).__name__})")
    failed.__cause__ = outcome
    return failed, isinstance(outcome, RETRIED_ERRORS), None


def _body(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except (ValueError, RecursionError):
        return None


def json_object(answer: httpx.Response) -> dict[str, Any]:
    body = _body(answer)
    if not isinstance(body, dict):
        raise UnexpectedAnswer("the answer is no JSON object; is the address that of an InkCloak service?")
    return body


def shaped(shape: Callable[..., T], *found: Any) -> T:
    try:
        return shape(*found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnexpectedAnswer(f"the answer lacks what this client needs ({type(error).__name__})") from error

"""What may go wrong, as exceptions. None of them holds a text or a key.

InkcloakError
  Problem            the service said no: status, code, detail, errors, request_id (RFC 9457)
    KeyRefused       401, 403
    NotFound         404: never was, is deleted, or is not yours
    LimitReached     429: requests of the minute, or words of the month
    CheckFailed      accepted, and ended without a verdict; nothing was charged
  ConnectionFailed   nobody answered, however often it was asked
  NotFinished        there was no verdict when the wait was over; `detection` can be asked for later
  UnexpectedAnswer   whoever answered does not speak this API
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inkcloak.client.shapes import Detection

CHECK_FAILED = "check_failed"


class InkcloakError(Exception):
    """Any of the errors here. code: never changes."""

    code: str = "error"


class ConnectionFailed(InkcloakError):
    """No answer came. What was asked for may have happened; asked again with its Idempotency-Key, it happens once."""

    code = "connection_failed"


class UnexpectedAnswer(InkcloakError):
    """The answer is none of this API: is the address right?"""

    code = "unexpected_answer"


class NotFinished(InkcloakError):
    """The wait is over and the check is not: `client.get(error.detection.id, wait=60)` goes on waiting."""

    code = "not_finished"

    def __init__(self, detection: "Detection") -> None:
        super().__init__(f"detection {detection.id} is not finished yet")
        self.detection = detection


@dataclass(frozen=True, slots=True)
class Fault:
    """One field at fault. pointer: its place in the body, a JSON pointer."""

    pointer: str
    code: str
    detail: str


class Problem(InkcloakError):
    """The service said no.

    code: never changes; `/api/docs/errors` explains each.  detail: for people.  request_id: to quote when you ask us.
    retry_after: seconds, where a later try makes sense.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: tuple[Fault, ...] = (),
        request_id: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(
            f"{status} {code}: {detail}" + "".join(f" ({fault.pointer}: {fault.detail})" for fault in errors)
        )
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.request_id = request_id
        self.retry_after = retry_after


class KeyRefused(Problem):
    """The key is missing, wrong, ended, or may not do this."""


class NotFound(Problem):
    """It never was, is deleted, or is not yours."""


class LimitReached(Problem):
    """Too many requests for this minute, or more words than are left this month (code `words_used`)."""


class CheckFailed(Problem):
    """The check was accepted and ended without a verdict. Nothing was charged; a new call is a new check."""


KINDS: dict[int, type[Problem]] = {
    HTTPStatus.UNAUTHORIZED: KeyRefused,
    HTTPStatus.FORBIDDEN: KeyRefused,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.TOO_MANY_REQUESTS: LimitReached,
}


def problem_of(status: int, body: Any, *, request_id: str = "", retry_after: float | None = None) -> Problem:
    """The exception for an answer. body: its JSON, or anything else where it had none (a proxy's own page)."""
    said: Mapping[str, Any] = body if isinstance(body, dict) else {}
    code = str(said.get("code") or f"http_{status}")
    kind = CheckFailed if code == CHECK_FAILED else KINDS.get(status, Problem)
    return kind(
        status,
        code,
        str(said.get("detail") or "the service gave no reason"),
        errors=tuple(_faults(said.get("errors"))),
        request_id=str(said.get("request_id") or request_id),
        retry_after=retry_after,
    )


def _faults(found: Any) -> list[Fault]:
    faults = found if isinstance(found, list) else []
    names = ("pointer", "code", "detail")
    return [Fault(*(str(fault.get(name, "")) for name in names)) for fault in faults if isinstance(fault, dict)]

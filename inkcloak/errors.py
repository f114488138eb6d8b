"""Errors that people may read: a stable code, a message in their language, and one of five kinds.

Raised by any app, turned into a page by `inkcloak.middleware` and into HTTP by the API's error envelope, so that
every way in says the same.
"""

from typing import Literal

from django.utils.functional import Promise

Kind = Literal["invalid", "forbidden", "conflict", "exhausted", "unavailable"]

HTTP_STATUS: dict[Kind, int] = {
    "invalid": 400,
    "forbidden": 403,
    "conflict": 409,
    "exhausted": 429,
    "unavailable": 503,
}


class DomainError(Exception):
    """What went wrong in the product's own terms.

    code: stable, lower_case.  message: for people, lazily translated, never quoting a customer's text.
    retry_after: seconds until trying again makes sense, where that is known.
    """

    kind: Kind = "invalid"

    def __init__(self, code: str, message: str | Promise, *, retry_after: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        return HTTP_STATUS[self.kind]


class Invalid(DomainError):
    """The input is at fault; sending it again will not help."""

    kind: Kind = "invalid"


class Forbidden(DomainError):
    """Known, but not allowed."""

    kind: Kind = "forbidden"


class Conflict(DomainError):
    """The input is fine and was, or will be, possible: what it speaks of is not in a state for it now."""

    kind: Kind = "conflict"


class Exhausted(DomainError):
    """A limit is reached; `retry_after` says when it is free again."""

    kind: Kind = "exhausted"


class Unavailable(DomainError):
    """We cannot serve this now; the input is fine."""

    kind: Kind = "unavailable"

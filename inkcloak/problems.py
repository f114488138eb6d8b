"""Errors of the API in one form: RFC 9457 `application/problem+json`.

`type` is an address in our documentation and `code` its last part: both never change, `detail` is in the reader's
language. Every way to an error ends here: domain errors, REST framework's own, and the bare pages that Django makes
before a view is reached.
"""

import json
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from inkcloak.errors import DomainError

CONTENT_TYPE = "application/problem+json"
API_PREFIX = "/api/"
# Headers of the answer that an error in its place must keep.
KEPT_HEADERS = ("Retry-After", "WWW-Authenticate", "Allow", "Location")

# Where what is used up can be had: it stands in the answer, too.
MORE = {"words_used": "/pricing/"}
CODES: dict[int, str] = {
    400: "bad_request",
    401: "missing_key",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "too_large",
    415: "unsupported_media_type",
    429: "rate_limited",
    503: "restarting",
}
DETAILS: dict[int, str | Promise] = {
    400: _("The request could not be understood."),
    401: _("This needs an API key: Authorization: Bearer ink_live_…"),
    403: _("This is not allowed."),
    404: _("There is nothing here for you: check the address and the id."),
    405: _("This address does not take that method."),
    406: _("Answers are JSON; the Accept header rules that out."),
    413: _("That is too much data for one request."),
    415: _("The body must be JSON: Content-Type: application/json."),
    429: _("Too many requests. Please wait for the time that Retry-After names."),
    503: _("We are restarting a part of the service. Nothing is lost; please try again in a moment."),
}
OUR_FAULT: Promise = _("Something broke on our side. Please quote the request_id when you write to us.")


@dataclass(frozen=True, slots=True)
class Problem:
    """One error. errors: `{"pointer": "/text", "code": …, "detail": …}` for each field at fault.

    retry_after: seconds.
    """

    status: int
    code: str
    detail: str
    errors: list[dict[str, str]] = field(default_factory=list)
    retry_after: int | None = None

    def body(self, request: HttpRequest) -> dict[str, Any]:
        return self.named(request_id(request))

    def named(self, request_name: str) -> dict[str, Any]:
        return {
            "type": type_of(self.code),
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "errors": self.errors,
            "request_id": request_name,
        }


def type_of(code: str) -> str:
    """Where the documentation explains this code."""
    return f"{settings.PUBLIC_URL}/api/docs/errors#{code}"


def of_status(status: int) -> Problem:
    """What a bare status says."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and status not in CODES:
        return Problem(status, "internal", str(OUR_FAULT))
    return Problem(status, CODES.get(status, "bad_request"), str(DETAILS.get(status, DETAILS[400])))


def of_error(error: DomainError) -> Problem:
    """A domain error in this form. Its kinds have no status for what is too large; HTTP does."""
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if error.code == CODES[413] else error.status
    detail = str(error.message)
    if error.code in MORE:
        detail = str(_("%(detail)s Plans with more: %(address)s")) % {
            "detail": detail,
            "address": f"{settings.PUBLIC_URL}{MORE[error.code]}",
        }
    return Problem(int(status), error.code, detail, retry_after=error.retry_after)


def request_id(request: HttpRequest) -> str:
    """The name that `inkcloak.request_ids` gave this request; empty where that did not run."""
    return str(getattr(request, "request_id", ""))


def response(request: HttpRequest, problem: Problem) -> HttpResponse:
    """For what is no REST framework view."""
    content = json.dumps(problem.body(request), ensure_ascii=True)
    answer = HttpResponse(content, status=problem.status, content_type=CONTENT_TYPE)
    if problem.retry_after is not None:
        answer["Retry-After"] = str(problem.retry_after)
    return answer


def without_request(status: int, detail: str) -> bytes:
    """The same where no request was made of what came in yet, in English."""
    return json.dumps(Problem(status, CODES[status], detail).named("")).encode()


def is_api(request: HttpRequest) -> bool:
    """Whether the reader is a program: pages below `/api/docs/` are for people."""
    return request.path.startswith(API_PREFIX) and not request.path.startswith(f"{API_PREFIX}docs/")


def is_bare(request: HttpRequest, answer: HttpResponse) -> bool:
    """An error for a program that is not in our form: Django's own, from before or beside a view."""
    if answer.status_code < HTTPStatus.BAD_REQUEST or not is_api(request):
        return False
    return answer.headers.get("Content-Type", "").partition(";")[0] not in (CONTENT_TYPE, "application/json")


def instead_of(request: HttpRequest, bare: HttpResponse) -> HttpResponse:
    """The same status in our form."""
    answer = response(request, of_status(bare.status_code))
    for name in KEPT_HEADERS:
        if name in bare.headers:
            answer[name] = bare[name]
    return answer

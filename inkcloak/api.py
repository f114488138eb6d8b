"""The API's frame: how exceptions of views become problems.

Bodies are read by `inkcloak.strict_json`, lists cut by `inkcloak.cursors`, errors shaped by `inkcloak.problems`;
who may ask, and how often, is `billing.api.base`'s.
"""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404
from django.utils.functional import Promise
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from inkcloak import problems, strict_json
from inkcloak.middleware import readable
from inkcloak.problems import Problem


class Refused(exceptions.APIException):
    """An answer with a status that domain errors don't have: 404, 415, 422.

    retry_after: seconds.
    """

    def __init__(self, status: int, code: str, message: str | Promise, *, retry_after: int | None = None) -> None:
        super().__init__(str(message), code)
        self.status_code = status
        self.retry_after = retry_after


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """The problem that an exception of a view is; None for a defect of ours, which stays one."""
    if isinstance(error, RequestDataTooBig):  # the framework's own limit of any body came first: name the view's
        error = strict_json.too_large(getattr(context["view"], "max_body_bytes", strict_json.MAX_BODY_BYTES))
    problem = problem_of(error)
    if problem is None:
        return None
    set_rollback()
    request = getattr(context["request"], "_request", context["request"])
    headers = {}
    if problem.retry_after is not None:
        headers["Retry-After"] = str(problem.retry_after)
    if auth := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = auth
    if isinstance(error, exceptions.MethodNotAllowed):
        headers["Allow"] = ", ".join(context["view"].allowed_methods)
    return Response(problem.body(request), problem.status, headers=headers, content_type=problems.CONTENT_TYPE)


def problem_of(error: Exception) -> Problem | None:
    """Domain errors, Django's and REST framework's, in one form."""
    known = readable(error)
    if known is not None:
        return problems.of_error(known)
    if isinstance(error, Http404 | exceptions.NotFound):
        return problems.of_status(404)
    if isinstance(error, PermissionDenied):
        return problems.of_status(403)
    if isinstance(error, exceptions.APIException):
        return _of_framework(error)
    return None


def _of_framework(error: exceptions.APIException) -> Problem:
    status = error.status_code
    if isinstance(error, exceptions.ValidationError):
        found = list(_fields(error.get_full_details(), ""))
        detail = found[0]["detail"] if len(found) == 1 else str(problems.DETAILS[400])
        return Problem(400, "invalid", detail, errors=found)
    if isinstance(error, Refused) or _has_own_code(error):
        wait = getattr(error, "retry_after", None)
        return Problem(status, str(error.get_codes()), str(error.detail), retry_after=wait)
    return problems.of_status(status)


def _has_own_code(error: exceptions.APIException) -> bool:
    codes = error.get_codes()
    return isinstance(codes, str) and codes != error.default_code


def _fields(details: Any, pointer: str) -> Iterator[dict[str, str]]:
    """Each fault with its place, as a JSON pointer."""
    if isinstance(details, list):
        # Of a list field: one entry an item. Of any other: its messages.
        for number, inner in enumerate(details):
            is_message = isinstance(inner, dict) and inner.keys() == {"message", "code"}
            yield from _fields(inner, pointer if is_message else f"{pointer}/{number}")
    elif isinstance(details, dict) and details.keys() == {"message", "code"}:
        yield {"pointer": pointer, "code": str(details["code"]), "detail": str(details["message"])}
    elif isinstance(details, dict):
        for name, inner in details.items():
            step = "" if name == "non_field_errors" else f"/{str(name).replace('~', '~0').replace('/', '~1')}"
            yield from _fields(inner, pointer + step)

"""A name for each request: what a customer quotes when asking us, and what the log line carries.

The id is always ours, so that nobody can make two requests look like one. What the client calls its request comes back
beside it.
"""

import re
import secrets
from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from inkcloak import problems
from inkcloak.logs import current_request

HEADER = "X-Request-ID"
CLIENT_HEADER = "X-Client-Request-ID"
ID_BYTES = 12
SANE = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")

Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def request_ids(get_response: Handler) -> Handler:
    """Names the request, says the name in the answer, and gives errors of `/api/` their one form."""
    if iscoroutinefunction(get_response):

        async def asynchronously(request: HttpRequest) -> HttpResponseBase:
            _name(request)
            return _finish(request, await cast(Awaitable[HttpResponseBase], get_response(request)))

        return asynchronously

    def synchronously(request: HttpRequest) -> HttpResponseBase:
        _name(request)
        return _finish(request, cast(HttpResponseBase, get_response(request)))

    return synchronously


def _name(request: HttpRequest) -> None:
    name = f"req_{secrets.token_hex(ID_BYTES)}"
    request.request_id = name  # type: ignore[attr-defined]
    current_request.set(name)


def _finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if isinstance(response, HttpResponse) and problems.is_bare(request, response):
        response = problems.instead_of(request, response)
    response[HEADER] = problems.request_id(request)
    theirs = request.headers.get(HEADER, "")
    if SANE.fullmatch(theirs):
        response[CLIENT_HEADER] = theirs
    return response

"""Turns errors that people may read into pages, so that neither bad input nor a restarting database is a bare 500."""

import logging
from collections.abc import Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from inkcloak import problems
from inkcloak.errors import DomainError, Invalid, Unavailable

log = logging.getLogger(__name__)

DATABASE_RETRY_SECONDS = 5


class ClearErrorsMiddleware:
    """Renders `error.html` for DomainError, an oversized body and a database that is away."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)  # a coroutine under ASGI, which Django awaits

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        error = readable(exception)
        if error is None:
            return None
        if problems.is_api(request):
            return problems.response(request, problems.of_error(error))
        return error_page(request, error)


def readable(exception: Exception) -> DomainError | None:
    """The error as people should read it, or None where it is a defect of ours."""
    if isinstance(exception, DomainError):
        return exception
    if isinstance(exception, RequestDataTooBig):
        return Invalid("too_large", _("That is too much data for one request."))
    if isinstance(exception, OperationalError | InterfaceError):
        log.warning("database unavailable: %s", type(exception).__name__)
        message = _("We are restarting a part of the service. Nothing is lost; please try again in a moment.")
        return Unavailable("restarting", message, retry_after=DATABASE_RETRY_SECONDS)
    return None


def error_page(request: HttpRequest, error: DomainError) -> HttpResponse:
    response = render(request, "error.html", {"error": error}, status=error.status)
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return response

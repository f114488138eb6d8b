"""Django's middleware without its threads.

Under ASGI, Django runs each step of its own middleware in a thread, since one might block: a dozen changes of thread a
request, which cost more than the steps. Those here only read and write headers and cookies, so they take their steps in
the event loop; the three that may ask the database or read a body go to a thread just then.
"""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import csp.middleware
from asgiref.sync import sync_to_async
from django.contrib.auth import middleware as auth
from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware import clickjacking, common, csrf, locale, security
from django.utils.deprecation import MiddlewareMixin

Before = Callable[[HttpRequest], HttpResponseBase | None]
After = Callable[[HttpRequest, HttpResponseBase], HttpResponseBase]

SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")


class InLoop(MiddlewareMixin):
    """Replaces only how steps are called; what they do, and how it is done without an event loop, stays Django's."""

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        before: Before | None = getattr(self, "process_request", None)
        after: After | None = getattr(self, "process_response", None)
        response = before(request) if before is not None else None
        if response is None:
            response = await cast(Awaitable[HttpResponseBase], self.get_response(request))
        if after is None:
            return response
        return await sync_to_async(after)(request, response) if self.may_block(request) else after(request, response)

    def may_block(self, request: HttpRequest) -> bool:
        """Whether the step after the view needs a thread for this request."""
        return False


class SecurityMiddleware(InLoop, security.SecurityMiddleware):
    pass


class CSPMiddleware(InLoop, csp.middleware.CSPMiddleware):
    pass


class LocaleMiddleware(InLoop, locale.LocaleMiddleware):
    pass


class CommonMiddleware(InLoop, common.CommonMiddleware):
    pass


class XFrameOptionsMiddleware(InLoop, clickjacking.XFrameOptionsMiddleware):
    pass


class AuthenticationMiddleware(InLoop, auth.AuthenticationMiddleware):
    """Who asks is looked up by whoever wants to know."""


class SessionMiddleware(InLoop, sessions.SessionMiddleware):
    def may_block(self, request: HttpRequest) -> bool:
        """A session that was touched may be stored."""
        return bool(request.session.accessed or request.session.modified)


class MessageMiddleware(InLoop, messages.MessageMiddleware):
    def may_block(self, request: HttpRequest) -> bool:
        """Messages that were shown or added are stored, maybe in the session."""
        found = getattr(request, "_messages", None)
        return found is not None and bool(found.used or found.added_new)


class CsrfViewMiddleware(InLoop, csrf.CsrfViewMiddleware):
    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        if self.async_mode:
            self.process_view = self._before_view  # type: ignore[method-assign,assignment]

    async def _before_view(self, request: HttpRequest, callback: Any, arguments: Any, named: Any) -> Any:
        """A form's token lies in its body, which may be large."""
        step = super().process_view
        if request.method in SAFE_METHODS or getattr(callback, "csrf_exempt", False):
            return step(request, callback, arguments, named)
        return await sync_to_async(step)(request, callback, arguments, named)

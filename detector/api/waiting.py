"""Answers that wait for a verdict without a thread: `Prefer: wait=N` (RFC 7240).

REST framework's views are synchronous. `patient` lets one run for as long as its queries take, then waits in the event
loop, then lets it read the row again: two short steps in a thread, and between them nothing but a subscription. (adrf
would make the whole view a coroutine, serializers and permissions with it, for this one pause.)

Only some take their steps at the same moment; the others queue in the event loop. A burst of hundreds would otherwise
queue for the few connections of the database instead, and be refused when those are not free within seconds.

A client that hangs up cancels the coroutine, and with it the subscription. What it had accepted stays accepted.
"""

import asyncio
import re
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any
from weakref import WeakKeyDictionary

from asgiref.sync import markcoroutinefunction, sync_to_async
from django.db import connection
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from detector import wakeups

MAX_WAIT_SECONDS = 60
CREATE_WAIT_SECONDS = 10  # where a create says nothing
RETRY_SECONDS = 2  # when to ask again for what is not ready
SEATS = 8  # steps at the same moment in one process: half its connections, more than its processors can serve

_seats_of: "WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]" = WeakKeyDictionary()
_WAIT = re.compile(r"wait\s*=\s*\"?(\d{1,6})\"?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pending:
    """What an answer waits for, and who makes the answer anew when it is there."""

    submission_id: uuid.UUID
    seconds: float
    answer_again: Callable[[], Response]


def seconds_of(request: Request, *, default: int) -> int:
    """How long the client would wait: N of `Prefer: wait=N`, cut at 60. A preference that makes no sense is none."""
    for preference in request.headers.get("Prefer", "").split(","):
        if found := _WAIT.fullmatch(preference.partition(";")[0].strip()):
            return min(int(found[1]), MAX_WAIT_SECONDS)
    return default


def wait_for(response: Response, pending: Pending) -> Response:
    """Marks an answer that gets better with time."""
    response.pending = pending  # type: ignore[attr-defined]
    return response


class Patient:
    """A view of REST framework that may wait. Quacks like the view that it wraps, so that the schema finds it."""

    def __init__(self, view: type[APIView], **initkwargs: Any) -> None:
        self.view = view.as_view(**initkwargs)
        update_wrapper(self, self.view)  # also csrf_exempt, cls and initkwargs
        markcoroutinefunction(self)

    def __call__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, HttpResponseBase]:
        return self._answer(request, *args, **kwargs)

    async def _answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        async with _seats():
            response: HttpResponseBase = await sync_to_async(self.view)(request, *args, **kwargs)
            await sync_to_async(_give_connection_back)()
        pending: Pending | None = getattr(response, "pending", None)
        if pending is None or not isinstance(response, Response):
            return response
        if pending.seconds:
            await wakeups.wait_until_finished(pending.submission_id, seconds=pending.seconds)
            async with _seats():
                await sync_to_async(partial(_renew, response, pending))()
                await sync_to_async(_give_connection_back)()
        return response


def _seats() -> asyncio.Semaphore:
    """Of this event loop: a server has one, tests have many."""
    loop = asyncio.get_running_loop()
    if loop not in _seats_of:
        _seats_of[loop] = asyncio.Semaphore(SEATS)
    return _seats_of[loop]


def _give_connection_back() -> None:
    """Otherwise it would be held until the request ends, which is after the wait."""
    if not connection.in_atomic_block:
        connection.close()


def _renew(response: Response, pending: Pending) -> None:
    """Puts the later answer in the place of the first; what the view and its frame set beside stays."""
    later = pending.answer_again()
    response.data, response.status_code = later.data, later.status_code
    response.content_type = later.content_type
    for name in ("Location", "Retry-After"):
        if name in later:
            response[name] = later[name]
        elif name in response:
            del response[name]


def patient(view: type[APIView], **initkwargs: Any) -> Any:
    return Patient(view, **initkwargs)

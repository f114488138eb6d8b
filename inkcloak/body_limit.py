"""The last word about the size of a request: Django takes a whole body in before any view or middleware sees it.

Smaller limits, with better words, are the views' own; this one only keeps a stranger from filling the disk.
"""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from inkcloak import problems

# Over what the pages take (DATA_UPLOAD_MAX_MEMORY_SIZE, an upload of files): those say it as a page.
MAX_BYTES = 72 * 1024 * 1024

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class _TooLarge(Exception):
    """More came than was announced, or than anybody may send."""


class BodyLimit:
    """An ASGI application around another: answers 413 as soon as it is clear that a body is over the limit."""

    def __init__(self, application: Application, max_bytes: int = MAX_BYTES) -> None:
        self.application = application
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
        elif _announced(scope) > self.max_bytes:
            await _refuse(send, self.max_bytes)
        else:
            try:
                await self.application(scope, self._counted(receive), send)
            except _TooLarge:  # while the body was read: nothing is sent before that
                await _refuse(send, self.max_bytes)

    def _counted(self, receive: Receive) -> Receive:
        taken = 0

        async def counting() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.max_bytes:
                raise _TooLarge
            return message

        return counting


def _announced(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name.lower() == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


async def _refuse(send: Send, limit: int) -> None:
    """The API's form for everybody: no page can be made without a request."""
    content = problems.without_request(413, f"The limit of any request is {limit} bytes.")
    headers = [
        (b"content-type", problems.CONTENT_TYPE.encode()),
        (b"content-length", str(len(content)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": int(HTTPStatus.REQUEST_ENTITY_TOO_LARGE), "headers": headers})
    await send({"type": "http.response.body", "body": content})

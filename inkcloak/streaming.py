"""Long answers, piece by piece, whichever server they leave by.

Under ASGI Django would gather a synchronous iterator whole before it sends the first byte; under WSGI (the tests'
client) it would do that to an asynchronous one.
"""

from collections.abc import AsyncIterator, Iterator
from itertools import chain
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse


def streamed(request: HttpRequest, chunks: Iterator[bytes], **options: Any) -> StreamingHttpResponse:
    """The chunks as an answer; each is made when the reader has taken the one before. options: of the response.

    The first is made here: a database that is away is an error then, and not an answer that ends at once.
    """
    whole = chain([next(chunks, b"")], chunks)
    return StreamingHttpResponse(_awaited(whole) if isinstance(request, ASGIRequest) else whole, **options)


async def _awaited(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    following = sync_to_async(lambda: next(chunks, None))
    while (chunk := await following()) is not None:
        yield chunk

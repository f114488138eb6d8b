"""No request fills the disk: over the limit it ends while it is being read."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from asgiref.sync import async_to_sync

from inkcloak import asgi
from inkcloak.body_limit import MAX_BYTES, BodyLimit

LIMIT = 10


async def echo(_scope: Any, receive: Any, send: Any) -> None:
    """Reads a body as Django does, whole, then says how long it was."""
    length, more = 0, True
    while more:
        message = await receive()
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(length).encode()})


def ask(chunks: Sequence[bytes], announced: bytes | None = None) -> tuple[int, bytes, int]:
    """Status, body, and how many chunks were taken."""
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    waiting[-1]["more_body"] = False
    taken = 0

    async def receive() -> dict[str, Any]:
        nonlocal taken
        taken += 1
        return waiting[taken - 1]

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [] if announced is None else [(b"Content-Length", announced)]
    async_to_sync(BodyLimit(echo, LIMIT))({"type": "http", "headers": headers}, receive, send)
    return sent[0]["status"], sent[1]["body"], taken


@pytest.mark.parametrize("announced", [None, b"10", b"nonsense", b"-1"])
def test_a_body_of_the_limit_passes(announced: bytes | None) -> None:
    assert ask([b"x" * 4, b"x" * 6], announced) == (200, b"10", 2)


def test_an_announced_body_over_the_limit_is_not_read() -> None:
    status, body, taken = ask([b"x"], b"11")
    assert (status, taken) == (413, 0)
    assert json.loads(body)["code"] == "too_large"


@pytest.mark.parametrize("announced", [None, b"3"])
def test_a_body_that_turns_out_too_large_is_read_no_further(announced: bytes | None) -> None:
    status, body, taken = ask([b"x" * 6] * 50, announced)
    assert (status, taken) == (413, 2)
    assert "10 bytes" in json.loads(body)["detail"]


def test_the_product_is_behind_it() -> None:
    assert isinstance(asgi.application, BodyLimit)
    assert asgi.application.max_bytes == MAX_BYTES < 100_000_000


def test_what_is_no_request_passes() -> None:
    seen: list[str] = []

    async def application(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope["type"])

    async_to_sync(BodyLimit(application))({"type": "lifespan"}, None, None)  # type: ignore[arg-type]
    assert seen == ["lifespan"]

"""Errors of REST v2: application/problem+json, raised as Problem and answered in one place."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from aiohttp import web


class Problem(Exception):
    """status: HTTP. detail: for people. errors: one string per wrong field."""

    def __init__(self, status: int, detail: str, errors: Sequence[str] = (), headers: Mapping[str, str] | None = None):
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = list(errors)
        self.headers = dict(headers or {})

    def answer(self) -> web.Response:
        """As HTTP."""
        body: dict[str, Any] = {"title": HTTPStatus(self.status).phrase, "status": self.status, "detail": self.detail}
        if self.errors:
            body["errors"] = self.errors
        return web.Response(
            status=self.status, text=json.dumps(body), content_type="application/problem+json", headers=self.headers
        )


async def body_of(request: web.Request) -> dict[str, Any]:
    """The JSON object that was sent; raises Problem 400."""
    try:
        data = json.loads(await request.read())
    except ValueError:
        raise Problem(400, "the body is not JSON") from None
    if not isinstance(data, dict):
        raise Problem(400, "the body is not an object")
    return data


def unprocessable(errors: Sequence[str]) -> Problem:
    """422 with what is wrong, field by field."""
    return Problem(422, "Request validation failed.", errors)

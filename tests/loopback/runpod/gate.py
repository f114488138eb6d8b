"""The door of each client-facing route: key, scripted faults, rates, one line in the log of requests (no bodies)."""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

from aiohttp import web

from tests.loopback.runpod.endpoint import Endpoint
from tests.loopback.runpod.faults import OF_A_REQUEST, Fault
from tests.loopback.runpod.limits import OverLimit
from tests.loopback.runpod.problem import Problem
from tests.loopback.runpod.world import Key, World

WORLD = web.AppKey("world", World)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
HTML_502 = (
    "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>"
)
STATUS = {"unauthorized": 401, "forbidden": 403, "not_found": 404, "rate_limited": 429, "server_error": 500,
          "bad_gateway": 502}  # fmt: skip
CARRIED_OUT = ("slow_answer", "dropped_answer")


def world_of(request: web.Request) -> World:
    """The account this server is."""
    return request.app[WORLD]


def key_of(request: web.Request, *, bare: bool) -> Key | None:
    """The API key that was sent; bare: also without `Bearer`, as the data plane's samples do. None = unknown."""
    sent = request.headers.get("Authorization", "")
    if sent.startswith("Bearer "):
        sent = sent.removeprefix("Bearer ")
    elif not bare:
        return None
    found = [key for name, key in world_of(request).keys.items() if hmac.compare_digest(name.encode(), sent.encode())]
    return found[0] if found else None


def plain_error(status: int, message: str) -> web.Response:
    """The data plane's errors: only their status is documented, their body is anybody's guess."""
    return web.json_response({"error": message}, status=status)


def endpoint_of(request: web.Request) -> Endpoint:
    """Of the path; raises 404."""
    found = world_of(request).endpoints.get(request.match_info["endpoint"])
    if found is None:
        raise web.HTTPNotFound(text=json.dumps({"error": "endpoint not found"}), content_type="application/json")
    return found


def data_plane(operation: str, handler: Handler) -> Handler:
    """Wrap a serverless operation."""

    async def guarded(request: web.Request) -> web.StreamResponse:
        key = key_of(request, bare=True)
        endpoint_id = request.match_info["endpoint"]
        if key is None:
            return plain_error(401, "unauthorized")
        if not key.may_use(endpoint_id):
            return plain_error(403, "forbidden")
        endpoint = endpoint_of(request)
        rate, now = endpoint.rates.of(operation), world_of(request).clock.now()
        more = endpoint.rates.per_worker.get(operation, 0) * endpoint.fleet.tally()["RUNNING"]
        with ExitStack() as held:
            if rate is not None:
                try:
                    held.enter_context(rate.admit(now, max(0, more - rate.most)))
                except OverLimit:
                    return plain_error(429, "too many requests")
            return await handler(request)

    return _with_faults(operation, guarded, plain_error)


def rest(operation: str, handler: Handler) -> Handler:
    """Wrap a REST v2 operation: problem+json and rate headers on every answer."""

    async def guarded(request: web.Request) -> web.StreamResponse:
        world = world_of(request)
        now = world.clock.now()
        try:
            key = key_of(request, bare=False)
            if key is None:
                raise Problem(401, "missing bearer token")
            if not key.rest:
                raise Problem(403, "access denied")
            with ExitStack() as held:
                for name, rate in world.rest_rates.items():
                    try:
                        held.enter_context(rate.admit(now))
                    except OverLimit:
                        wait = str(int(rate.reset_in(now)) + 1)
                        raise Problem(
                            429, f"rate limit exceeded for the {name} window", (), {"Retry-After": wait}
                        ) from None
                answer = await handler(request)
        except Problem as problem:
            answer = problem.answer()
        answer.headers["RateLimit"] = ", ".join(
            f'"{name}";r={max(0, rate.left(now))};t={int(rate.reset_in(now)) or int(rate.seconds)}'
            for name, rate in world.rest_rates.items()
        )
        answer.headers["RateLimit-Policy"] = ", ".join(
            f'"{name}";q={rate.most};w={int(rate.seconds)}' for name, rate in world.rest_rates.items()
        )
        return answer

    return _with_faults(operation, guarded, lambda status, text: Problem(status, text).answer())


def _with_faults(operation: str, handler: Handler, error: Callable[[int, str], web.Response]) -> Handler:
    async def faulty(request: web.Request) -> web.StreamResponse:
        world = world_of(request)
        seen = {name: request.match_info[name] for name in ("endpoint", "job") if name in request.match_info}
        entry: dict[str, Any] = {"at": world.clock.now(), "op": operation, "method": request.method, "status": 0,
                                 "path": request.path}  # fmt: skip
        world.requests.append(entry)
        fault = world.faults.first(OF_A_REQUEST, world.clock.now(), op=operation, **seen)
        try:
            answer = await (handler(request) if fault is None else _spoilt(request, handler, fault, error))
        except web.HTTPException as problem:
            entry["status"] = problem.status
            raise
        entry["status"] = answer.status
        return answer

    return faulty


async def _spoilt(
    request: web.Request, handler: Handler, fault: Fault, error: Callable[[int, str], web.Response]
) -> web.StreamResponse:
    answer: web.StreamResponse | None = None
    if fault.kind in CARRIED_OUT or fault.values.get("after"):
        answer = await handler(request)
    if fault.kind == "slow_answer" and answer is not None:
        await asyncio.sleep(fault.number("delay", 30))
        return answer
    if fault.kind == "dropped_answer":
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)  # goes nowhere
    if fault.kind == "bad_gateway":
        return web.Response(status=502, text=HTML_502, content_type="text/html")
    spoilt = error(STATUS[fault.kind], fault.kind.replace("_", " "))
    if fault.kind == "rate_limited" and "retry_after" in fault.values:
        spoilt.headers["Retry-After"] = str(fault.values["retry_after"])
    return spoilt

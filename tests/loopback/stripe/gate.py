"""The door of the API: key, idempotency, scripted faults, unknown parameters, expand, one line in the log per request.

The log has no parameters: what customers typed is nobody's business, here neither.
"""

import asyncio
import copy
import hashlib
import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from tests.loopback.stripe import parameters
from tests.loopback.stripe.clock import DAY
from tests.loopback.stripe.encoding import parse
from tests.loopback.stripe.errors import Refusal, invalid
from tests.loopback.stripe.expanding import expand
from tests.loopback.stripe.faults import OF_A_REQUEST, Fault
from tests.loopback.stripe.routes import TABLE, Route
from tests.loopback.stripe.store import Json
from tests.loopback.stripe.world import API_VERSION, Call, World

WORLD = web.AppKey("world", World)
KEY_SECONDS = DAY
HTML_503 = "<html><head><title>503</title></head><body><h1>503 Service Unavailable</h1></body></html>"
NOT_KEPT = frozenset({400, 401, 404, 409, 429})  # refused before anything was done: the key stays free
Handling = Callable[[web.Request], Awaitable[web.StreamResponse]]


def routes() -> list[web.RouteDef]:
    """The whole API, and Stripe's words for what is not there."""
    made = [web.route(route.method, route.path, _guarded(route)) for route in TABLE]
    return [*made, web.route("*", "/v1/{rest:.*}", _unknown), web.route("*", "/v2/{rest:.*}", _unknown)]


async def _unknown(request: web.Request) -> web.Response:
    words = f"Unrecognized request URL ({request.method}: {request.path}). The double has no such operation."
    return answer_of(404, Refusal(404, words).body(), request.app[WORLD].store.new_id("req", 14))


def answer_of(status: int, body: Json, request_id: str, **headers: str) -> web.Response:
    """JSON with Stripe's headers."""
    common = {"Request-Id": request_id, "Stripe-Version": str(headers.pop("version", ""))}
    return web.Response(
        status=status, text=json.dumps(body), content_type="application/json", headers={**common, **headers}
    )


def _guarded(route: Route) -> Handling:
    async def handle(request: web.Request) -> web.StreamResponse:
        world = request.app[WORLD]
        request_id = world.store.new_id("req", 14)
        operation = f"{route.method} {route.path}"
        entry: Json = {
            "at": world.clock.now(), "op": operation, "path": request.path, "status": 0, "id": request_id,
            "idempotency_key": request.headers.get("Idempotency-Key"), "version": request.headers.get("Stripe-Version"),
            "replayed": False, "fault": None,
        }  # fmt: skip
        world.requests.append(entry)
        fault = world.faults.take(OF_A_REQUEST, op=operation)
        entry["fault"] = fault.kind if fault else None
        answer = await _answer(world, route, request, request_id, fault)
        entry.update(status=answer.status, replayed=answer.headers.get("Idempotent-Replayed") == "true")
        return answer

    return handle


async def _answer(
    world: World, route: Route, request: web.Request, request_id: str, fault: Fault | None
) -> web.StreamResponse:
    body = await request.text()
    if fault is not None and not (fault.values.get("after") or fault.kind == "slow"):
        return await _spoilt(request, fault, request_id)
    key = request.headers.get("Idempotency-Key") if route.method == "POST" else None
    print_of = hashlib.sha256(f"{route.method} {request.path}\n{body}".encode()).hexdigest()
    version = request.headers.get("Stripe-Version", "")
    try:
        _check_key(world, request)
        if version not in ("", API_VERSION):
            raise invalid(f"Invalid Stripe API version: {version}")
        before = _kept(world, key, print_of)
        if before is not None:
            status, text = before
            return answer_of(status, text, request_id, version=version, **{"Idempotent-Replayed": "true"})
    except Refusal as refusal:
        return answer_of(refusal.status, refusal.body(), request_id, version=version)
    status, made = _carry_out(world, route, request, body, request_id, key)
    if key and status not in NOT_KEPT:
        kept = world.answers[key] = {"print": print_of, "answer": None, "until": world.clock.now() + KEY_SECONDS}
        if fault is not None and fault.kind == "slow":  # in use meanwhile
            await asyncio.sleep(float(fault.values.get("delay", 1)))
        if fault is not None and fault.kind == "server_error":  # Stripe keeps a 500 as an answer
            status, made = 500, _broken().body()
        kept["answer"] = (status, made)
    elif fault is not None and fault.kind == "slow":
        await asyncio.sleep(float(fault.values.get("delay", 1)))
    if fault is not None and fault.kind != "slow":
        return await _spoilt(request, fault, request_id)
    return answer_of(status, made, request_id, version=version, **({"Idempotency-Key": key} if key else {}))


def _check_key(world: World, request: web.Request) -> None:
    sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not sent:
        raise Refusal(401, "You did not provide an API key.")
    if sent != world.key:
        raise Refusal(401, f"Invalid API Key provided: {sent[:8]}****{sent[-4:]}")


def _kept(world: World, key: str | None, print_of: str) -> tuple[int, Json] | None:
    """The answer that this key had before; raises Refusal 400 for another request, 409 while it is in flight."""
    kept = world.answers.get(key or "")
    if kept is None or kept["until"] <= world.clock.now():
        return None
    if kept["print"] != print_of:
        raise Refusal(
            400, "Keys for idempotent requests can only be used with the same parameters they were first used with. "
            f"Try using a key other than '{key}' if you meant to execute a different request.",
            kind="idempotency_error",
        )  # fmt: skip
    if kept["answer"] is None:
        raise Refusal(
            409, "There is currently another in-progress request using this Idempotent Key (that probably means you "
            f"submitted twice, and the other request is still going through): {key}. Please try again later.",
            kind="idempotency_error", code="idempotency_key_in_use",
        )  # fmt: skip
    return kept["answer"]  # type: ignore[no-any-return]


def _carry_out(
    world: World, route: Route, request: web.Request, body: str, request_id: str, key: str | None
) -> tuple[int, Json]:
    try:
        params = _params(request, body)
        parameters.check(route.params, params)
        wished = params.pop("expand", [])
        ids = tuple(request.match_info.values())
        world.asking = Call(ids, params, request_id, key, request.path)
        made = copy.deepcopy(route.handler(world, world.asking))
        expand(world, made, list(wished) if isinstance(wished, list) else [wished])
    except Refusal as refusal:
        extra = {"request_log_url": f"{world.base_url}/_control/requests", **refusal.body()["error"]}
        return refusal.status, {"error": extra}
    finally:
        world.asking = None
    return 200, made


def _params(request: web.Request, body: str) -> dict[str, Any]:
    if request.method in ("GET", "DELETE") and not body:
        return parse(request.query.items())
    kind = request.headers.get("Content-Type", "")
    if body and not kind.startswith("application/x-www-form-urlencoded"):
        raise invalid("Invalid request: the body must be form-encoded.")
    return parse([*request.query.items(), *parse_qsl(body, keep_blank_values=True)])


def _broken() -> Refusal:
    return Refusal(500, "An unknown error occurred.", kind="api_error")


async def _spoilt(request: web.Request, fault: Fault, request_id: str) -> web.StreamResponse:
    headers = {} if "retry" not in fault.values else {"Stripe-Should-Retry": str(fault.values["retry"]).lower()}
    match fault.kind:
        case "timeout":
            await asyncio.sleep(float(fault.values.get("delay", 30)))
        case "rate_limited":
            refusal = Refusal(429, "Request rate limit exceeded.", code="rate_limit")
            return answer_of(429, refusal.body(), request_id, **headers)
        case "server_error":
            return answer_of(500, _broken().body(), request_id, **headers)
        case "unavailable":
            return web.Response(status=503, text=HTML_503, content_type="text/html")
        case "key_refused":
            return answer_of(401, Refusal(401, "Expired API Key provided.", code="api_key_expired").body(), request_id)
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=500)  # goes nowhere

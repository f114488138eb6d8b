"""The director's door, /_control: what the account looks like inside, and what shall happen. No key: loopback only.

GET  /_control/state                       clock, endpoints, workers, faults          GET /_control/kinds  all faults
POST /_control/clock {"advance": seconds} or {"to": RFC 3339}
POST /_control/faults {"fault": …}         GET, DELETE /_control/faults[/ID]
GET  /_control/bill, /_control/requests, /_control/jobs, /_control/webhooks
POST /_control/account {"balance_usd", "worker_quota", "billing_lag_seconds", "rest_per_minute"}
POST /_control/keys {"key", "rest", "endpoints"}           DELETE /_control/keys/KEY
POST /_control/images {"pattern", "command", "env", "cwd"}
POST /_control/endpoints {"id", …REST v2 body}             without quota
POST /_control/endpoints/ID/habits {…Habits}
POST /_control/endpoints/ID/rates {"op", "most", "at_once", "per_worker"}
POST /_control/workers/ID/signal {"signal": "KILL"}
"""

import contextlib
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.loopback.runpod.clock import moment, rfc3339
from tests.loopback.runpod.faults import KINDS
from tests.loopback.runpod.gate import world_of
from tests.loopback.runpod.launcher import ROOT, Image
from tests.loopback.runpod.ledger import NANO
from tests.loopback.runpod.limits import Rate
from tests.loopback.runpod.problem import Problem, body_of
from tests.loopback.runpod.rest_serverless import serverless_template
from tests.loopback.runpod.settings import EndpointSettings
from tests.loopback.runpod.world import Key, World

Turn = Callable[[World, web.Request], Awaitable[Any]]


def routes() -> list[web.RouteDef]:
    """All of it."""
    table: tuple[tuple[str, str, Turn], ...] = (
        ("GET", "state", state),
        ("GET", "kinds", kinds),
        ("GET", "clock", clock),
        ("POST", "clock", move_clock),
        ("GET", "faults", faults),
        ("POST", "faults", add_fault),
        ("DELETE", "faults", clear_faults),
        ("DELETE", "faults/{id}", clear_faults),
        ("GET", "bill", bill),
        ("GET", "requests", requests),
        ("GET", "jobs", jobs),
        ("GET", "webhooks", webhooks),
        ("POST", "account", account),
        ("POST", "keys", add_key),
        ("DELETE", "keys/{id}", remove_key),
        ("POST", "images", add_image),
        ("POST", "endpoints", add_endpoint),
        ("POST", "endpoints/{id}/habits", habits),
        ("POST", "endpoints/{id}/rates", rates),
        ("POST", "workers/{id}/signal", send_signal),
    )
    return [web.route(method, f"/_control/{path}", _told(turn)) for method, path, turn in table]


def _told(turn: Turn) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        try:
            return web.json_response(await turn(world_of(request), request))
        except Problem as problem:
            return problem.answer()
        except (ValueError, TypeError, KeyError, LookupError) as problem:
            return web.json_response({"error": f"{type(problem).__name__}: {problem}"}, status=400)

    return answer


async def state(world: World, _: web.Request) -> Any:
    """Everything at a glance."""
    return {
        "clock": clock_json(world),
        "endpoints": {endpoint.id: endpoint.inside() for endpoint in world.endpoints.values()},
        "pods": {pod.id: pod.status for pod in world.pods.all.values()},
        "faults": world.faults.to_json(),
        "balance_nanousd": world.ledger.balance_nanousd(),
        "spent_nanousd": world.ledger.spent_nanousd(),
        "worker_quota": world.quota(),
        "worker_key": world.worker_key,
        "mark": world.guard.mark,
    }


async def kinds(_: World, __: web.Request) -> Any:
    """Each fault with what it does."""
    return {kind: {"times": times, "does": text} for kind, (times, text) in KINDS.items()}


def clock_json(world: World) -> dict[str, Any]:
    """Now."""
    now = world.clock.now()
    return {"now": now, "time": rfc3339(now)}


async def clock(world: World, _: web.Request) -> Any:
    """Now."""
    return clock_json(world)


async def move_clock(world: World, request: web.Request) -> Any:
    """Forward only; all that is due on the way happens before this answers."""
    data = await body_of(request)
    seconds = float(data["advance"]) if "advance" in data else moment(data["to"]) - world.clock.now()
    if seconds < 0:
        raise ValueError("the clock does not go back")
    await world.advance(seconds)
    return clock_json(world)


async def faults(world: World, _: web.Request) -> Any:
    """Those in force."""
    return world.faults.to_json()


async def add_fault(world: World, request: web.Request) -> Any:
    """One more."""
    return world.add_fault(await body_of(request)).to_json()


async def clear_faults(world: World, request: web.Request) -> Any:
    """One, or all."""
    given = request.match_info.get("id")
    world.faults.clear(None if given is None else int(given))
    world.tick()
    return world.faults.to_json()


async def bill(world: World, _: web.Request) -> Any:
    """Every lifetime, without the lag of the real billing."""
    now = world.clock.now()
    lives = [life.to_json(now) for life in world.ledger.lifetimes]
    return {"lifetimes": lives, "total_nanousd": world.ledger.spent_nanousd(), "now": now}


async def requests(world: World, request: web.Request) -> Any:
    """What clients asked, without bodies; ?op= for one operation."""
    asked = request.query.get("op")
    return [entry for entry in world.requests if asked is None or entry["op"] == asked]


async def jobs(world: World, _: web.Request) -> Any:
    """Every job ever, forgotten ones too, with the workers that were given it."""
    return [job.summary() | {"endpoint": each.id} for each in world.endpoints.values() for job in each.queue.history]


async def webhooks(world: World, _: web.Request) -> Any:
    """Deliveries and what they were answered."""
    return world.webhooks.log


async def account(world: World, request: web.Request) -> Any:
    """Money and quota."""
    data = await body_of(request)
    if "balance_usd" in data:
        world.ledger.set_balance(round(float(data["balance_usd"]) * NANO))
    if "worker_quota" in data:
        world.worker_quota = None if data["worker_quota"] is None else int(data["worker_quota"])
    if "billing_lag_seconds" in data:
        world.ledger.lag_seconds = float(data["billing_lag_seconds"])
    if "rest_per_minute" in data:
        world.rest_rates["minute"] = Rate(int(data["rest_per_minute"]), None, 60.0)
    world.tick()
    return {"balance_nanousd": world.ledger.balance_nanousd(), "worker_quota": world.quota()}


async def add_key(world: World, request: web.Request) -> Any:
    """A key, restricted perhaps."""
    data = await body_of(request)
    only = data.get("endpoints")
    world.keys[str(data["key"])] = Key(data.get("rest", True) is True, None if only is None else frozenset(only))
    return sorted(world.keys)


async def remove_key(world: World, request: web.Request) -> Any:
    """Revoke it."""
    del world.keys[request.match_info["id"]]
    return sorted(world.keys)


async def add_image(world: World, request: web.Request) -> Any:
    """From now on an image of this name is this command."""
    data = await body_of(request)
    command = [str(word) for word in data["command"]]
    image = Image(str(data["pattern"]), command, dict(data.get("env") or {}), Path(data.get("cwd") or ROOT))
    world.launcher.images.append(image)
    return [each.pattern for each in world.launcher.images]


async def add_endpoint(world: World, request: web.Request) -> Any:
    """With an id of one's own and habits, whatever the quota."""
    data = await body_of(request)
    endpoint_id, own = data.pop("id", None), data.pop("habits", {})
    settings = EndpointSettings.create(data, serverless_template(world, data))
    before = world.habits
    try:
        world.habits = before.changed(own)
        return world.add_endpoint(settings, endpoint_id).to_json(world.base_url)
    finally:
        world.habits = before


async def habits(world: World, request: web.Request) -> Any:
    """Change some."""
    endpoint = world.endpoints[request.match_info["id"]]
    endpoint.change_habits(await body_of(request))
    endpoint.tick()
    return vars(endpoint.habits)


async def rates(world: World, request: web.Request) -> Any:
    """Another limit for one operation."""
    data = await body_of(request)
    limits, operation = world.endpoints[request.match_info["id"]].rates, str(data["op"])
    limits.set(operation, int(data["most"]), data.get("at_once"))
    limits.per_worker[operation] = int(data.get("per_worker", 0))
    return data


async def send_signal(world: World, request: web.Request) -> Any:
    """To a worker's first process."""
    number = signal.Signals[f"SIG{(await body_of(request))['signal']}"]
    wanted = request.match_info["id"]
    for endpoint in world.endpoints.values():
        worker = endpoint.fleet.workers.get(wanted)
        if worker is not None and worker.process is not None and worker.process.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.process.pid, number)
            return {"sent": number.name}
    raise LookupError(f"no worker {wanted} with a process")

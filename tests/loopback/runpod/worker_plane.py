"""What the SDK's worker calls: job-take, job-take-batch, job-stop, job-done, job-stream, ping.

Workers send the bare key they were started with. A take is held open; answering it at once would make the SDK spin.
"""

import asyncio
import hmac
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.loopback.runpod.endpoint import Endpoint
from tests.loopback.runpod.faults import Fault
from tests.loopback.runpod.gate import WORLD, plain_error, world_of
from tests.loopback.runpod.jobs import NOTHING, Job
from tests.loopback.runpod.limits import CHUNK_BYTES, RUN_BYTES, RUNSYNC_BYTES
from tests.loopback.runpod.workers import Phase, Worker

LOOK_REAL_SECONDS = 0.25  # a worker that may not take yet is looked at again
CALM_REAL_SECONDS = 0.2  # before an answer that would make the SDK ask again at once
Turn = Callable[[web.Request, Endpoint, Worker], Awaitable[web.Response]]


def routes() -> list[web.RouteDef]:
    """All of it."""
    base = "/v2/{endpoint}"
    return [
        web.get(base + "/job-take/{worker}", _for_worker(take)),
        web.get(base + "/job-take-batch/{worker}", _for_worker(take_batch)),
        web.get(base + "/job-stop/{worker}", _for_worker(job_stop)),
        web.post(base + "/job-done/{worker}/{job}", done),
        web.post(base + "/job-stream/{worker}/{job}", job_stream),
        web.get(base + "/ping/{worker}", _for_worker(ping)),
    ]


def _allowed(request: web.Request) -> bool:
    return hmac.compare_digest(request.headers.get("Authorization", "").encode(), world_of(request).worker_key.encode())


def _for_worker(turn: Turn) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def checked(request: web.Request) -> web.Response:
        if not _allowed(request):
            return plain_error(401, "unauthorized")
        endpoint = world_of(request).endpoints.get(request.match_info["endpoint"])
        worker = endpoint.fleet.workers.get(request.match_info["worker"]) if endpoint else None
        if endpoint is None or worker is None:
            await asyncio.sleep(CALM_REAL_SECONDS)
            return plain_error(404, "no such worker")
        return await turn(request, endpoint, worker)

    return checked


# --- Jobs to the worker -----------------------------------------------------------------------------------------


async def take(request: web.Request, endpoint: Endpoint, worker: Worker) -> web.Response:
    """One job as an object, or 204."""
    jobs = await _jobs(request, endpoint, worker, 1)
    return jobs if isinstance(jobs, web.Response) else web.json_response(jobs[0].for_worker())


async def take_batch(request: web.Request, endpoint: Endpoint, worker: Worker) -> web.Response:
    """Up to `batch_size` jobs as a list, or 204."""
    most = max(1, int(request.query.get("batch_size", "1")))
    jobs = await _jobs(request, endpoint, worker, most)
    return jobs if isinstance(jobs, web.Response) else web.json_response([job.for_worker() for job in jobs])


async def _jobs(request: web.Request, endpoint: Endpoint, worker: Worker, most: int) -> list[Job] | web.Response:
    world = world_of(request)
    seen = {"endpoint": endpoint.id, "worker": worker.id}
    if refused := world.faults.take("take_refused", world.clock.now(), **seen):
        await asyncio.sleep(CALM_REAL_SECONDS)
        return plain_error(int(refused.number("status", 500)), "refused")
    give_up = time.monotonic() + endpoint.habits.take_hold_real_seconds
    while not world.closing and worker.phase is not Phase.STOPPING and (left := give_up - time.monotonic()) > 0:
        if endpoint.fleet.may_take(worker) and (jobs := endpoint.queue.take(worker.id, most)):
            return _handed_over(request, endpoint, worker, jobs)
        waits_for_jobs = worker.phase is Phase.READY and world.clock.now() >= worker.due_at
        await endpoint.queue.changed.wait(left if waits_for_jobs else min(left, LOOK_REAL_SECONDS))
    if worker.phase is Phase.STOPPING:
        await asyncio.sleep(CALM_REAL_SECONDS)  # it has not noticed its SIGTERM yet
    return web.Response(status=204)


def _handed_over(request: web.Request, endpoint: Endpoint, worker: Worker, jobs: list[Job]) -> list[Job] | web.Response:
    world = world_of(request)
    worker.jobs |= {job.id for job in jobs if not job.final}
    worker.idle_since = None if worker.jobs else worker.idle_since
    for job in jobs:
        seen = {"endpoint": endpoint.id, "worker": worker.id, "job": job.id, "input": job.input}
        if crash := world.faults.take("worker_crash", world.clock.now(), **seen):
            asyncio.get_running_loop().call_later(crash.number("delay", 0), _kill, worker)
        if world.faults.take("worker_hang", world.clock.now(), **seen):
            asyncio.get_running_loop().call_later(CALM_REAL_SECONDS, _freeze, worker)
        if world.faults.take("lost_take", world.clock.now(), **seen):
            return web.Response(status=204)
    return jobs


def _kill(worker: Worker) -> None:
    if worker.process is not None:
        worker.process.kill()


def _freeze(worker: Worker) -> None:
    if worker.process is not None:
        worker.process.freeze()


async def job_stop(request: web.Request, endpoint: Endpoint, worker: Worker) -> web.Response:
    """Held open until a job of this worker shall stop."""
    world = world_of(request)
    give_up = time.monotonic() + endpoint.habits.take_hold_real_seconds
    while not worker.stops and not world.closing and worker.phase is not Phase.STOPPING:
        left = give_up - time.monotonic()
        if left <= 0 or worker.id not in endpoint.fleet.workers:
            break
        await worker.stop_pulse.wait(left)
    if not worker.stops:
        return web.Response(status=204)
    stops, worker.stops = worker.stops, []
    return web.json_response({"jobsToStop": stops})


async def ping(request: web.Request, endpoint: Endpoint, worker: Worker) -> web.Response:
    """It lives; `status=unhealthy` when a fitness check of its own failed."""
    worker.last_ping_at = world_of(request).clock.now()
    if request.query.get("status") == "unhealthy":
        endpoint.fleet.fail(worker, f"fitness check {request.query.get('check', '')} failed")
    return web.Response()


# --- Results from the worker ------------------------------------------------------------------------------------


def _sender(request: web.Request) -> tuple[Endpoint, Job] | web.Response:
    """Whose job it is; the worker itself may be gone from the list meanwhile."""
    if not _allowed(request):
        return plain_error(401, "unauthorized")
    endpoint = request.app[WORLD].endpoints.get(request.match_info["endpoint"])
    job = endpoint.queue.find(request.match_info["job"]) if endpoint else None
    if endpoint is None or job is None:
        if endpoint is not None:
            endpoint.fleet.released(request.match_info["worker"], request.match_info["job"])
        return plain_error(404, "no such job")
    return endpoint, job


def _no_nan(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


async def done(request: web.Request) -> web.Response:
    """A result, or a progress update; the body is JSON whatever its content type says."""
    found = _sender(request)
    if isinstance(found, web.Response):
        return found
    endpoint, job = found
    world, data = world_of(request), await request.read()
    seen = {"endpoint": endpoint.id, "worker": request.match_info["worker"], "job": job.id, "input": job.input}
    spoilt = world.faults.first(("done_refused", "done_dropped"), world.clock.now(), **seen)
    if spoilt is not None:
        return _not_recorded(endpoint, request, spoilt)
    if len(data) > (RUNSYNC_BYTES if job.sync else RUN_BYTES):
        return plain_error(400, "the result is too large")
    try:
        body = json.loads(data, parse_constant=_no_nan if endpoint.habits.refuse_nan else None)
    except ValueError:
        return plain_error(400, "the result is not JSON")
    _record(endpoint, job, request.match_info["worker"], body if isinstance(body, dict) else {})
    return web.Response()


def _not_recorded(endpoint: Endpoint, request: web.Request, fault: Fault) -> web.Response:
    if fault.kind == "done_dropped":
        return web.Response()
    return plain_error(int(fault.number("status", 500)), "refused")


def _record(endpoint: Endpoint, job: Job, worker_id: str, body: dict[str, Any]) -> None:
    if body.get("status") == "IN_PROGRESS":
        endpoint.queue.progress(job.id, body.get("output"))
        return
    error = body.get("error")
    endpoint.queue.finish(
        job, output=body.get("output", NOTHING), error=error if isinstance(error, str) else None
    )  # an error that is no string was seen to end as COMPLETED
    endpoint.fleet.released(worker_id, job.id)
    worker = endpoint.fleet.workers.get(worker_id)
    if body.get("stopPod") and worker is not None:
        endpoint.fleet.stop(worker, endpoint.around.clock.now())


async def job_stream(request: web.Request) -> web.Response:
    """A partial output."""
    found = _sender(request)
    if isinstance(found, web.Response):
        return found
    endpoint, job = found
    data = await request.read()
    if len(data) > CHUNK_BYTES:
        return plain_error(400, "the chunk is too large")
    try:
        body = json.loads(data)
    except ValueError:
        return plain_error(400, "the chunk is not JSON")
    endpoint.queue.chunk(job.id, body)
    return web.Response()

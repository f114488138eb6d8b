"""The serverless data plane: run, runsync, status, stream, cancel, retry, purge-queue, health."""

import asyncio
import contextlib
import json
from typing import Any

from aiohttp import web

from tests.loopback.runpod.endpoint import Endpoint
from tests.loopback.runpod.gate import data_plane, endpoint_of, plain_error, world_of
from tests.loopback.runpod.jobqueue import NotPossible, QueueFull
from tests.loopback.runpod.jobs import FINAL, Job, Malformed, Status
from tests.loopback.runpod.limits import RUN_BYTES, RUNSYNC_BYTES

WAIT_MS = (1000, 300_000)
DEFAULT_WAIT_MS = 90_000
RAW = "raw-json-goes-here"


def routes() -> list[web.RouteDef]:
    """All of it."""
    table = (
        ("POST", "run", "", run),
        ("POST", "runsync", "", runsync),
        ("GET", "status", "/{job}", status),
        ("GET", "stream", "/{job}", stream),
        ("POST", "cancel", "/{job}", cancel),
        ("POST", "retry", "/{job}", retry),
        ("POST", "purge-queue", "", purge_queue),
        ("GET", "health", "", health),
    )
    return [
        web.route(method, f"/v2/{{endpoint}}/{name}{rest}", data_plane(name, handler))
        for method, name, rest, handler in table
    ]


async def _submit(request: web.Request, *, sync: bool, wait_seconds: float) -> Job | web.Response:
    endpoint = endpoint_of(request)
    data = await request.read()
    if len(data) > (RUNSYNC_BYTES if sync else RUN_BYTES):
        return plain_error(400, "the body is too large")
    try:
        body = json.loads(data)
        most = endpoint.settings.workers["max"]
        job = endpoint.queue.submit(body, sync=sync, wait_seconds=wait_seconds, max_workers=most)
    except Malformed as problem:
        return plain_error(400, str(problem))
    except QueueFull:
        return plain_error(429, "the queue is full")
    except ValueError:
        return plain_error(400, "the body is not JSON")
    endpoint.submitted(job)
    return job


async def run(request: web.Request) -> web.Response:
    """Accept and answer at once."""
    job = await _submit(request, sync=False, wait_seconds=0)
    return job if isinstance(job, web.Response) else web.json_response({"id": job.id, "status": job.status.value})


async def runsync(request: web.Request) -> web.Response:
    """Accept and wait for the end, by the clock; else answer as /status would."""
    given = request.query.get("wait")
    try:
        wait = DEFAULT_WAIT_MS if given is None else int(given)
    except ValueError:
        return plain_error(400, "wait is no number")
    if not WAIT_MS[0] <= wait <= WAIT_MS[1]:
        return plain_error(400, f"wait is not between {WAIT_MS[0]} and {WAIT_MS[1]}")
    job = await _submit(request, sync=True, wait_seconds=wait / 1000 if given else 0)
    if isinstance(job, web.Response):
        return job
    await _finished(request, job, wait / 1000)
    return _shown(request, endpoint_of(request), job)


async def _finished(request: web.Request, job: Job, seconds: float) -> None:
    """Until the job has ended or the clock has gone on by so much."""
    both = [
        asyncio.ensure_future(job.finished.wait()),
        asyncio.ensure_future(world_of(request).clock.sleep(seconds)),
    ]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiting in both:
            waiting.cancel()


def _job(request: web.Request, endpoint: Endpoint) -> Job | None:
    endpoint.queue.sweep(world_of(request).clock.now())  # nothing is seen past its time
    return endpoint.queue.find(request.match_info["job"])


def _unknown() -> web.Response:
    return plain_error(404, "job not found")


async def status(request: web.Request) -> web.Response:
    """State, times, output; `?ttl=ms` shortens how long it is kept."""
    endpoint, world = endpoint_of(request), world_of(request)
    job = _job(request, endpoint)
    seen = {"op": "status", "endpoint": endpoint.id, "job": request.match_info["job"]}
    if job is None:
        return _unknown()
    if lost := world.faults.take("early_404", world.clock.now(), **seen):
        if lost.values.get("forget"):
            endpoint.queue.forget(job)
        return _unknown()
    with contextlib.suppress(ValueError, KeyError):
        endpoint.queue.keep_until(job, world.clock.now() + int(request.query["ttl"]) / 1000)
    return _shown(request, endpoint, job)


def _shown(request: web.Request, endpoint: Endpoint, job: Job) -> web.Response:
    """The job as a client sees it, which faults may bend."""
    world, body = world_of(request), job.seen()
    now, seen = world.clock.now(), {"endpoint": endpoint.id, "job": job.id, "input": job.input}
    if job.status is Status.IN_PROGRESS:
        if named := world.faults.take("status_named", now, **seen):
            body["status"] = str(named.values.get("status", "RUNNING"))
    elif job.final and job.shown_final and (late := world.faults.take("progress_after_done", now, **seen)):
        body = {"id": job.id, "status": Status.IN_PROGRESS.value, "output": late.values.get("output")}
    elif job.status is Status.COMPLETED and (other := world.faults.take("output_replaced", now, **seen)):
        return _replaced(body, other.values)
    job.shown_final = job.shown_final or job.status in FINAL
    return web.json_response(body)


def _replaced(body: dict[str, Any], values: Any) -> web.Response:
    body["output"] = RAW if "raw" in values else values.get("output")
    text = json.dumps(body)
    if "raw" in values:
        text = text.replace(json.dumps(RAW), str(values["raw"]))
    return web.Response(text=text, content_type="application/json")


async def stream(request: web.Request) -> web.Response:
    """Partial outputs since the last call."""
    job = _job(request, endpoint_of(request))
    if job is None:
        return _unknown()
    chunks, job.chunks = job.chunks, []
    return web.json_response({"status": job.status.value, "stream": chunks})


async def cancel(request: web.Request) -> web.Response:
    """In the queue or running; a job that has ended keeps its end."""
    endpoint = endpoint_of(request)
    job = _job(request, endpoint)
    if job is None:
        return _unknown()
    endpoint.queue.cancel(job)
    return web.json_response({"id": job.id, "status": job.status.value})


async def retry(request: web.Request) -> web.Response:
    """A failed or timed out job once more, under the same id."""
    endpoint = endpoint_of(request)
    job = _job(request, endpoint)
    if job is None:
        return _unknown()
    try:
        endpoint.queue.retry(job)
    except NotPossible as problem:
        return plain_error(400, str(problem))
    endpoint.submitted(job)
    return web.json_response({"id": job.id, "status": job.status.value})


async def purge_queue(request: web.Request) -> web.Response:
    """All that wait."""
    return web.json_response({"removed": endpoint_of(request).queue.purge(), "status": "completed"})


async def health(request: web.Request) -> web.Response:
    """Jobs and workers by state."""
    return web.json_response(endpoint_of(request).health())

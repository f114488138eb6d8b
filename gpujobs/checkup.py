"""Is the RunPod endpoint fit to score? One function a question, each answered by a Finding with what to do about it.

Read only, but for the one-text job, which wakes a worker and costs what its start costs. Nothing here raises for what
it finds; no key, text or message of a worker is part of a finding.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from django.conf import settings

from gpujobs import endpoints, registry
from gpujobs.backends import BackendError
from gpujobs.backends.runpod import BREAKER_NAME, policy_of, why_queued
from gpujobs.backends.runpod_http import Job, RunpodHttp, cadence
from gpujobs.breaker import Breaker
from gpujobs.endpoint_plan import PlanError, plan
from gpujobs.endpoints import NotFound
from gpujobs.pod.contract import ContractError, ScoreRequest, ScoreResponse, TextIn
from gpujobs.providers.runpod_rest import FORBIDDEN, MISSING, NANO, UNAUTHORIZED, Resource, RunpodError, RunpodRest
from inkcloak.errors import DomainError

State = Literal["ok", "warning", "trouble"]

FIRST_WAIT_SECONDS = 60.0  # of the job in one request; then it is asked after
PROBE = (
    "The ferry was late again, so we walked along the quay and counted the gulls on the roof of the customs house. "
    "My brother said there were more of them last year, but he says that about everything, including the rain."
)
FIXES = {
    UNAUTHORIZED: "RunPod refuses RUNPOD_API_KEY: make a new one in its console and set it for web and workers.",
    FORBIDDEN: "Give the key read access to the API, or look in RunPod's console yourself.",
    MISSING: "Correct RUNPOD_ENDPOINT_ID, or empty it and run: manage.py runpod_deploy --yes",
    "runpod_unauthorized": "RunPod refuses RUNPOD_API_KEY: make a new one in its console and set it everywhere.",
    "runpod_forbidden": "The key may not use this endpoint: give it read and write access to it in RunPod's console.",
    "runpod_unpaid": "The account needs credit.",
    "runpod_endpoint_missing": "Correct RUNPOD_ENDPOINT_ID, or empty it and run: manage.py runpod_deploy --yes",
    "runpod_no_worker": "No worker came: see max workers, balance, and the account's quota of workers.",
    "runpod_throttled": "No card of these pools is free: put more pools into RUNPOD_GPU_POOLS and deploy.",
    "runpod_workers_unhealthy": "Workers fail at their start: read a worker's log in RunPod's console.",
    "runpod_cold_start": "A worker is still starting (the first time its image is pulled): try again with --wait 600.",
    "runpod_timed_out": "It took longer than RUNPOD_EXECUTION_SECONDS: read a worker's log in RunPod's console.",
    "contract": "The image speaks another version of our contract: deploy the image of this release.",
}
LOGS = "Read a worker's log in RunPod's console."


@dataclass(frozen=True, slots=True)
class Finding:
    """fix: what to do; empty where nothing is to be done."""

    name: str
    state: State
    says: str
    fix: str = ""


def examine(
    rest: RunpodRest,
    http: RunpodHttp,
    *,
    job_seconds: float = 240.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Finding]:
    """Question by question; behind a shut door nothing more is asked. job_seconds: 0 = no job is sent."""
    missing = [name for name in ("RUNPOD_API_KEY", "RUNPOD_ENDPOINT_ID") if not getattr(settings, name)]
    if missing:
        yield Finding(
            "settings", "trouble", f"{' and '.join(missing)} not set", "docs/runpod.md says where to get them."
        )
        return
    key = the_key(http)
    yield key
    if key.state == "trouble":
        return
    endpoint, finding = the_endpoint(rest)
    yield finding
    can_start = []  # without these no worker would come for a job
    if endpoint is not None:
        can_start.append(the_scaler(endpoint))
        yield can_start[-1]
        yield the_settings(rest)
        yield the_workers(rest)
    can_start.append(the_balance(rest))
    yield can_start[-1]
    yield the_breaker()
    if any(each.state == "trouble" for each in can_start):
        yield Finding("model", "warning", "not asked: no worker would come")
    elif job_seconds:
        yield the_model(http, job_seconds, sleep)


def the_key(http: RunpodHttp) -> Finding:
    """Does the data plane take our key for this endpoint?"""
    try:
        health = http.health()
    except BackendError as error:
        return Finding("key", "trouble", _words(error.code), FIXES.get(error.code, _away(settings.RUNPOD_BASE_URL)))
    queued, running = (health.jobs.get(name, 0) for name in ("inQueue", "inProgress"))
    return Finding("key", "ok", f"accepted; {queued} jobs wait, {running} run")


def the_endpoint(rest: RunpodRest) -> tuple[Resource | None, Finding]:
    """Does the management show it to us?"""
    try:
        found = rest.endpoint(settings.RUNPOD_ENDPOINT_ID)
    except RunpodError as error:
        state: State = "warning" if error.code == FORBIDDEN else "trouble"
        return None, Finding("endpoint", state, str(error), FIXES.get(error.code, _away(settings.RUNPOD_REST_URL)))
    image = found.fields.get("image")
    return found, Finding("endpoint", "ok", f"{found.name} ({found.id})" + (f", image {image}" if image else ""))


def the_scaler(endpoint: Resource) -> Finding:
    """May it start workers at all? RunPod lowers the maximum of an endpoint that nobody uses."""
    workers = endpoint.fields.get("workers")
    most = workers.get("max") if isinstance(workers, Mapping) else None
    if most == 0:
        says = "max workers is 0, as RunPod sets it after 7 days without requests: nothing will ever be scored"
        return Finding("scaler", "trouble", says, "manage.py runpod_deploy --yes raises it.")
    if isinstance(most, int) and most < settings.RUNPOD_WORKERS_MAX:
        says = f"max workers is {most}, wanted {settings.RUNPOD_WORKERS_MAX}; 3 days without requests lower it"
        return Finding("scaler", "warning", says, "manage.py runpod_deploy --yes raises it.")
    return Finding("scaler", "ok", f"up to {most} workers")


def the_settings(rest: RunpodRest) -> Finding:
    """Is everything else as our settings want it?"""
    if not settings.RUNPOD_IMAGE:
        return Finding("settings", "ok", "not compared: RUNPOD_IMAGE is not set")
    try:
        want = endpoints.wanted()
        found = endpoints.find(rest, want, settings.RUNPOD_ENDPOINT_ID)
    except (PlanError, NotFound, RunpodError) as error:
        return Finding("settings", "warning", str(error), "manage.py runpod_deploy shows more.")
    todo = plan(want, endpoint=found.endpoint, template=found.template)
    names = [f"{step.what}.{line.name}" for step in todo.steps if step.id for line in step.lines]
    names += [f"{step.what} (missing)" for step in todo.steps if not step.id] + list(todo.refused)
    if names:
        return Finding(
            "settings", "warning", f"other than wanted: {', '.join(names)}", "manage.py runpod_deploy shows how."
        )
    return Finding("settings", "ok", "as wanted")


def the_workers(rest: RunpodRest) -> Finding:
    """Who is there, and is somebody kept from working?"""
    try:
        workers = rest.workers(settings.RUNPOD_ENDPOINT_ID)
    except RunpodError as error:
        return Finding("workers", "warning", str(error), FIXES.get(error.code, ""))
    states = [worker.status for worker in workers]
    says = ", ".join(f"{states.count(state)} {state.lower()}" for state in sorted(set(states)))
    stale = sum(worker.stale for worker in workers)
    says += f" ({stale} still of an older version)" if stale else ""
    if "UNHEALTHY" in states:
        return Finding("workers", "trouble", says, FIXES["runpod_workers_unhealthy"])
    if "THROTTLED" in states:
        return Finding("workers", "warning", says, FIXES["runpod_throttled"])
    return Finding("workers", "ok", says or "none now: it has scaled to zero")


def the_balance(rest: RunpodRest) -> Finding:
    """For how long will RunPod go on?"""
    try:
        found = rest.balance()
    except RunpodError as error:
        fix = FIXES.get(error.code, "Give the key read access to the API, or look in RunPod's console yourself.")
        return Finding("balance", "warning", str(error), fix)
    says = f"${found.balance_nanousd / NANO:,.2f}"
    if found.spend_nanousd_per_hour:
        hours = found.balance_nanousd / found.spend_nanousd_per_hour
        says += f", ${found.spend_nanousd_per_hour / NANO:,.2f} an hour now: {hours:,.0f} hours"
    if found.balance_nanousd <= 0:
        return Finding("balance", "trouble", says, "Add credit: without it no worker starts.")
    if found.balance_nanousd < settings.RUNPOD_LOW_BALANCE_USD * NANO:
        return Finding("balance", "warning", says, f"Add credit: it is below ${settings.RUNPOD_LOW_BALANCE_USD}.")
    return Finding("balance", "ok", says)


def the_breaker() -> Finding:
    """Do our own workers ask RunPod at the moment?"""
    seen = Breaker(BREAKER_NAME).read()
    if seen.state == "closed":
        return Finding("breaker", "ok", "closed")
    says = f"{seen.state.replace('_', ' ')} after {seen.failures} failures, the last: {_words(seen.code)}"
    return Finding("breaker", "warning", says, FIXES.get(seen.code, "It closes by itself once RunPod answers again."))


def the_model(http: RunpodHttp, seconds: float, sleep: Callable[[float], None]) -> Finding:
    """Does a text come back scored, by the model that the site has in service?"""
    try:
        champion = registry.resolve().pk
    except DomainError:
        return Finding("model", "trouble", "no model is registered here", "manage.py register_shipped_model")
    request = ScoreRequest(f"doctor-{uuid.uuid4()}", 1, champion, (TextIn("0", PROBE, "en"),))
    body = {"input": request.to_json(), "policy": policy_of(seconds, settings.RUNPOD_EXECUTION_SECONDS, wake=True)}
    try:
        job = _run(http, body, seconds, sleep)
    except BackendError as error:
        return Finding("model", "trouble", _words(error.code), FIXES.get(error.code, LOGS))
    if job.status != "COMPLETED":
        says = f"the job ended as {job.status}" + (
            f": {job.error or job.error_type}" if job.error or job.error_type else ""
        )
        return Finding(
            "model", "trouble", says, FIXES.get(job.error) or FIXES.get(f"runpod_{job.status.lower()}") or LOGS
        )
    try:
        answer = ScoreResponse.from_json(job.output if isinstance(job.output, dict) else {})
    except ContractError as error:
        return Finding("model", "trouble", str(error), FIXES["contract"])
    return _verdict(answer, champion, job)


# --- Inside ---------------------------------------------------------------------------------------------------------


def _run(http: RunpodHttp, body: Mapping[str, object], seconds: float, sleep: Callable[[float], None]) -> Job:
    """Its end. Raises BackendError, also when the time is over: with the reason as far as workers tell it."""
    deadline = time.monotonic() + seconds
    job, _ = http.submit_and_wait(lambda _: dict(body), min(seconds, FIRST_WAIT_SECONDS))
    for pause in cadence():
        if job.final:
            break
        left = deadline - time.monotonic()
        if left <= 0:
            http.cancel(job.id)
            code = why_queued(http.health()) if job.status == "IN_QUEUE" else "runpod_deadline"
            raise BackendError(code, permanent=False)
        sleep(min(pause, left))
        job = http.status(job.id)
    return job


def _verdict(answer: ScoreResponse, champion: str, job: Job) -> Finding:
    if answer.model_version != champion:
        says = f"the endpoint serves {answer.model_version}, the site wants {champion}"
        fix = "Deploy the image with that model (manage.py runpod_deploy --image …), or promote the other version."
        return Finding("model", "trouble", says, fix)
    errors = [text.error for text in answer.texts if text.error]
    if errors or not answer.texts:
        return Finding("model", "trouble", f"the text was not scored: {errors[0] if errors else 'no answer'}", LOGS)
    waited, worked = ((value or 0) / 1000 for value in (job.delay_ms, job.execution_ms))
    says = f"{answer.model} {answer.model_version} scored a text: {waited:.1f} s queue and start, {worked:.1f} s work"
    return Finding("model", "ok", says)


def _words(code: str) -> str:
    return code.replace("_", " ").replace("runpod", "RunPod")


def _away(address: str) -> str:
    return f"Is {address} right, and does this machine reach it? If so, RunPod is down: try again later."

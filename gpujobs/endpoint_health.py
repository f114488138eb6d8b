"""What RunPod says of the endpoint, for pages: asked once for all who look, quickly, and never an exception.

look()         jobs and workers by state, or the code of why it can't be said
no_worker()    why no worker comes: the doctor's questions that name a reason
"""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

import redis
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from gpujobs import checkup
from gpujobs.backends import BackendError
from gpujobs.backends.runpod import why_queued
from gpujobs.backends.runpod_http import Health, RunpodHttp
from gpujobs.breaker import Reading, cool_down
from gpujobs.providers.runpod_rest import UNREACHABLE, RunpodError, RunpodRest
from gpujobs.routing import CPU, HYBRID

log = logging.getLogger(__name__)

HEALTH_SECONDS = 3  # that an answer serves everybody who looks
REASON_SECONDS = 30
KEPT_SECONDS = 60  # an older answer serves while somebody asks
TIMEOUT_SECONDS = 2.0  # somebody waits for the page
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look:
    """health: None where it couldn't be asked; `code` says why."""

    health: Health | None
    code: str
    at: datetime


def look() -> Look:
    """Now, or a few seconds ago."""
    return _for_everybody("health", HEALTH_SECONDS, _ask)


def no_worker() -> str:
    """The doctor's name of what keeps workers away: `scaler` (max workers is 0), `balance`; empty: it can't tell."""
    return _for_everybody("no-worker", REASON_SECONDS, _trouble)


def opened_at(reading: Reading) -> datetime | None:
    """When a breaker that is not closed was opened last: its cool-down, which doubles each time, before its end."""
    if reading.state == "closed":
        return None
    return datetime.fromtimestamp(reading.until - cool_down(max(reading.opened, 1)), UTC)


def why_waiting(
    health: Health | None, breaker: Reading, policy: str, *, queued: int, handed_over: int, places: int, spent: bool
) -> str:
    """Why texts are not being scored, as a code; empty where nothing waits.

    health: None where RunPod can't be asked.  queued: texts in our own queue.  handed_over, places: batches at RunPod,
    and how many there may be.  spent: no budget lets another batch begin. The codes are ours (`cpu`,
    `breaker_open`, `cannot_ask`, `budget_used`, `places_taken`, `trickle`, `not_handed_over`) or why_queued's.
    """
    waits_there = health is not None and health.jobs.get("inQueue", 0) > 0
    if not queued and not handed_over and not waits_there:
        return ""
    if policy == CPU and not handed_over and not waits_there:
        return "cpu"
    if breaker.state != "closed":
        return "breaker_open"
    if health is None:
        return "cannot_ask"
    if waits_there:
        return why_queued(health)
    return _at_our_own_door(policy, handed_over=handed_over, places=places, spent=spent) if queued else ""


def _at_our_own_door(policy: str, *, handed_over: int, places: int, spent: bool) -> str:
    if spent:
        return "budget_used"
    if handed_over >= places:
        return "places_taken"
    return "trickle" if policy == HYBRID else "not_handed_over"


# --- Inside ---------------------------------------------------------------------------------------------------------


def _ask() -> Look:
    http = _client(settings.RUNPOD_BASE_URL, settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY, os.getpid())
    try:
        return Look(http.health(), "", timezone.now())
    except BackendError as error:
        return Look(None, error.code, timezone.now())


def _trouble() -> str:
    rest = RunpodRest(
        settings.RUNPOD_REST_URL,
        settings.RUNPOD_GRAPHQL_URL,
        settings.RUNPOD_API_KEY,
        timeout_seconds=TIMEOUT_SECONDS,
        sleep=_no_second_try,
    )
    try:
        endpoint, _ = checkup.the_endpoint(rest)
        if endpoint is None:
            return ""
        findings = (checkup.the_scaler(endpoint), checkup.the_balance(rest))
        return next((each.name for each in findings if each.state == "trouble"), "")
    finally:
        rest.close()


def _no_second_try(_seconds: float) -> None:
    raise RunpodError(UNREACHABLE, permanent=False)


def _for_everybody(name: str, seconds: int, ask: Callable[[], T]) -> T:
    """`ask()`, once in so many seconds over all processes. Without the cache everybody asks."""
    key = f"endpoint:{settings.RUNPOD_ENDPOINT_ID}:{name}"
    try:
        known: Any = cache.get(key)
        if known is not None and not cache.add(f"{key}:turn", 1, seconds):
            found: T = known
            return found
        cache.add(f"{key}:turn", 1, seconds)
        answer = ask()
        cache.set(key, answer, KEPT_SECONDS)
    except redis.RedisError as error:
        log.warning("nothing kept of the endpoint: %s", type(error).__name__)
        return ask()
    return answer


@lru_cache(maxsize=4)
def _client(base_url: str, endpoint_id: str, key: str, _process: int) -> RunpodHttp:
    """One try: the page is asked for again in a few seconds anyway. A process each: sockets must not cross a fork."""
    return RunpodHttp(base_url, endpoint_id, key, timeout_seconds=TIMEOUT_SECONDS, tries=1)

"""The staff's page about the GPU: workers, queue, runs, and why work waits. Reads only.

show       the page
figures    what of it changes, asked for every few seconds while somebody looks
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from detector.models import Submission
from detector.views import gpu_figures, gpu_words
from gpujobs import budget_gate, dashboard, endpoint_health, routing
from gpujobs.backends.runpod import BREAKER_NAME, RunpodBackend
from gpujobs.breaker import Breaker, Reading
from gpujobs.dashboard import Figures
from gpujobs.models import RoutingChange

COUNTED_TEXTS = 10_000  # of a lane, at most: counting a million rows takes longer than the page may
View = Callable[[HttpRequest], HttpResponse]


@dataclass(frozen=True, slots=True)
class Lane:
    """more: there are more texts than were counted."""

    name: gpu_words.Words
    count: int
    more: bool
    oldest_seconds: int


def staff_only(view: View) -> View:
    """Visitors sign in; others are told that it isn't open to them."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not request.user.is_authenticated:
            if request.headers.get("HX-Request"):  # signed out meanwhile: loading the page again leads to the login
                return HttpResponse(headers={"HX-Refresh": "true"})
            return redirect_to_login(request.get_full_path())
        if not request.user.is_staff:
            raise PermissionDenied
        response = view(request)
        response["Cache-Control"] = "no-store, private"
        return response

    return guarded


@require_safe
@staff_only
def show(request: HttpRequest) -> HttpResponse:
    return render(request, "gpujobs/gpu.html", _context(timezone.now()))


@require_safe
@staff_only
def figures(request: HttpRequest) -> HttpResponse:
    return render(request, "gpujobs/partials/gpu_figures.html", _context(timezone.now()))


def queue(now: datetime) -> tuple[Lane, ...]:
    """Lanes with texts in them, by the index submission_lanes."""
    found = []
    for lane, name in gpu_words.LANES.items():
        waiting = Submission.objects.filter(status=Submission.Status.QUEUED, lane=lane)
        oldest = waiting.order_by("accepted_at").values_list("accepted_at", flat=True).first()
        if oldest is not None:
            count = waiting.order_by("accepted_at")[: COUNTED_TEXTS + 1].count()
            age = max(0, int((now - oldest).total_seconds()))
            found.append(Lane(name, min(count, COUNTED_TEXTS), count > COUNTED_TEXTS, age))
    return tuple(found)


def _context(now: datetime) -> dict[str, Any]:
    found, lanes = dashboard.figures(now), queue(now)
    context: dict[str, Any] = {
        "now": now,
        "figures": found,
        "most_runs": dashboard.MOST_RUNS,
        "lanes": lanes,
        "flights": gpu_figures.flights(found),
        "backends": gpu_figures.backends(found),
        "workers": gpu_figures.workers(found),
        "drawings": gpu_figures.drawings(found.slots),
        "cold_start": gpu_figures.time(dashboard.COLD_START_MS),
    }
    queued = sum(lane.count for lane in lanes)
    if not routing.configured():
        return context | {"why": gpu_words.WHY["cpu"] if queued else None}
    return context | {"endpoint": settings.RUNPOD_ENDPOINT_ID} | _endpoint(found, queued, now)


def _endpoint(found: Figures, queued: int, now: datetime) -> dict[str, Any]:
    """What RunPod and the breaker in front of it say, and what our own policy adds to it."""
    look, breaker, policy = endpoint_health.look(), Breaker(BREAKER_NAME).read(), routing.current_policy(now)
    shut = budget_gate.shut(now)
    code = endpoint_health.why_waiting(
        look.health,
        breaker,
        policy,
        queued=queued,
        handed_over=sum(run.backend == RunpodBackend.name for run in found.in_flight),
        places=settings.RUNS_IN_FLIGHT,
        spent=shut is not None,
    )
    if code == "runpod_no_worker":
        code = endpoint_health.no_worker() or code
    context: dict[str, Any] = {
        "look": look,
        "why": gpu_words.shut(shut) if shut and code == "budget_used" else gpu_words.WHY.get(code),
        "policy": RoutingChange.Policy(policy).label,
        **_breaker(breaker, now),
    }
    if look.health is None:
        return context | {"cannot": gpu_words.CANNOT.get(look.code, gpu_words.UNKNOWN)}
    names = dict.fromkeys((*gpu_words.WORKERS, *look.health.workers))
    states = [(gpu_words.WORKERS.get(name, name), look.health.worker(name)) for name in names]
    return context | {
        "states": [(name, count) for name, count in states if count],
        "jobs_queued": look.health.jobs.get("inQueue", 0),
        "jobs_running": look.health.jobs.get("inProgress", 0),
    }


def _breaker(reading: Reading, now: datetime) -> dict[str, Any]:
    since = endpoint_health.opened_at(reading)
    left = round(reading.until - now.timestamp())
    return {
        "breaker": reading,
        "breaker_name": gpu_words.BREAKER[reading.state],
        "breaker_since": since,
        "breaker_age": max(0, int((now - since).total_seconds())) if since else 0,
        "breaker_next": gpu_figures.soon(left) if reading.state == "open" else "",
    }

"""Which tier may take the next batch: the policy, what can be had of the GPU, and how much work waits.

    cpu      this machine's engine, always
    gpu      the rented GPU, always; while it is out of reach, texts wait
    hybrid   the founder's cheapest: the CPU answers a trickle. Work that it would need long for wakes a GPU, and while
             one is warm it takes everything. Out of reach (breaker open, budget used up), the CPU takes all of it, and
             those answers say `degraded`

`route` is pure. `now_open` reads settings, the staff's last change and the rows. May be imported by: dispatch, pages.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from gpujobs import budget_gate
from gpujobs.backends.runpod import BREAKER_NAME, RunpodBackend
from gpujobs.breaker import Breaker
from gpujobs.models import GpuRun, RoutingChange

CPU, GPU, HYBRID = "cpu", "gpu", "hybrid"  # policies; the first two are tiers too
LONGEST_RUN = timedelta(hours=1)  # that a look for warm workers goes back; it keeps the query in its index


@dataclass(frozen=True, slots=True)
class Gpu:
    """usable: an endpoint is configured, its breaker is not open, and budgets have room for another batch (one that
    can't be read has none).  warm: a worker has just answered, so that it is there and paid for."""

    usable: bool
    warm: bool


@dataclass(frozen=True, slots=True)
class Route:
    """Which tiers may take a batch now.  degraded: the CPU takes what the policy would have given to the GPU.
    stand_in: the CPU takes, degraded, the texts of accounts whose own budget has no room for the GPU, and no others."""

    cpu: bool
    gpu: bool
    degraded: bool = False
    stand_in: bool = False

    def takes(self, tier: str) -> bool:
        return self.cpu if tier == CPU else self.gpu


def route(policy: str, gpu: Gpu, *, waiting_seconds: float, wake_seconds: float) -> Route:
    """waiting_seconds: how long the CPU would need for all that waits.  wake_seconds: from when on that wakes a GPU.

    While a GPU starts, the CPU goes on: people don't wait for a cold start.
    """
    if policy == CPU:
        return Route(cpu=True, gpu=False)
    if policy == GPU:
        return Route(cpu=False, gpu=gpu.usable)
    if not gpu.usable:
        return Route(cpu=True, gpu=False, degraded=True)
    if gpu.warm:
        return Route(cpu=False, gpu=True, stand_in=True)
    return Route(cpu=True, gpu=waiting_seconds >= wake_seconds)


def now_open(*, now: datetime, waiting_characters: Callable[[int], int]) -> Route:
    """The route at this moment. waiting_characters: how many wait, counted up to a limit; asked where it matters."""
    policy = current_policy(now)
    if policy == CPU:
        return route(policy, Gpu(usable=False, warm=False), waiting_seconds=0, wake_seconds=1)
    gpu = Gpu(usable=_usable(now), warm=policy == HYBRID and _warm(now))
    waiting = 0.0
    if policy == HYBRID and gpu.usable and not gpu.warm:
        rate = settings.CPU_CHARACTERS_PER_SECOND
        waiting = waiting_characters(settings.GPU_WAKE_SECONDS * rate) / rate
    return route(policy, gpu, waiting_seconds=waiting, wake_seconds=settings.GPU_WAKE_SECONDS)


def current_policy(now: datetime) -> str:
    """The staff's last change while its time runs, else the setting."""
    last = RoutingChange.objects.first()
    if last is None or not last.policy or (last.until is not None and last.until <= now):
        return str(settings.SCORING_POLICY)
    return last.policy


def configured() -> bool:
    """Is there an endpoint at all?"""
    return bool(settings.RUNPOD_ENDPOINT_ID and settings.RUNPOD_API_KEY)


def _usable(now: datetime) -> bool:
    if not configured():
        return False
    return Breaker(BREAKER_NAME).lets_in() and budget_gate.shut(now) is None


def _warm(now: datetime) -> bool:
    if settings.RUNPOD_WORKERS_MIN > 0:
        return True
    since = now - timedelta(seconds=settings.RUNPOD_IDLE_SECONDS)
    lately = GpuRun.objects.filter(backend=RunpodBackend.name, created_at__gte=since - LONGEST_RUN)
    return lately.filter(status=GpuRun.Status.SUCCEEDED, finished_at__gte=since).exists()

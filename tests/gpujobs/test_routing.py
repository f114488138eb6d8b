"""Which tier may take a batch: the policy, what can be had of the GPU, and how much waits."""

from datetime import timedelta
from typing import Any

import factories
import pytest
from django.core.exceptions import ValidationError
from factories import NOW

from gpujobs import routing
from gpujobs.breaker import FAILURES_IN_A_ROW, Breaker
from gpujobs.models import GpuRun, ModelVersion, RoutingChange
from gpujobs.routing import Gpu, Route

GONE, COLD, WARM = Gpu(usable=False, warm=False), Gpu(usable=True, warm=False), Gpu(usable=True, warm=True)
CPU_ONLY, GPU_ONLY, NOBODY = Route(cpu=True, gpu=False), Route(cpu=False, gpu=True), Route(cpu=False, gpu=False)
WARM_ONLY = Route(cpu=False, gpu=True, stand_in=True)
LITTLE, MUCH = 29.9, 30.0


@pytest.fixture
def rented(settings: Any) -> Any:
    """A configured endpoint with a closed breaker; the policy is hybrid."""
    settings.SCORING_POLICY, settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = "hybrid", "4m7x", "rpa_test"
    settings.CPU_CHARACTERS_PER_SECOND, settings.GPU_WAKE_SECONDS = 100, 30
    Breaker(routing.BREAKER_NAME).succeeded()
    yield settings
    Breaker(routing.BREAKER_NAME).succeeded()


def open_now(waiting: int = 0) -> Route:
    return routing.now_open(now=NOW, waiting_characters=lambda _limit: waiting)


def gpu_run(version: ModelVersion, *, finished_ago: float = 1.0, **fields: Any) -> None:
    """A run that RunPod answered so many seconds before NOW."""
    run = GpuRun.objects.create(
        backend="runpod",
        model_version=version,
        texts=1,
        lease_expires_at=NOW,
        **{"status": "succeeded", "execution_ms": 1000, "finished_at": NOW - timedelta(seconds=finished_ago)} | fields,
    )
    GpuRun.objects.filter(pk=run.pk).update(created_at=NOW - timedelta(seconds=finished_ago + 2))


@pytest.mark.parametrize(
    ("policy", "gpu", "waiting", "expected"),
    [
        ("cpu", WARM, MUCH, CPU_ONLY),
        ("gpu", COLD, LITTLE, GPU_ONLY),
        ("gpu", GONE, MUCH, NOBODY),
        ("hybrid", COLD, LITTLE, CPU_ONLY),
        ("hybrid", COLD, MUCH, Route(cpu=True, gpu=True)),
        ("hybrid", WARM, LITTLE, WARM_ONLY),
        ("hybrid", GONE, LITTLE, Route(cpu=True, gpu=False, degraded=True)),
        ("hybrid", GONE, MUCH, Route(cpu=True, gpu=False, degraded=True)),
    ],
)
def test_it_routes_by_policy(policy: str, gpu: Gpu, waiting: float, expected: Route) -> None:
    assert routing.route(policy, gpu, waiting_seconds=waiting, wake_seconds=MUCH) == expected


@pytest.mark.django_db
def test_a_trickle_wakes_no_gpu_and_much_work_does(rented: Any) -> None:
    assert open_now(waiting=2_999) == CPU_ONLY
    assert open_now(waiting=3_000) == Route(cpu=True, gpu=True)


@pytest.mark.django_db
def test_a_worker_that_has_just_answered_is_warm(rented: Any) -> None:
    version = factories.version()
    gpu_run(version, finished_ago=rented.RUNPOD_IDLE_SECONDS + 1)
    gpu_run(version, status="failed")
    assert open_now() == CPU_ONLY
    gpu_run(version, finished_ago=rented.RUNPOD_IDLE_SECONDS - 1)
    assert open_now() == WARM_ONLY


@pytest.mark.django_db
def test_workers_that_always_run_are_warm(rented: Any) -> None:
    rented.RUNPOD_WORKERS_MIN = 1
    assert open_now() == WARM_ONLY


@pytest.mark.django_db
def test_an_open_breaker_degrades_and_a_probe_under_way_still_does(rented: Any) -> None:
    door = Breaker(routing.BREAKER_NAME, now=lambda: 0.0)  # its cool-down is over by today's clock
    for _ in range(FAILURES_IN_A_ROW):
        Breaker(routing.BREAKER_NAME).failed("gone")
    assert open_now().degraded
    door.succeeded()
    for _ in range(FAILURES_IN_A_ROW):
        door.failed("gone")
    assert not open_now().degraded  # half open: one batch may go and see
    Breaker(routing.BREAKER_NAME).enter()
    assert open_now().degraded


@pytest.mark.django_db
def test_without_an_endpoint_hybrid_is_the_cpu_and_says_so(rented: Any) -> None:
    rented.RUNPOD_ENDPOINT_ID = ""
    assert open_now(waiting=10**9) == Route(cpu=True, gpu=False, degraded=True)


@pytest.mark.django_db
def test_the_last_change_of_the_staff_counts_while_its_time_runs(rented: Any) -> None:
    assert routing.current_policy(NOW) == "hybrid"
    RoutingChange.objects.create(policy="gpu", reason="a big customer")
    RoutingChange.objects.create(policy="cpu", reason="costs", until=NOW + timedelta(hours=1))
    assert routing.current_policy(NOW) == "cpu"
    assert routing.current_policy(NOW + timedelta(hours=1)) == "hybrid"
    RoutingChange.objects.create(policy="", reason="as before")
    assert routing.current_policy(NOW) == "hybrid"


@pytest.mark.django_db
def test_a_change_to_a_gpu_that_is_not_there_is_refused(settings: Any) -> None:
    settings.RUNPOD_ENDPOINT_ID = ""
    with pytest.raises(ValidationError, match="endpoint"):
        RoutingChange(policy="gpu", reason="why not").full_clean()
    RoutingChange(policy="cpu", reason="the way back").full_clean()

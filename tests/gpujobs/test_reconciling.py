"""The ledger against RunPod's own bill, the loopback one's: estimated in minutes, equal once it is reconciled."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import factories
import pytest
from costing_rows import total
from django.db.models import Sum

from gpujobs import costing, ledger, reconciling
from gpujobs.models import CostEntry, GpuRun, MachineMeter, ModelVersion, ReconciledDay
from gpujobs.providers.runpod_rest import Bill, RunpodError, RunpodRest, _bill
from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]
pytestmark = pytest.mark.django_db
DAY = date(2026, 11, 20)
LATER = datetime(2026, 11, 30, tzinfo=UTC)
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
A4000_PER_SECOND = 160_000  # nano-dollars
DISK_GB = 10
UP = ("STARTING", "READY")


def entry(ref: str, amount: int, **changes: Any) -> CostEntry:
    values = {"kind": "execution", "service": "inference", "provider": "runpod", "at": NOON}
    return CostEntry(source_ref=ref, amount_nanousd=amount, **values | changes)


def settle(billed: int, *, now: datetime = LATER) -> ReconciledDay | None:
    return reconciling.settle_day("runpod", "inference", DAY, billed, now=now)


# --- One day --------------------------------------------------------------------------------------------------------


def test_it_posts_what_the_bill_differs_by() -> None:
    ledger.post([entry("a", 100)])
    day = settle(130)
    assert day is not None
    assert (day.estimated_nanousd, day.billed_nanousd, day.delta_nanousd) == (100, 130, 30)
    assert day.entry is not None
    assert (day.entry.kind, day.entry.account_id, day.entry.at, total()) == ("adjustment", None, NOON, 130)


def test_the_same_bill_again_changes_nothing() -> None:
    ledger.post([entry("a", 100)])
    settle(130)
    assert settle(130) is None
    assert (total(), ReconciledDay.objects.count()) == (130, 1)


def test_a_bill_that_agrees_is_kept_without_a_line() -> None:
    ledger.post([entry("a", 100)])
    day = settle(100)
    assert day is not None
    assert (day.delta_nanousd, day.entry, settle(100)) == (0, None, None)


def test_a_later_bill_and_a_late_line_are_reconciled_again() -> None:
    ledger.post([entry("a", 100)])
    settle(40)
    settle(130)
    ledger.post([entry("late", 7)])
    settle(130)
    deltas = ReconciledDay.objects.order_by("id").values_list("delta_nanousd", flat=True)
    assert (list(deltas), total()) == ([-60, 90, -7], 130)


def test_a_bill_of_nothing_is_late_for_some_days_and_then_believed() -> None:
    ledger.post([entry("a", 100)])
    assert settle(0, now=NOON + timedelta(days=2)) is None
    assert settle(0, now=NOON + timedelta(days=4)) is not None
    assert total() == 0


def test_a_day_of_nothing_is_no_row() -> None:
    assert settle(0) is None


def test_other_services_providers_and_days_are_left_alone() -> None:
    ledger.post([
        entry("a", 100), entry("b", 5, provider="gcp"), entry("c", 7, service="training"),
        entry("d", 11, at=NOON + timedelta(hours=12)),
    ])  # fmt: skip
    settle(90)
    assert total() == 90 + 5 + 7 + 11


@pytest.mark.django_db(transaction=True)
def test_many_at_once_post_the_difference_once() -> None:
    ledger.post([entry("a", 100)])
    found = factories.together(lambda n: settle(130), 6)
    assert sum(isinstance(each, ReconciledDay) for each in found) == 1
    assert total() == 130


def test_pods_are_billed_to_the_service_that_rented_them() -> None:
    MachineMeter.objects.create(provider="runpod", machine_id="p1", gpu_type="x", service="benchmark")
    found = reconciling.billed_by_service(
        [Bill(DAY, "e1", 3), Bill(DAY, "e2", 4)], [Bill(DAY, "p1", 50), Bill(DAY, "unknown", 600)]
    )
    assert found == {("inference", DAY): 7, ("benchmark", DAY): 50, ("training", DAY): 600}


# --- Against the loopback RunPod's bill -----------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _ten_o_clock(request: pytest.FixtureRequest) -> None:
    """Tomorrow at ten, by RunPod's clock: no test runs over midnight, whenever it is run."""
    if "runpod" in request.fixturenames:
        account = request.getfixturevalue("runpod")
        ten = (clock(account) + timedelta(days=1)).replace(hour=10, minute=0, second=0, microsecond=0)
        account.control("POST", "clock", {"to": ten.isoformat()})


@pytest.mark.parametrize(
    "record", [{"startTime": "x"}, {"totalAmount": "1"}, {"totalAmount": True}, {"serverlessId": None}, {}]
)
def test_a_bill_that_cannot_be_read_is_no_bill_of_nothing(record: Any) -> None:
    good = {"startTime": "2026-11-20T00:00:00Z", "serverlessId": "e1", "totalAmount": Decimal("0.000000005")}
    assert _bill(good, "serverlessId") == Bill(DAY, "e1", 5)
    bad = {**good, **record} if record else {}
    with pytest.raises(RunpodError, match="strange"):
        _bill(bad, "serverlessId")


@pytest.fixture
def rest(runpod: LoopbackRunPod) -> Iterator[RunpodRest]:
    client = RunpodRest(f"{runpod.url}/v2", f"{runpod.url}/graphql", runpod.key)
    yield client
    client.close()


def clock(runpod: LoopbackRunPod) -> datetime:
    return datetime.fromtimestamp(runpod.state()["clock"]["now"], UTC)


def scored(runpod: LoopbackRunPod, endpoint: str, version: ModelVersion, *, seconds: float) -> GpuRun:
    """A batch as the site hands it in: a worker takes it, works so long, and the site keeps what RunPod tells of it."""
    created, job = clock(runpod), runpod.run(endpoint, 1)
    worker = eventually(lambda: next((each["id"] for each in runpod.workers(endpoint) if each["phase"] in UP), ""))
    assert runpod.take(endpoint, worker).status_code == 200
    runpod.advance(seconds)
    runpod.done(endpoint, worker, job, '{"output": 1}')
    told = runpod.final(endpoint, job)
    run = GpuRun.objects.create(
        backend="runpod", model_version=version, status="succeeded", texts=1, external_id=job, gpu_type="AMPERE_16",
        worker_id=told["workerId"], delay_ms=told["delayTime"], execution_ms=told["executionTime"],
        finished_at=clock(runpod), lease_expires_at=created,
    )  # fmt: skip
    GpuRun.objects.filter(pk=run.pk).update(created_at=created)
    return run


def stopped(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.advance(5)
    eventually(lambda: runpod.workers(endpoint) == [])


def test_the_estimate_is_near_the_bill_and_then_equal_to_it(
    runpod: LoopbackRunPod, rest: RunpodRest, champion: ModelVersion, settings: Any
) -> None:
    settings.RUNPOD_IDLE_SECONDS, settings.RUNPOD_DISK_GB = 5, DISK_GB
    workers = {"min": 0, "max": 1, "idleTimeout": 5}
    endpoint = runpod.played(workers=workers, disk=DISK_GB, habits={"cold_start_seconds": 0})
    scored(runpod, endpoint, champion, seconds=100)
    runpod.advance(2)  # idle, and awake
    scored(runpod, endpoint, champion, seconds=30)
    stopped(runpod, endpoint)
    runpod.advance(86_400)
    scored(runpod, endpoint, champion, seconds=20)
    stopped(runpod, endpoint)
    runpod.advance(60)
    assert costing.cost_ended_runs(clock(runpod)).runs == 3
    billed = runpod.bill()["total_nanousd"]
    assert abs(total() - billed) <= 4 * 2 * A4000_PER_SECOND  # what the machine itself needed, and started seconds
    assert len(reconciling.reconcile(clock(runpod), rest)) == 1  # the second day is not over
    runpod.advance(86_400 + 4 * 3600)
    reconciling.reconcile(clock(runpod), rest)
    assert total() == runpod.bill()["total_nanousd"] == billed
    assert reconciling.reconcile(clock(runpod), rest) == []
    days = ReconciledDay.objects.aggregate(billed=Sum("billed_nanousd"), delta=Sum("delta_nanousd"))
    assert days["billed"] == billed
    assert abs(days["delta"]) <= 4 * 2 * A4000_PER_SECOND


def test_a_worker_that_flashboot_resumes_is_billed_twice_and_estimated_so(
    runpod: LoopbackRunPod, rest: RunpodRest, champion: ModelVersion, settings: Any
) -> None:
    settings.RUNPOD_IDLE_SECONDS, settings.RUNPOD_DISK_GB = 5, DISK_GB
    workers = {"min": 0, "max": 1, "idleTimeout": 5}
    endpoint = runpod.played(workers=workers, disk=DISK_GB, flashboot="FLASHBOOT")
    first = scored(runpod, endpoint, champion, seconds=10)
    runpod.advance(100)  # parked after five of them
    second = scored(runpod, endpoint, champion, seconds=10)
    runpod.advance(100)
    assert first.worker_id == second.worker_id
    costing.cost_ended_runs(clock(runpod))
    billed = runpod.bill()
    assert len(billed["lifetimes"]) == CostEntry.objects.filter(kind="storage").count() == 2
    assert abs(total() - billed["total_nanousd"]) <= 2 * 2 * A4000_PER_SECOND
    runpod.advance(30 * 3600)
    reconciling.reconcile(clock(runpod), rest)
    assert total() == runpod.bill()["total_nanousd"]


def test_a_bill_that_comes_late_is_waited_for(
    runpod: LoopbackRunPod, rest: RunpodRest, champion: ModelVersion, settings: Any
) -> None:
    settings.RUNPOD_IDLE_SECONDS, settings.RUNPOD_DISK_GB = 5, 0
    endpoint = runpod.played(workers={"min": 0, "max": 1, "idleTimeout": 5}, disk=0)
    scored(runpod, endpoint, champion, seconds=10)
    stopped(runpod, endpoint)
    runpod.advance(30)
    costing.cost_ended_runs(clock(runpod))
    runpod.fault("billing_lag", lag_seconds=2 * 86_400)
    runpod.advance(30 * 3600)
    estimate = total()
    assert reconciling.reconcile(clock(runpod), rest) == []
    assert total() == estimate
    runpod.clear_faults()
    assert len(reconciling.reconcile(clock(runpod), rest)) == 1
    assert total() == runpod.bill()["total_nanousd"]


def test_a_pod_that_nobody_knows_is_in_the_ledger_all_the_same(runpod: LoopbackRunPod, rest: RunpodRest) -> None:
    body = {"name": "forgotten", "image": "x:1", "gpu": {"id": "NVIDIA RTX A4000"}, "disk": 30}
    pod = runpod.call("POST", "/v2/pods", body).json()["id"]
    runpod.advance(3 * 3600)
    runpod.call("DELETE", f"/v2/pods/{pod}")
    runpod.advance(2 * 86_400)
    reconciling.reconcile(clock(runpod), rest)
    assert total() == runpod.bill()["total_nanousd"] > 750_000_000
    assert set(CostEntry.objects.values_list("service", "kind")) == {("training", "adjustment")}

"""Ended runs become lines: whole seconds of a worker's life, work by account, once."""

import uuid
from typing import Any

import factories
import pytest
from costing_rows import A4000_PER_MS, SECOND, START, after, by_kind, ended, lines, total
from django.db import ProgrammingError, connection

from gpujobs import budgets, costing
from gpujobs.models import Budget, BudgetReservation, CostEntry, GpuRun, MachineMeter, ModelVersion

pytestmark = pytest.mark.django_db
ALICE, BOB, BATCH = (str(uuid.UUID(int=n)) for n in (1, 2, 3))
DISK = 231_482  # nano-dollars for the first 5 minutes of 20 GB


@pytest.fixture(autouse=True)
def _endpoint(settings: Any) -> None:
    settings.RUNPOD_IDLE_SECONDS, settings.RUNPOD_DISK_GB, settings.RUNPOD_EXECUTION_SECONDS = 5, 20, 60


def test_it_costs_a_workers_life_in_started_seconds(champion: ModelVersion) -> None:
    ended(champion, at=0, delay=2.5, long=1)
    ended(champion, at=5, delay=0.04, long=0.5)
    costed = costing.cost_ended_runs(after(60))
    assert (costed.runs, costed.lines, costed.unpriced) == (2, 6, [])
    # 2.5 s cold, 1 s work, 1.54 s idle, 0.5 s work, 5 s idle: 10.54, billed as 11
    assert by_kind() == {"cold_start": 2_500, "execution": 1_500, "idle": 7_000, "storage": DISK}
    assert total() == 11_000 * A4000_PER_MS + DISK


def test_it_splits_work_by_whose_texts_shared_the_batch(champion: ModelVersion) -> None:
    shares = [[None, None, 1], [ALICE, None, 1], [ALICE, BATCH, 1], [BOB, None, 4]]
    ended(champion, at=0, long=1, shares=shares, attempt=2)
    costing.cost_ended_runs(after(60))
    work = lines(kind="execution")
    assert [line.amount_nanousd for line in work] == [22_857, 22_857, 22_857, 91_429]
    assert [str(line.account_id) for line in work] == ["None", ALICE, ALICE, BOB]
    assert [str(line.batch_id) for line in work] == ["None", "None", BATCH, "None"]
    assert {(line.attempt, line.model_version, line.gpu_type, line.price_id is None) for line in work} == {
        (2, champion.pk, "AMPERE_16", False)
    }
    assert sum(line.milliseconds or 0 for line in work) == 1_000
    assert {line.account_id for line in lines() if line.kind != "execution"} == {None}


def test_a_line_counts_when_its_time_began(champion: ModelVersion) -> None:
    run = ended(champion, at=0, delay=2, long=1)
    costing.cost_ended_runs(after(60))
    assert [(line.kind, line.at) for line in lines()] == [
        ("cold_start", START), ("storage", START), ("execution", after(2)), ("idle", after(3)),
    ]  # fmt: skip
    assert [line.run_id for line in lines(kind="cold_start")] == [run.pk]


def test_twice_is_once(champion: ModelVersion) -> None:
    ended(champion, at=0, delay=2, long=1)
    costing.cost_ended_runs(after(60))
    before = (total(), CostEntry.objects.count())
    assert costing.cost_ended_runs(after(60)) == costing.Costed()
    GpuRun.objects.update(costed_at=None)  # as if nobody had noted it
    costing.cost_ended_runs(after(90))
    assert (total(), CostEntry.objects.count()) == before


@pytest.mark.django_db(transaction=True)
def test_many_at_once_cost_a_run_once() -> None:
    version = factories.champion()
    for n in range(6):
        ended(version, at=n, long=2.5, worker=f"w{n % 2}", shares=[[ALICE, None, 2], [BOB, None, 1]])
    found = factories.together(lambda n: costing.cost_ended_runs(after(90)), 6)
    assert sum(each.runs for each in found if isinstance(each, costing.Costed)) == 6
    assert total() == 2 * (DISK + 12_000 * A4000_PER_MS)  # 0-6.5 and 1-7.5 s with 5 s idle: 11.5, billed as 12


DIES = """
CREATE FUNCTION dies() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) FROM gpujobs_costentry) = 0 THEN RAISE EXCEPTION 'nothing was posted before'; END IF;
    RAISE EXCEPTION 'killed here';
END $$;
CREATE TRIGGER dies BEFORE UPDATE OF costed_at ON gpujobs_gpurun FOR EACH ROW EXECUTE FUNCTION dies();
"""


def test_whatever_ends_it_between_lines_and_costed_at_leaves_neither(champion: ModelVersion) -> None:
    ended(champion, at=0, delay=2, long=1)
    with connection.cursor() as cursor:
        cursor.execute(DIES)
        with pytest.raises(ProgrammingError, match="killed here"):
            costing.cost_ended_runs(after(60))
        assert (CostEntry.objects.count(), MachineMeter.objects.count()) == (0, 0)
        cursor.execute("DROP TRIGGER dies ON gpujobs_gpurun")
    assert costing.cost_ended_runs(after(60)).runs == 1


def test_an_unknown_price_leaves_the_run_uncosted_and_named(champion: ModelVersion) -> None:
    ended(champion, at=0, long=1, gpu_type="NVIDIA B9000", worker="w1")
    ended(champion, at=0, long=1, worker="w2")
    costed = costing.cost_ended_runs(after(60))
    assert costed.unpriced == ["w1: no price of runpod NVIDIA B9000 flex"]
    assert (costed.runs, {line.worker_id for line in lines()}) == (1, {"w2"})
    assert [run.worker_id for run in costing.uncosted(after(3600))] == ["w1"]


def test_this_machines_own_cpu_costs_nothing(champion: ModelVersion) -> None:
    ended(champion, at=0, long=1, backend="local", worker="")
    assert costing.cost_ended_runs(after(60)).runs == 1
    assert (total(), GpuRun.objects.get().costed_at) == (0, after(60))


def test_a_run_that_never_arrived_has_no_line(champion: ModelVersion) -> None:
    ended(champion, at=0, long=0, worker="", execution_ms=None, status="failed", failure_code="runpod_unreachable")
    assert costing.cost_ended_runs(after(60)).runs == 1
    assert total() == 0


def test_a_failed_run_is_paid_for_too(champion: ModelVersion) -> None:
    ended(champion, at=0, long=3, status="failed", failure_code="runpod_timed_out", shares=[[ALICE, None, 9]])
    costing.cost_ended_runs(after(60))
    assert [str(line.account_id) for line in lines(kind="execution")] == [ALICE]


def test_runs_that_overlap_on_a_worker_share_its_time(champion: ModelVersion) -> None:
    ended(champion, at=0, long=4, shares=[[ALICE, None, 1]])
    ended(champion, at=1, long=2, shares=[[BOB, None, 1]])
    costing.cost_ended_runs(after(60))
    assert [line.milliseconds for line in lines(kind="execution")] == [3_000, 1_000]
    assert total() == 9_000 * A4000_PER_MS + DISK


def test_nothing_is_laid_out_that_a_run_in_flight_may_change(champion: ModelVersion) -> None:
    ended(champion, at=0, long=1)
    flying = ended(champion, at=0.5, long=0, status="running", finished_at=None, execution_ms=None, worker="",
                   next_look_at=after(20), lease_expires_at=after(900))  # fmt: skip
    assert costing.cost_ended_runs(after(20)).lines == 0
    values = {"status": "succeeded", "finished_at": after(21), "execution_ms": 2_000, "worker_id": "w1"}
    GpuRun.objects.filter(pk=flying.pk).update(**values)
    assert costing.cost_ended_runs(after(40)).runs == 2
    assert [line.milliseconds for line in lines(kind="execution")] == [750, 1_750]


def test_a_run_that_waits_long_holds_up_nobody(champion: ModelVersion) -> None:
    """It was looked at a moment ago and had not ended: what it does, it does now."""
    ended(champion, at=0, long=1)
    ended(champion, at=0, long=0, status="running", finished_at=None, execution_ms=None, worker="",
          next_look_at=after(300), lease_expires_at=after(900))  # fmt: skip
    assert costing.cost_ended_runs(after(300)).runs == 1


def test_a_run_that_nobody_looks_after_holds_up_its_time(champion: ModelVersion) -> None:
    ended(champion, at=0, long=1)
    ended(champion, at=0, long=0, status="running", finished_at=None, execution_ms=None, worker="",
          next_look_at=after(100), lease_expires_at=after(900))  # fmt: skip
    assert costing.cost_ended_runs(after(300)).runs == 0


def test_an_idle_tail_is_posted_when_it_is_over(champion: ModelVersion) -> None:
    ended(champion, at=0, long=1)
    costing.cost_ended_runs(after(5 + costing.SETTLE_SECONDS))
    assert by_kind() == {"execution": 1_000}
    costing.cost_ended_runs(after(6 + costing.SETTLE_SECONDS))
    assert by_kind() == {"execution": 1_000, "idle": 5_000, "storage": DISK}


def test_a_worker_that_resumes_has_another_life(champion: ModelVersion) -> None:
    ended(champion, at=0, delay=2, long=1)
    costing.cost_ended_runs(after(60))
    ended(champion, at=100, delay=1.1, long=1)
    costing.cost_ended_runs(after(160))
    assert by_kind() == {"cold_start": 3_100, "execution": 2_000, "idle": 10_900, "storage": 2 * DISK}
    assert total() == (8_000 + 8_000) * A4000_PER_MS + 2 * DISK


def test_what_was_held_for_a_run_is_let_go_with_its_cost(champion: ModelVersion) -> None:
    budget = Budget.objects.create(name="all", scope="1global", period="month", hard_nanousd=10**9)
    run = ended(champion, at=0, long=1)
    budgets.reserve(run=run, service="inference", amount_nanousd=700, now=START, expires=after(900))
    costing.cost_ended_runs(after(60))
    budget.refresh_from_db()
    assert (budget.held_nanousd, BudgetReservation.objects.get().status) == (0, "settled")


def test_a_provider_cannot_have_ended_a_run_after_we_knew(champion: ModelVersion) -> None:
    run = ended(champion, at=0, delay=3, long=2, finished_at=START + 4 * SECOND)
    work = costing.work_of(run)
    assert (work.ended_ms - work.taken_ms, costing.instant(work.ended_ms)) == (2_000, after(4))


def test_meters_of_machines_that_are_long_gone_are_forgotten(champion: ModelVersion) -> None:
    ended(champion, at=0, long=1)
    costing.cost_ended_runs(after(60))
    assert costing.forget_meters(after(59 * 86_400)) == 0
    assert costing.forget_meters(after(61 * 86_400)) == 1

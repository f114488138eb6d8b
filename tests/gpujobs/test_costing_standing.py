"""Workers that are always on cost also while nothing runs on them."""

from datetime import timedelta
from typing import Any

import pytest
from costing_rows import START, after, ended, lines
from django.utils import timezone

from gpujobs import auditing, costing, ledger, standing
from gpujobs.models import AuditEntry, GpuRun, ModelVersion, Price

pytestmark = pytest.mark.django_db
QUARTER_MS, ACTIVE_PER_MS = 900_000, 110  # nano-dollars: what an always-on A4000 is listed at
OVER = 15 * 60 + 60


@pytest.fixture(autouse=True)
def _endpoint(settings: Any) -> None:
    settings.RUNPOD_IDLE_SECONDS, settings.RUNPOD_WORKERS_MIN, settings.RUNPOD_ENDPOINT_ID = 5, 2, "e1"


def test_it_costs_a_quarter_in_which_nothing_ran() -> None:
    assert standing.cost_standing(after(OVER)) == 1
    (line,) = lines()
    assert (line.kind, line.account_id, line.at) == ("idle", None, START)
    assert (line.milliseconds, line.amount_nanousd) == (2 * QUARTER_MS, 2 * QUARTER_MS * ACTIVE_PER_MS)


def test_twice_is_once_and_a_missed_quarter_is_caught_up() -> None:
    standing.cost_standing(after(OVER))
    assert standing.cost_standing(after(OVER)) == 0
    assert standing.cost_standing(after(OVER + 1800)) == 2
    assert [line.at for line in lines()] == [START + n * timedelta(minutes=15) for n in range(3)]


def test_what_runs_tell_of_is_not_counted_again(champion: ModelVersion) -> None:
    ended(champion, at=10, long=100, worker="w1")
    ended(champion, at=50, long=100, worker="w2")
    ended(champion, at=60, long=10, worker="w3")  # one more than are kept
    costing.cost_ended_runs(after(OVER))
    standing.cost_standing(after(OVER))
    (line,) = lines(note="workers that are always on")
    # One is awake for 40 s, then two (or three) for 65 s, then one for 40 s.
    assert line.milliseconds == 2 * QUARTER_MS - 40_000 - 2 * 65_000 - 40_000


def test_a_quarter_waits_for_runs_that_may_have_been_in_it(champion: ModelVersion) -> None:
    ended(champion, at=880, long=0, status="running", finished_at=None, execution_ms=None, worker="",
          next_look_at=after(901), lease_expires_at=after(2_000))  # fmt: skip
    standing.cost_standing(after(910))
    assert [line.at for line in lines()] == [after(-900)]
    GpuRun.objects.update(status="failed", finished_at=after(911))
    standing.cost_standing(after(911))
    assert [line.at for line in lines()] == [after(-900), START]


def test_a_budget_that_stopped_them_stops_their_cost() -> None:
    stopped, restored = AuditEntry.Action.WORKERS_STOPPED, AuditEntry.Action.WORKERS_RESTORED
    soon = timezone.now() + timedelta(minutes=1)
    assert standing.floor_at(soon) == 2
    auditing.note(stopped, "e1", actor=auditing.SYSTEM, reason="used up")
    assert (standing.floor_at(soon), standing.floor_at(soon - timedelta(hours=1))) == (0, 2)
    quarter = ledger.quarter_upto(soon)
    standing.cost_standing(quarter + timedelta(minutes=32))
    assert [line.milliseconds for line in lines()] == [0]
    auditing.note(restored, "e1", actor=auditing.SYSTEM, reason="room again")
    assert standing.floor_at(soon) == 2


def test_without_any_nothing_is_posted(settings: Any) -> None:
    settings.RUNPOD_WORKERS_MIN = 0
    assert standing.cost_standing(after(OVER)) == 0


def test_a_list_without_always_on_prices_means_the_usual_one(settings: Any) -> None:
    settings.RUNPOD_GPU_POOLS = ["ADA_24"]
    standing.cost_standing(after(OVER))
    (line,) = lines()
    assert line.price is not None
    assert (line.price.mode, line.amount_nanousd) == (Price.Mode.FLEX, 2 * QUARTER_MS * 310)
    settings.RUNPOD_GPU_POOLS = ["UNKNOWN"]
    with pytest.raises(costing.Unpriced, match="UNKNOWN"):
        standing.cost_standing(after(OVER + 900))

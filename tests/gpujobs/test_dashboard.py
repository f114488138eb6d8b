"""What the staff's page about the GPU makes of rows, of RunPod's word and of the breaker's: hand-worked numbers."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import factories
import pytest
from factories import NOW, ScriptedBackend

from gpujobs import dashboard, runs, scoring
from gpujobs.backends import Answer, BackendError, Usage
from gpujobs.backends.runpod_http import Health
from gpujobs.breaker import Reading
from gpujobs.dashboard import Padding, Run, Spread
from gpujobs.endpoint_health import opened_at, why_waiting
from gpujobs.models import GpuRun, ModelVersion

CLOSED = Reading("closed", 0, "", 0, 0.0)


def run(seconds_ago: float = 60.0, **changes: Any) -> Run:
    """That many seconds ago handed over, taken after 0.1 s, done 1 s later by worker w1."""
    created = NOW - timedelta(seconds=seconds_ago)
    usual: dict[str, Any] = {
        "backend": "runpod",
        "status": "succeeded",
        "texts": 8,
        "created_at": created,
        "finished_at": created + timedelta(milliseconds=(changes.get("delay_ms", 100) or 0) + 1000),
        "worker_id": "w1",
        "delay_ms": 100,
        "execution_ms": 1000,
    }
    return Run(**usual | changes)


# --- Pure ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "share", "found"),
    [([], 0.5, None), ([7], 0.95, 7), ([4, 1, 3, 2], 0.5, 2), (list(range(1, 101)), 0.95, 95), ([1, 2], 0.95, 2)],
)
def test_its_percentiles_are_by_nearest_rank(values: list[int], share: float, found: int | None) -> None:
    assert dashboard.percentile(values, share) == found


def test_it_sums_up_each_backend_of_today() -> None:
    yesterday = 13 * 3600
    found = dashboard.aggregate(
        [
            run(delay_ms=100, execution_ms=900),
            run(delay_ms=300, execution_ms=1100),
            run(status="failed", failure_code="runpod_throttled", delay_ms=None, execution_ms=None),
            run(status="running", finished_at=None),
            run(yesterday),
            run(backend="local", worker_id="", delay_ms=None, execution_ms=40),
        ],
        NOW,
    )
    gpu, cpu = found.backends
    assert (gpu.name, gpu.runs, gpu.texts, gpu.failed) == ("runpod", 3, 16, 1)
    assert (gpu.delay, gpu.execution) == (Spread(100, 300), Spread(900, 1100))
    assert gpu.failures == (("runpod_throttled", 1),)
    assert (cpu.name, cpu.runs, cpu.delay, cpu.execution) == ("local", 1, Spread(None, None), Spread(40, 40))


def test_it_tells_each_worker_apart() -> None:
    found = dashboard.aggregate([run(30, worker_id="w2"), run(100), run(91), run(backend="local", worker_id="")], NOW)
    later, earlier = found.workers
    assert (later.id, later.runs, later.texts, later.occupancy) == ("w2", 1, 8, 1.0)
    # w1: taken at -99.9 s, last answer at -89.9 s; two of these ten seconds at work.
    assert (earlier.id, earlier.runs, earlier.texts) == ("w1", 2, 16)
    assert earlier.texts_per_second == pytest.approx(1.6)
    assert earlier.occupancy == pytest.approx(0.2)


def test_batches_side_by_side_occupy_a_worker_once() -> None:
    (worker,) = dashboard.workers([run(), run(), run(status="failed", failure_code="runpod_engine")])
    assert (worker.runs, worker.texts, worker.occupancy) == (3, 16, 1.0)


def test_a_worker_that_took_no_time_has_no_speed() -> None:
    (worker,) = dashboard.workers([run(finished_at=NOW, created_at=NOW, delay_ms=0)])
    assert (worker.texts_per_second, worker.occupancy) == (None, None)


def test_a_cold_start_is_the_first_batch_of_a_worker_that_waited() -> None:
    bound = dashboard.COLD_START_MS
    found = dashboard.aggregate(
        [
            run(600, delay_ms=16_000),
            run(600, delay_ms=17_000),  # waited for the same start
            run(300, delay_ms=9000),  # waited because w1 was busy
            run(200, worker_id="w2", delay_ms=bound),
            run(190, worker_id="w3", delay_ms=bound + 1),
            run(13 * 3600, worker_id="w4", delay_ms=16_000),  # yesterday
            run(100, worker_id="w4", delay_ms=16_000),
            run(100, worker_id="", delay_ms=None),
        ],
        NOW,
    )
    assert found.cold_starts == 2


def test_it_draws_three_hours_in_slots_of_five_minutes() -> None:
    now = NOW + timedelta(minutes=7)
    found = dashboard.slots([run(0), run(0, delay_ms=2000), run(-6 * 60), run(4 * 3600)], now)
    assert (len(found), found[0].start, found[-1].start) == (
        36,
        NOW - timedelta(minutes=170),
        NOW + timedelta(minutes=5),
    )
    assert [(slot.runs, slot.delay_p95) for slot in found[-2:]] == [(2, 2000), (1, 100)]
    assert sum(slot.runs for slot in found) == 3


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ([], None),
        ([(100, [None, None]), (100, [])], None),
        ([(300, [60, 40]), (100, [None])], Padding(0.25, 1)),
        ([(0, [0])], None),
        ([(90, [-5, 10, "x"])], Padding(0.1, 1)),  # whatever a worker puts out
    ],
)
def test_padding_is_of_the_runs_that_told_it(told: list[Any], found: Padding | None) -> None:
    assert dashboard.padding(told) == found


WAITING, BUSY = {"inQueue": 1}, {"running": 1}
IDLE = Health({}, {})


def why(health: Health | None, policy: str = "gpu", state: Any = "closed", **changes: Any) -> str:
    breaker = Reading(state, 5, "runpod_unreachable", 1, 9.0)
    usual = {"queued": 3, "handed_over": 0, "places": 6, "spent": False}
    return why_waiting(health, breaker, policy, **usual | changes)


@pytest.mark.parametrize(
    ("workers", "code"),
    [
        ({"running": 1, "throttled": 2}, "runpod_deadline"),
        ({"unhealthy": 1}, "runpod_workers_unhealthy"),
        ({"throttled": 1}, "runpod_throttled"),
        ({"initializing": 1}, "runpod_cold_start"),
        ({}, "runpod_no_worker"),
    ],
)
def test_workers_tell_why_a_batch_waits_at_runpod(workers: dict[str, int], code: str) -> None:
    assert why(Health(WAITING, workers), queued=0, handed_over=1) == code
    assert why(Health(WAITING, workers), "cpu", queued=0) == code  # from before the policy changed


@pytest.mark.parametrize("state", ["open", "half_open"])
def test_an_open_breaker_comes_before_what_runpod_says(state: str) -> None:
    assert why(Health(WAITING, BUSY), state=state) == "breaker_open"
    assert why(None, "hybrid", state) == "breaker_open"
    assert why(IDLE, state=state, queued=0) == ""


def test_it_knows_why_texts_stay_in_our_own_queue() -> None:
    assert why(IDLE, "cpu") == "cpu"
    assert why(None) == "cannot_ask"
    assert why(IDLE) == "not_handed_over"
    assert why(IDLE, "hybrid") == "trickle"
    assert why(Health({"inProgress": 6}, BUSY), handed_over=6) == "places_taken"
    assert why(Health({"inProgress": 6}, BUSY), handed_over=6, spent=True) == "budget_used"


def test_nothing_waits_that_is_worked_on() -> None:
    assert why(IDLE, queued=0) == ""
    assert why(None, queued=0) == ""
    assert why(Health({"inProgress": 1}, BUSY), queued=0, handed_over=1, spent=True) == ""


@pytest.mark.parametrize(("opened", "pause"), [(1, 10), (3, 40), (99, 300)])
def test_it_knows_since_when_the_breaker_is_open(opened: int, pause: int) -> None:
    open_until = Reading("open", 5, "runpod_busy", opened, 1_000_300.0)
    assert opened_at(open_until) == datetime.fromtimestamp(1_000_300 - pause, UTC)
    assert opened_at(CLOSED) is None


# --- Rows ---------------------------------------------------------------------------------------------------


def stored(champion: ModelVersion, age: timedelta = timedelta(minutes=1), **fields: Any) -> GpuRun:
    """A run through its own verbs, then as old as wanted."""
    made = runs.open_run(backend="runpod", model_version=champion, texts=2, now=NOW)
    GpuRun.objects.filter(pk=made.pk).update(created_at=NOW - age, **fields)
    made.refresh_from_db()
    return made


def finished(champion: ModelVersion, outcome: Any, age: timedelta = timedelta(minutes=1)) -> GpuRun:
    """A run that ended so."""
    made = stored(champion, age)
    scoring.start(made, factories.request("one", "two", run=str(made.pk)), ScriptedBackend(script=[outcome]))
    GpuRun.objects.filter(pk=made.pk).update(finished_at=NOW)
    return made


def answered(*padding: int | None) -> Any:
    def answer(request: Any) -> Answer:
        scores = [factories.scores(text, 0.5) for text in request.texts]
        told = [replace(text, padding=each) for text, each in zip(scores, padding, strict=True)]
        return Answer(factories.response(request, told), Usage(1500, 900, "w1"))

    return answer


@pytest.mark.django_db
def test_it_reads_what_runs_left_behind(champion: ModelVersion) -> None:
    finished(champion, answered(3, 5))
    finished(champion, answered(None, None))
    finished(champion, BackendError("runpod_throttled", permanent=False))
    finished(champion, answered(7, 7), age=timedelta(hours=25))
    GpuRun.objects.update(tokens=16)
    found = dashboard.figures(NOW)
    gpu, cpu = found.backends
    assert (gpu.runs, gpu.texts, gpu.failures, cpu.runs) == (3, 4, (("runpod_throttled", 1),), 0)
    assert (gpu.delay, gpu.execution) == (Spread(1500, 1500), Spread(900, 900))
    assert [worker.id for worker in found.workers] == ["w1"]
    assert (found.cold_starts, found.padding) == (1, Padding(8 / 24, 1))
    assert (found.in_flight, found.in_flight_count, found.capped) == ((), 0, False)


@pytest.mark.django_db
def test_it_lists_what_is_in_flight(champion: ModelVersion) -> None:
    stored(champion, timedelta(seconds=5))
    late = NOW - timedelta(seconds=3)
    old = stored(champion, timedelta(minutes=90), status="running", external_id="job-1", next_look_at=late)
    first, second = dashboard.figures(NOW).in_flight
    assert (first.id, first.age_seconds, first.external_id, first.next_look_seconds) == (str(old.pk), 5400, "job-1", -3)
    assert (second.age_seconds, second.external_id, second.next_look_seconds) == (5, "", None)


@pytest.mark.django_db
def test_it_says_when_it_did_not_look_at_all(champion: ModelVersion, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "MOST_RUNS", 2)
    for _ in range(3):
        finished(champion, answered(None, None))
    found = dashboard.figures(NOW)
    assert (found.capped, found.backends[0].runs) == (True, 2)

"""One attempt to score a batch: its moves, its lease, its end."""

import time
from datetime import timedelta

import factories
import pytest
from django.utils import timezone
from factories import NOW

from gpujobs import runs
from gpujobs.models import GpuRun, ModelVersion, RunEvent
from inkcloak.lifecycle import IllegalMove, advance


@pytest.fixture
def run(champion: ModelVersion) -> GpuRun:
    return runs.open_run(backend="local", model_version=champion, texts=2, now=NOW)


def succeed(run: GpuRun) -> bool:
    return runs.succeed(run, result={"texts": []}, tokens=40, execution_ms=12, now=NOW)


def moves(run: GpuRun) -> list[tuple[str, str, str]]:
    return list(run.events.order_by("id").values_list("previous", "current", "reason"))


def test_it_begins_with_a_lease(run: GpuRun) -> None:
    assert run.status == GpuRun.Status.STARTING
    assert run.lease_expires_at == NOW + timedelta(seconds=runs.LEASE_SECONDS)
    assert moves(run) == [("", "starting", "")]


def test_it_keeps_the_answer_and_each_move(run: GpuRun) -> None:
    assert runs.started(run, external_id="job-7")
    assert succeed(run)
    assert (run.status, run.tokens, run.execution_ms, run.finished_at) == ("succeeded", 40, 12, NOW)
    assert (run.result, run.external_id) == ({"texts": []}, "job-7")
    assert moves(run) == [("", "starting", ""), ("starting", "running", ""), ("running", "succeeded", "")]


def test_it_keeps_why_it_failed(run: GpuRun) -> None:
    runs.started(run)
    assert runs.fail(run, "out_of_memory", now=NOW)
    assert (run.status, run.failure_code, run.finished_at) == ("failed", "out_of_memory", NOW)
    assert moves(run)[-1] == ("running", "failed", "out_of_memory")


def test_it_ignores_a_late_answer(run: GpuRun) -> None:
    late = GpuRun.objects.get(pk=run.pk)  # as the worker that lost its lease remembers it
    runs.fail(run, "lease_expired", now=NOW)
    assert not succeed(late)
    run.refresh_from_db()
    assert (run.status, run.result) == ("failed", None)
    assert len(moves(run)) == 2


def test_it_does_not_fail_after_it_succeeded(run: GpuRun) -> None:
    succeed(run)
    assert not runs.fail(run, "lease_expired", now=NOW)
    run.refresh_from_db()
    assert (run.status, run.failure_code) == ("succeeded", "")


def test_it_does_not_start_after_it_ended(run: GpuRun) -> None:
    runs.fail(run, "x", now=NOW)
    assert not runs.started(run)


@pytest.mark.django_db(transaction=True)
def test_it_ends_once_when_answer_and_expiry_race() -> None:
    run = runs.open_run(backend="local", model_version=factories.champion(), texts=1, now=NOW)
    copies = [GpuRun.objects.get(pk=run.pk) for _ in range(6)]
    ended = factories.together(lambda n: succeed(copies[n]) if n % 2 else runs.fail(copies[n], "gone", now=NOW), 6)
    assert sorted(map(bool, ended)) == [False] * 5 + [True]
    assert RunEvent.objects.filter(current__in=("succeeded", "failed")).count() == 1


def test_it_is_expired_only_after_its_lease_and_in_flight(run: GpuRun) -> None:
    end = run.lease_expires_at
    assert runs.expired(end) == []
    assert runs.expired(end + timedelta(milliseconds=1)) == [run]
    runs.started(run)
    assert runs.expired(end + timedelta(days=1)) == [run]
    succeed(run)
    assert runs.expired(end + timedelta(days=1)) == []


@pytest.fixture
def quick_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shorter wait, nothing else: the thread and its UPDATE are the real ones."""
    monkeypatch.setattr(runs, "HEARTBEAT_SECONDS", 0.05)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("quick_heartbeat")
def test_it_keeps_its_lease_while_work_goes_on_and_not_longer() -> None:
    run = runs.open_run(backend="local", model_version=factories.champion(), texts=1, now=NOW)
    assert runs.expired(timezone.now()) == [run]  # NOW is long ago
    with runs.keep_alive(run):
        factories.eventually(lambda: runs.expired(timezone.now()) == [])
    run.refresh_from_db()
    assert run.lease_expires_at > timezone.now()
    runs.started(run)
    GpuRun.objects.filter(pk=run.pk).update(lease_expires_at=NOW)
    assert runs.expired(timezone.now()) == [run]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("quick_heartbeat")
def test_it_does_not_renew_the_lease_of_a_run_that_was_ended() -> None:
    run = runs.open_run(backend="local", model_version=factories.champion(), texts=1, now=NOW)
    with runs.keep_alive(run):
        factories.eventually(lambda: runs.expired(timezone.now()) == [])
        runs.fail(run, "cancelled", now=NOW)
        GpuRun.objects.filter(pk=run.pk).update(lease_expires_at=NOW)
        time.sleep(10 * runs.HEARTBEAT_SECONDS)
    run.refresh_from_db()
    assert run.lease_expires_at == NOW


def test_no_status_may_become_starting(run: GpuRun) -> None:
    with pytest.raises(IllegalMove, match="GpuRun: nothing may become starting"):
        advance(GpuRun.objects.all(), GpuRun.Status.STARTING)


# --- Runs that a backend works on by itself ---------------------------------------------------------------------


@pytest.fixture
def far_away(run: GpuRun) -> GpuRun:
    runs.started(run)
    assert runs.accepted(run, external_id="job-1", attempt=1, seconds=300, now=NOW)
    return run


def test_it_is_not_dead_while_the_backend_has_time(far_away: GpuRun) -> None:
    assert far_away.give_up_at == NOW + timedelta(seconds=300)
    assert runs.expired(far_away.give_up_at) == []
    assert runs.expired(far_away.give_up_at + timedelta(seconds=runs.GIVE_UP_GRACE_SECONDS + 1)) == [far_away]


def test_it_is_looked_at_when_due_and_by_one_alone(far_away: GpuRun) -> None:
    assert runs.take_look(far_away, now=NOW) is None
    due = far_away.next_look_at
    pause = runs.take_look(far_away, now=due)
    assert pause is not None
    assert runs.take_look(far_away, now=due) is None
    far_away.refresh_from_db()
    assert far_away.next_look_at == due + timedelta(seconds=pause)


def test_looks_become_rarer_but_never_rare(far_away: GpuRun) -> None:
    GpuRun.objects.filter(pk=far_away.pk).update(created_at=NOW)
    far_away.refresh_from_db()
    pauses = [runs.take_look(far_away, now=NOW + timedelta(seconds=s)) for s in (1, 10, 200)]
    for pause, around in zip(pauses, (0.5, 2.5, 5.0), strict=True):
        assert 0.8 * around <= pause <= 1.2 * around


def test_a_run_whose_look_is_long_due_is_unattended(far_away: GpuRun) -> None:
    due = far_away.next_look_at
    assert runs.unattended(due + timedelta(seconds=runs.UNATTENDED_SECONDS)) == []
    assert runs.unattended(due + timedelta(seconds=runs.UNATTENDED_SECONDS + 1)) == [far_away]
    succeed(far_away)
    assert runs.unattended(NOW + timedelta(days=1)) == []


def test_it_counts_what_a_backend_has_in_flight(run: GpuRun, champion: ModelVersion) -> None:
    assert (runs.in_flight("local"), runs.in_flight("runpod")) == (1, 0)
    succeed(run)
    assert runs.in_flight("local") == 0


def test_it_accepts_nothing_for_a_run_that_has_ended(run: GpuRun) -> None:
    runs.fail(run, "x", now=NOW)
    assert not runs.accepted(run, external_id="job-1", attempt=1, seconds=9, now=NOW)
    assert run.external_id == ""

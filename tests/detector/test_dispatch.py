"""Queue -> run -> verdict, and what happens when a part of that way breaks."""

from datetime import timedelta

import factories
import pytest
import redis
import samples
from django.utils import timezone
from factories import NOW, ScriptedBackend
from pytest_django import Settings

from billing.models import Meter, Reservation, User
from detector import collect, dispatch, retention
from detector.models import Submission, Verdict
from gpujobs import runs
from gpujobs.backends import Accepted, Answer, BackendError
from gpujobs.models import GpuRun, ModelVersion
from gpujobs.pod.contract import ScoreRequest

BROKEN = BackendError("gpu_gone", permanent=False)
LATER = NOW + timedelta(days=400)  # after every lease


@pytest.fixture
def waiting(alice: User, champion: ModelVersion) -> Submission:
    return factories.accepted(factories.owner(alice))


def work(backend: ScriptedBackend) -> int:
    """Batches until nothing waits, as a worker does."""
    batches = 0
    while dispatch.next_batch(now=NOW, backend=backend):
        batches += 1
        assert batches < 100, "it never ends"
    return batches


def meter() -> tuple[int, int]:
    found = Meter.objects.get()
    return found.used, found.held


def again(submission: Submission) -> Submission:
    return Submission.objects.select_related("verdict", "reservation").get(pk=submission.pk)


def test_it_brings_a_text_to_its_verdict_and_charges_it(waiting: Submission, champion: ModelVersion) -> None:
    backend = ScriptedBackend(0.99)
    assert work(backend) == 1
    done = again(waiting)
    assert (done.status, done.attempts, done.failure_code) == ("done", 1, "")
    assert (done.verdict.label, done.verdict.probability, done.verdict.tier) == ("ai", 0.99, "cpu")
    assert (done.verdict.model_version, done.verdict.max_fpr) == (champion, "0.01")
    assert done.reservation.status == Reservation.Status.SETTLED
    assert meter() == (done.words, 0)
    assert done.run.status == GpuRun.Status.SUCCEEDED
    assert done.finished_at >= done.dispatched_at


def test_it_sends_prose_under_our_ids(alice: User, champion: ModelVersion) -> None:
    submission = factories.accepted(factories.owner(alice), samples.MIXED)
    backend = ScriptedBackend()
    work(backend)
    (request,) = backend.requests
    (text,) = request.texts
    assert (text.id, text.language, request.model_version) == (str(submission.pk), "en", champion.pk)
    assert "print(index)" not in text.text
    assert "\u200b" not in text.text
    assert text.text.startswith("🙂 Emma Woodhouse")


def test_it_has_nothing_to_do_without_texts(champion: ModelVersion) -> None:
    assert not dispatch.next_batch(now=NOW, backend=ScriptedBackend())


def test_it_scores_several_texts_in_one_run(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    rows = [factories.accepted(by, text) for text in (samples.HUMAN, samples.AI, samples.SPANISH)]
    assert work(ScriptedBackend(0.02)) == 1
    assert {again(row).verdict.label for row in rows} == {"human"}
    assert meter() == (sum(row.words for row in rows), 0)
    assert GpuRun.objects.get().texts == 3


def test_it_judges_by_the_cap_that_was_asked_for(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    strict, loose = (factories.accepted(by, max_fpr=cap) for cap in ("0.005", "0.05"))
    work(ScriptedBackend(0.8))
    assert (again(strict).verdict.label, again(strict).verdict.max_fpr) == ("human", "0.005")
    assert (again(loose).verdict.label, again(loose).verdict.max_fpr) == ("ai", "0.05")


# --- The other side's failure -----------------------------------------------------------------------------


def test_it_tries_the_texts_of_a_failed_run_again(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    rows = [factories.accepted(by, text) for text in (samples.HUMAN, samples.AI)]
    backend = ScriptedBackend(script=[BROKEN])
    assert work(backend) == 2
    assert [len(request.texts) for request in backend.requests] == [2, 2]
    assert {again(row).status for row in rows} == {"done"}
    assert {again(row).attempts for row in rows} == {2}
    assert GpuRun.objects.filter(status="failed", failure_code="gpu_gone").count() == 1


def test_it_gives_up_after_three_attempts_and_charges_nothing(waiting: Submission) -> None:
    backend = ScriptedBackend(script=[BROKEN] * 10)
    assert work(backend) == collect.MAX_ATTEMPTS == 3
    failed = again(waiting)
    assert (failed.status, failed.failure_code, failed.attempts) == ("failed", "gpu_gone", 3)
    assert failed.reservation.status == Reservation.Status.RELEASED
    assert meter() == (0, 0)
    assert not Verdict.objects.exists()


def test_a_text_that_breaks_runs_takes_no_other_down(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    poison = factories.accepted(by, samples.AI)
    good = factories.accepted(by, now=NOW + timedelta(seconds=1))
    healthy = ScriptedBackend(0.1)

    def break_on_poison(request: ScoreRequest) -> Answer:
        if str(poison.pk) in {text.id for text in request.texts}:
            raise BROKEN
        return healthy.answer(request)

    work(ScriptedBackend(script=[break_on_poison] * 10))
    assert (again(poison).status, again(good).status) == ("failed", "done")
    assert meter() == (good.words, 0)


def test_it_fails_only_the_text_that_could_not_be_scored(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    bad, good = factories.accepted(by, samples.AI), factories.accepted(by)

    def one_error(request: ScoreRequest) -> Answer:
        texts = [factories.scores(text, 0.1) for text in request.texts]
        texts = [factories.failed(text, "language") if text.id == str(bad.pk) else text for text in texts]
        return Answer(factories.response(request, texts))

    assert work(ScriptedBackend(script=[one_error])) == 1
    assert (again(bad).status, again(bad).failure_code) == ("failed", "language")
    assert again(bad).reservation.status == Reservation.Status.RELEASED
    assert again(good).status == "done"


def test_a_score_that_gives_no_verdict_fails_that_text_alone(alice: User, champion: ModelVersion) -> None:
    """As when the limits of a language were lost after its texts had been accepted."""
    by = factories.owner(alice)
    bad = factories.accepted(by, samples.SPANISH)
    good = factories.accepted(by, now=NOW + timedelta(seconds=1))
    champion.manifest["thresholds"]["es"] = {}
    champion.save()
    work(ScriptedBackend(0.1))
    assert (again(bad).status, again(bad).failure_code) == ("failed", "no_verdict")
    assert again(good).status == "done"
    assert meter() == (good.words, 0)


# --- Killed processes ---------------------------------------------------------------------------------------


def lost(submission: Submission) -> GpuRun:
    """A run whose worker was killed: claimed, started, and never heard of again."""
    run, _claimed = dispatch.claim(backend="local", now=NOW)
    runs.started(run)
    return run


def test_it_takes_a_text_back_when_the_lease_ran_out(waiting: Submission) -> None:
    run = lost(waiting)
    dispatch.sweep(now=NOW)
    assert again(waiting).status == "scoring", "the lease still runs"
    dispatch.sweep(now=run.lease_expires_at + timedelta(seconds=1))
    run.refresh_from_db()
    assert (run.status, run.failure_code) == ("failed", "lease_expired")
    assert (again(waiting).status, again(waiting).run, again(waiting).attempts) == ("queued", None, 1)
    work(ScriptedBackend())
    assert again(waiting).status == "done"
    assert meter() == (waiting.words, 0)


def test_it_gives_up_a_text_that_kills_three_workers(waiting: Submission, settings) -> None:
    for n in range(3):
        lost(waiting)
        dispatch.sweep(now=NOW + timedelta(seconds=30))
        assert again(waiting).status == ("queued" if n < 2 else "failed")
    assert again(waiting).failure_code == "lease_expired"
    assert meter() == (0, 0)


def test_it_collects_what_a_killed_worker_had_scored(waiting: Submission) -> None:
    run = lost(waiting)
    answer = ScriptedBackend(0.99).answer(dispatch.request_for(run, [waiting])).response
    runs.succeed(run, result=answer.to_json(), tokens=1, execution_ms=1, now=NOW)
    dispatch.sweep(now=NOW)
    assert again(waiting).verdict.label == "ai"
    assert meter() == (waiting.words, 0)


def test_it_scores_again_what_another_release_kept(waiting: Submission) -> None:
    run = lost(waiting)
    runs.succeed(run, result={"contract_version": 0}, tokens=1, execution_ms=1, now=NOW)
    dispatch.sweep(now=NOW)
    assert again(waiting).status == "queued"
    work(ScriptedBackend())
    assert again(waiting).status == "done"


def test_a_late_answer_changes_nothing_after_another_worker_took_over(waiting: Submission) -> None:
    late_run = lost(waiting)
    late_request = dispatch.request_for(late_run, [waiting])
    dispatch.sweep(now=late_run.lease_expires_at + timedelta(seconds=1))
    work(ScriptedBackend(0.99))
    late = ScriptedBackend(0.01).answer(late_request).response
    assert not runs.succeed(late_run, result=late.to_json(), tokens=1, execution_ms=1, now=NOW)
    collect.collect(late_run, now=NOW)
    assert again(waiting).verdict.label == "ai"
    assert meter() == (waiting.words, 0)


@pytest.mark.usefixtures("waiting")
def test_it_makes_one_verdict_and_one_charge_of_a_run_collected_twice(waiting: Submission) -> None:
    work(ScriptedBackend())
    run = GpuRun.objects.get()
    for _ in range(3):
        collect.collect(run, now=NOW)
    assert Verdict.objects.count() == 1
    assert meter() == (waiting.words, 0)


@pytest.mark.django_db(transaction=True)
def test_it_makes_one_verdict_when_two_collect_at_once() -> None:
    factories.champion()
    submission = factories.accepted(factories.visitor())
    run = lost(submission)
    answer = ScriptedBackend().answer(dispatch.request_for(run, [submission])).response
    runs.succeed(run, result=answer.to_json(), tokens=1, execution_ms=1, now=NOW)
    found = factories.together(lambda _n: collect.collect(GpuRun.objects.get(pk=run.pk), now=NOW), 6)
    assert found == [None] * 6
    assert Verdict.objects.count() == 1
    assert meter() == (1, 0)


# --- Deleted, overdue, swept -----------------------------------------------------------------------------


def test_it_forgets_a_text_that_was_deleted_while_it_was_scored(waiting: Submission) -> None:
    healthy = ScriptedBackend()

    def deleted_meanwhile(request: ScoreRequest) -> Answer:
        retention.delete(Submission.objects.get(pk=waiting.pk))
        return healthy.answer(request)

    work(ScriptedBackend(script=[deleted_meanwhile]))
    assert not Submission.objects.exists()
    assert not Verdict.objects.exists()
    assert meter() == (0, 0)
    assert Reservation.objects.get().status == Reservation.Status.RELEASED


@pytest.mark.parametrize("started", [False, True])
def test_it_ends_what_is_past_its_deadline(waiting: Submission, started: bool) -> None:
    if started:
        lost(waiting)
    dispatch.sweep(now=waiting.deadline_at)
    assert not again(waiting).is_finished
    GpuRun.objects.update(lease_expires_at=LATER + timedelta(days=1))  # its worker lives, but is too slow
    dispatch.sweep(now=LATER)
    assert (again(waiting).status, again(waiting).failure_code) == ("failed", "deadline")
    assert meter() == (0, 0)


def test_an_answer_after_the_deadline_is_neither_shown_nor_charged(waiting: Submission) -> None:
    run = lost(waiting)
    GpuRun.objects.update(lease_expires_at=LATER + timedelta(days=1))
    dispatch.sweep(now=LATER)
    answer = ScriptedBackend().answer(dispatch.request_for(run, [waiting])).response
    runs.succeed(run, result=answer.to_json(), tokens=1, execution_ms=1, now=LATER)
    collect.collect(run, now=LATER)
    assert again(waiting).status == "failed"
    assert not Verdict.objects.exists()
    assert meter() == (0, 0)


def test_it_sweeps_twice_as_it_sweeps_once(waiting: Submission) -> None:
    lost(waiting)
    for _ in range(3):
        dispatch.sweep(now=NOW + timedelta(minutes=1))
    assert (again(waiting).status, again(waiting).attempts) == ("queued", 1)
    assert GpuRun.objects.get().events.filter(current="failed").count() == 1


def test_it_wakes_a_worker_only_while_something_waits(waiting: Submission, broker: redis.Redis) -> None:
    dispatch.sweep(now=NOW)
    assert broker.llen("score") == 1
    work(ScriptedBackend())
    broker.delete("score")
    dispatch.sweep(now=NOW)
    assert broker.llen("score") == 0


# --- A backend that works by itself -------------------------------------------------------------------------


@pytest.fixture
def far() -> ScriptedBackend:
    """Takes every batch and answers later."""
    backend = ScriptedBackend(script=[lambda _request: Accepted("job-1")] * 20)
    backend.name = "runpod"
    return backend


def looked_after(submission: Submission, backend: ScriptedBackend, *told) -> Submission:
    backend.polls.extend(told)
    run = again(submission).run
    dispatch.look_after(run.pk, now=run.next_look_at, backend=backend)
    return again(submission)


def test_it_leaves_a_run_alone_that_a_backend_accepted(waiting: Submission, far: ScriptedBackend) -> None:
    assert work(far) == 1
    assert again(waiting).status == "scoring"
    assert again(waiting).run.status == "running"
    dispatch.sweep(now=timezone.now() + timedelta(minutes=5))
    assert again(waiting).run.status == "running"


def test_it_brings_the_later_answer_to_its_text(waiting: Submission, far: ScriptedBackend) -> None:
    work(far)
    assert looked_after(waiting, far, None).status == "scoring"
    (request,) = far.requests
    done = looked_after(waiting, far, far.answer(request))
    assert (done.status, done.verdict.label) == ("done", "ai")
    assert meter() == (done.words, 0)


def test_it_tries_again_what_a_backend_failed_later(waiting: Submission, far: ScriptedBackend) -> None:
    work(far)
    assert looked_after(waiting, far, BROKEN).status == "queued"


def test_it_asks_for_no_more_batches_than_fit(
    alice: User, champion: ModelVersion, far: ScriptedBackend, settings: Settings, broker: redis.Redis
) -> None:
    settings.RUNS_IN_FLIGHT = 1
    by = factories.owner(alice)
    first = factories.accepted(by, lane=Submission.Lane.BULK)
    assert work(far) == 1
    factories.accepted(by, samples.AI, lane=Submission.Lane.BULK)
    assert work(far) == 0
    broker.delete("score")
    looked_after(first, far, far.answer(far.requests[0]))
    assert broker.llen("score") == 1  # the place that got free is told
    assert work(far) == 1


def test_a_pasted_text_passes_a_bulk_job_that_takes_all_places(
    alice: User, champion: ModelVersion, far: ScriptedBackend, settings: Settings
) -> None:
    settings.RUNS_IN_FLIGHT = 1
    by = factories.owner(alice)
    for number in range(2):
        factories.accepted(by, f"{samples.HUMAN} {number}", lane=Submission.Lane.BULK)
        work(far)
    assert len(far.requests) == 1
    for number in range(2, 9):
        factories.accepted(by, f"{samples.HUMAN} {number}")
        work(far)
    assert len(far.requests) == 1 + dispatch.RUNS_KEPT_FREE, "nor without limit"
    assert Submission.objects.filter(lane=Submission.Lane.BULK, status="queued").count() == 1


def test_it_lets_somebody_wait_and_bulk_not(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    factories.accepted(by, lane=Submission.Lane.BULK)
    factories.accepted(by, samples.AI)
    backend = ScriptedBackend()
    work(backend)
    assert [order.wait for order in backend.orders] == [True, False]


def test_a_run_that_nobody_looks_after_is_found(waiting: Submission, far: ScriptedBackend, broker: redis.Redis) -> None:
    work(far)
    broker.delete("default")
    dispatch.sweep(now=timezone.now() + timedelta(seconds=1))
    assert broker.llen("default") == 0
    dispatch.sweep(now=timezone.now() + timedelta(minutes=1))
    assert broker.llen("default") == 1


@pytest.mark.django_db(transaction=True)
def test_two_sweeps_at_once_change_nothing_more() -> None:
    factories.champion()
    submission = factories.accepted(factories.visitor())
    lost(submission)
    found = factories.together(lambda _n: dispatch.sweep(now=NOW + timedelta(minutes=1)), 4)
    assert found == [None] * 4
    assert (again(submission).status, again(submission).attempts) == ("queued", 1)

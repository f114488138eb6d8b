"""Forgotten means gone: on time, or when the owner says so."""

import threading
from datetime import timedelta

import factories
import pytest
import samples
from django.apps import apps
from django.db import connection, transaction
from factories import NOW, ScriptedBackend

from billing.accounts import account_of
from billing.models import Account, Meter, Reservation, User
from detector import batches, collect, dispatch, retention, tasks
from detector.models import Batch, Submission, Verdict
from gpujobs import runs
from gpujobs.models import GpuRun, ModelVersion

PLANTED = "quixotic zeppelin marmalade"
TEXT = f"{samples.HUMAN} {PLANTED}. {samples.AI}"


def database_says(words: str) -> list[str]:
    """Every table in which a row contains these words."""
    found = []
    with connection.cursor() as cursor:
        for model in apps.get_models():
            table = model._meta.db_table
            query = f'SELECT count(*) FROM "{table}" t WHERE t::text ILIKE %s'  # noqa: S608 - our own table names
            cursor.execute(query, [f"%{words}%"])
            if cursor.fetchone()[0]:
                found.append(table)
    return found


def test_it_deletes_a_text_with_everything_that_tells_of_it(alice: User, champion: ModelVersion) -> None:
    submission = factories.checked(factories.owner(alice), TEXT)
    run = submission.run
    assert database_says(PLANTED) == ["detector_submission"]
    assert run.result["texts"][0]["windows"]
    retention.delete(submission)
    assert database_says(PLANTED) == []
    assert not Verdict.objects.exists()
    run.refresh_from_db()
    assert run.result is None, "offsets tell the shape of a text"
    assert run.execution_ms == 7, "what it cost stays known"


def test_it_keeps_what_was_charged(alice: User, champion: ModelVersion) -> None:
    submission = factories.checked(factories.owner(alice))
    retention.delete(submission)
    assert Meter.objects.get().used == submission.words
    assert Reservation.objects.get().status == Reservation.Status.SETTLED


def test_it_frees_what_a_waiting_text_held(alice: User, champion: ModelVersion) -> None:
    retention.delete(factories.accepted(factories.owner(alice)))
    assert (Meter.objects.get().used, Meter.objects.get().held) == (0, 0)


def test_it_deletes_twice_as_once(alice: User, champion: ModelVersion) -> None:
    submission = factories.accepted(factories.owner(alice))
    for _ in range(2):
        retention.delete(Submission(pk=submission.pk))
    assert Meter.objects.get().held == 0


def test_it_keeps_scores_while_another_text_of_the_run_is_left(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    first, second = factories.accepted(by), factories.accepted(by, samples.AI)
    dispatch.next_batch(now=NOW, backend=ScriptedBackend())
    run = GpuRun.objects.get()
    for submission, kept in ((first, True), (second, False)):
        retention.delete(submission)
        run.refresh_from_db()
        assert (run.result is not None) == kept


def test_it_forgets_scores_that_came_after_the_text_was_deleted(alice: User, champion: ModelVersion) -> None:
    submission = factories.accepted(factories.owner(alice))
    run, claimed = dispatch.claim(backend="local", now=NOW)
    answer = ScriptedBackend().answer(dispatch.request_for(run, claimed)).response
    retention.delete(submission)
    runs.succeed(run, result=answer.to_json(), tokens=1, execution_ms=1, now=NOW)
    retention.forget_expired(now=NOW)
    run.refresh_from_db()
    assert run.result is None


def test_it_keeps_scores_that_are_not_collected_yet(alice: User, champion: ModelVersion) -> None:
    factories.accepted(factories.owner(alice))
    run, claimed = dispatch.claim(backend="local", now=NOW)
    answer = ScriptedBackend().answer(dispatch.request_for(run, claimed)).response
    runs.succeed(run, result=answer.to_json(), tokens=1, execution_ms=1, now=NOW)
    retention.forget_expired(now=NOW)
    collect.collect(GpuRun.objects.get(), now=NOW)
    assert Verdict.objects.count() == 1


@pytest.mark.usefixtures("champion")
def test_it_forgets_visitors_after_a_day_and_accounts_after_ninety(alice: User, settings) -> None:
    settings.VISITOR_RETENTION_DAYS, settings.ACCOUNT_RETENTION_DAYS = 1, 90
    visit = factories.checked(factories.visitor())
    own = factories.checked(factories.owner(alice))

    def left(**after: float) -> set:
        retention.forget_expired(now=NOW + timedelta(**after))
        return set(Submission.objects.values_list("pk", flat=True))

    assert left(hours=24) == {visit.pk, own.pk}
    assert left(hours=24, seconds=1) == {own.pk}
    assert left(days=90) == {own.pk}
    assert left(days=90, seconds=1) == set()
    assert database_says(samples.HUMAN[:40]) == []


def test_it_keeps_for_as_long_as_the_plan_says(alice: User, bob: User, champion: ModelVersion, settings) -> None:
    settings.ACCOUNT_RETENTION_DAYS = 90
    Account.objects.filter(pk=account_of(alice).pk).update(plan_name="pro")
    hers, _his = (factories.checked(factories.owner(user)) for user in (alice, bob))
    for user in (alice, bob):
        made = batches.create(account_of(user), texts=1, now=NOW)
        Batch.objects.filter(pk=made.pk).update(created_at=NOW)
    retention.forget_expired(now=NOW + timedelta(days=91))
    assert list(Submission.objects.all()) == [hers]
    assert Batch.objects.get().account == account_of(alice)
    ended = {"plan_until": NOW + timedelta(days=100), "next_plan_name": "free"}
    Account.objects.filter(pk=account_of(alice).pk).update(**ended)
    retention.forget_expired(now=NOW + timedelta(days=99))
    assert Submission.objects.count() == 1
    retention.forget_expired(now=NOW + timedelta(days=101))
    assert not Submission.objects.exists(), "the plan is over: the free one's days count"


@pytest.mark.usefixtures("champion")
def test_it_counts_what_it_forgot_and_goes_on_past_one_portion(alice: User, monkeypatch) -> None:
    monkeypatch.setattr(retention, "FORGET_ROWS", 2)
    for _ in range(5):
        factories.accepted(factories.owner(alice), samples.SHORT)
    assert retention.forget_expired(now=NOW + timedelta(days=1_000)) == 5
    assert retention.forget_expired(now=NOW + timedelta(days=1_000)) == 0


def test_the_hourly_task_forgets(alice: User, champion: ModelVersion) -> None:
    factories.checked(factories.visitor(), now=NOW - timedelta(days=4_000))
    tasks.forget()
    assert not Submission.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_delete_and_collect_do_not_wait_for_each_other() -> None:
    """While collect holds the row, delete must not yet hold the reservation that collect settles next."""
    factories.champion()
    submission = factories.accepted(factories.visitor())

    def delete() -> None:
        retention.delete(Submission.objects.get(pk=submission.pk))
        connection.close()

    deleting = threading.Thread(target=delete)
    with transaction.atomic():
        Submission.objects.select_for_update().get(pk=submission.pk)
        deleting.start()
        factories.eventually(somebody_waits_for_a_lock)
        Reservation.objects.select_for_update(nowait=True).get(pk=submission.reservation_id)
    deleting.join(factories.PATIENCE_SECONDS)
    assert not Submission.objects.exists()


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])

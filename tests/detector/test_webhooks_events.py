"""What accounts hear of: written with what happened or not at all, once, and never a text."""

import json
from datetime import timedelta

import factories
import pytest
import redis
import samples
import webhook_rows
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from factories import NOW, ScriptedBackend

from billing.accounts import account_of
from billing.models import User
from detector import batches, collect, dispatch, intake, retention, webhook_endpoints, webhooks
from detector.models import Submission, WebhookDelivery, WebhookEvent
from detector.models.webhook import EventType

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


def told(of: User) -> list[tuple[str, dict]]:
    """Types and data, in order."""
    rows = WebhookEvent.objects.filter(account=account_of(of)).order_by("created_at", "type")
    return [(event.type, event.payload["data"]) for event in rows]


def test_a_verdict_is_told(alice: User) -> None:
    webhook_rows.endpoint(alice)
    submission = factories.checked(factories.owner(alice))
    ((type_, data),) = told(alice)
    assert type_ == "detection.completed"
    assert (data["id"], data["status"], data["verdict"]) == (str(submission.pk), "done", "ai")
    assert data["probability"] == pytest.approx(submission.verdict.probability)
    assert data["usage"]["words_charged"] == submission.words
    event = WebhookEvent.objects.get()
    assert event.payload["type"] == type_
    assert event.payload["timestamp"][:19] == event.created_at.isoformat()[:19]
    assert WebhookDelivery.objects.get().next_attempt_at == event.created_at


def test_no_text_is_in_it(alice: User) -> None:
    webhook_rows.endpoint(alice)
    factories.checked(factories.owner(alice), samples.AI)
    factories.accepted(factories.owner(alice), "Emma Woodhouse, handsome, clever.")
    written = json.dumps(list(WebhookEvent.objects.values_list("payload", flat=True)))
    assert written.count("detection.completed") == 2
    for word in ("Woodhouse", "digital landscape", "segments", '"text"'):
        assert word not in written


def test_a_failure_is_told(alice: User) -> None:
    webhook_rows.endpoint(alice)
    submission = factories.accepted(factories.owner(alice))
    collect.give_up(submission, "deadline", now=NOW)
    collect.give_up(submission, "deadline", now=NOW)
    ((type_, data),) = told(alice)
    assert (type_, data["status"], data["failure"], data["verdict"]) == ("detection.failed", "failed", "deadline", None)


def test_what_is_known_at_once_is_told_too(alice: User) -> None:
    """Too little evidence; and a repeat."""
    factories.checked(factories.owner(alice))
    webhook_rows.endpoint(alice)
    factories.accepted(factories.owner(alice), "Too short.")
    factories.accepted(factories.owner(alice))
    assert sorted((data["verdict"], data["cached"]) for _type, data in told(alice)) == [
        ("ai", True),
        ("insufficient", False),
    ]


def test_what_is_rolled_back_is_not_told(alice: User) -> None:
    webhook_rows.endpoint(alice)
    submission = factories.accepted(factories.owner(alice))
    with transaction.atomic():
        collect.give_up(submission, "deadline", now=NOW)
        transaction.set_rollback(True)
    assert told(alice) == []


def test_only_the_accounts_own_endpoints_hear_and_only_what_they_asked_for(
    alice: User, bob: User, charlie: User
) -> None:
    webhook_rows.endpoint(alice, events=(EventType.DETECTION_FAILED, EventType.BATCH_COMPLETED))
    both = [webhook_rows.endpoint(bob, events=(EventType.DETECTION_COMPLETED,)).endpoint for _ in range(2)]
    webhook_rows.endpoint(charlie)
    for owner in (factories.owner(alice), factories.owner(bob), factories.visitor()):
        factories.accepted(owner)
    while dispatch.next_batch(now=NOW, backend=ScriptedBackend()):
        pass
    assert Submission.objects.filter(status="done").count() == 3
    assert {delivery.endpoint_id for delivery in WebhookDelivery.objects.all()} == {row.pk for row in both}
    assert WebhookEvent.objects.get().account == account_of(bob), "one event, two deliveries of it"


def test_a_disabled_endpoint_hears_nothing(alice: User) -> None:
    made = webhook_rows.endpoint(alice).endpoint
    webhook_endpoints.update(made, disabled=True, now=NOW)
    factories.checked(factories.owner(alice))
    assert told(alice) == []


def test_an_account_without_endpoints_costs_one_query(alice: User) -> None:
    submission = factories.checked(factories.owner(alice))
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        webhooks.detections_finished([submission.pk], now=NOW)
    assert len(queries) == 1
    assert told(alice) == []


def test_many_verdicts_take_as_many_queries_as_one(alice: User) -> None:
    webhook_rows.endpoint(alice)
    rows = [factories.checked(factories.owner(alice)).pk for _ in range(5)]
    counts = []
    for ids in (rows[:1], rows):
        with transaction.atomic(), CaptureQueriesContext(connection) as queries:
            webhooks.detections_finished(ids, now=NOW)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5


def test_a_batch_is_told_once_when_its_last_text_is_done(alice: User) -> None:
    webhook_rows.endpoint(alice, events=(EventType.BATCH_COMPLETED,))
    owner = factories.owner(alice)
    batch = batches.create(account_of(alice), texts=3, now=NOW)
    texts = dict(enumerate(intake.read(text) for text in (samples.HUMAN, samples.AI, "Too short.")))
    intake.accept_all(owner=owner, texts=texts, batch=batch, source=Submission.Source.API, now=NOW)
    batches.close(batch, refused=0, now=NOW)
    assert told(alice) == []
    while dispatch.next_batch(now=NOW, backend=ScriptedBackend()):
        pass
    batches.look([batch.pk], now=NOW)
    ((type_, data),) = told(alice)
    assert type_ == "batch.completed"
    assert (data["id"], data["texts"], data["done"], data["failed"]) == (str(batch.pk), 3, 3, 0)


def test_each_mark_of_the_months_words_warns_once(alice: User, settings) -> None:
    words = factories.accepted(factories.owner(alice)).words
    settings.FREE_WORDS_PER_MONTH = words * 100
    webhook_rows.endpoint(alice, events=(EventType.QUOTA_WARNING,))
    account = account_of(alice)

    def reserved(times: int) -> None:
        for _ in range(times):
            factories.accepted(factories.owner(alice), reuse=False)

    reserved(78)
    assert told(alice) == [], "79 of 100"
    reserved(1)
    assert [(type_, data["percent"], data["left"]) for type_, data in told(alice)] == [
        ("quota.warning", 80, 20 * words)
    ]
    webhooks.words_reserved(account, words, now=NOW)
    assert len(told(alice)) == 1, "given back and reserved again"
    reserved(15)
    assert [data["percent"] for _type, data in told(alice)] == [80, 95]
    assert WebhookDelivery.objects.count() == 2


def test_the_next_month_warns_again(alice: User, settings) -> None:
    words = factories.accepted(factories.owner(alice)).words
    settings.FREE_WORDS_PER_MONTH = int(words * 2.4)
    webhook_rows.endpoint(alice, events=(EventType.QUOTA_WARNING,))
    later = NOW + timedelta(days=31)
    for now in (NOW, later, later):
        factories.accepted(factories.owner(alice), now=now, reuse=False)
    assert [data["percent"] for _type, data in told(alice)] == [80, 80]


def test_deleting_a_check_deletes_what_was_to_be_told_of_it(alice: User) -> None:
    webhook_rows.endpoint(alice)
    submission = factories.checked(factories.owner(alice))
    retention.delete(submission)
    assert not WebhookEvent.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_old_events_are_forgotten(alice: User) -> None:
    webhook_rows.endpoint(alice)
    factories.accepted(factories.owner(alice), "Too short.")
    factories.accepted(factories.owner(alice), "Too short as well.", now=NOW + timedelta(days=29))
    assert webhooks.forget_old(now=NOW + timedelta(days=31)) == 1
    assert webhooks.forget_old(now=NOW + timedelta(days=31)) == 0
    assert WebhookDelivery.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_is_woken_when_it_is_committed(alice: User, broker: redis.Redis) -> None:
    webhook_rows.endpoint(alice)
    factories.accepted(factories.owner(alice), "Too short.")
    assert [json.loads(message)["headers"]["task"] for message in broker.lrange("default", 0, -1)] == [webhooks.TASK]


@pytest.mark.django_db(transaction=True)
def test_an_endpoint_deleted_at_this_moment_does_not_cost_the_verdict(alice: User) -> None:
    """Twenty verdicts beside the deletion of those who would hear of them."""
    made = [webhook_rows.endpoint(alice).endpoint for _ in range(4)]
    submissions = [factories.accepted(factories.owner(alice), reuse=False) for _ in range(20)]

    def work(number: int) -> None:
        if number < 4:
            webhook_endpoints.delete(made[number])
        else:
            for submission in submissions[number - 4 :: 4]:
                collect.give_up(submission, "deadline", now=NOW)

    assert factories.together(work, 8) == [None] * 8
    assert Submission.objects.filter(status="failed").count() == 20
    assert not WebhookDelivery.objects.exists()

"""Due deliveries reach a real receiver: signed, again and again when it fails, by one worker, at last given up."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import factories
import pytest
import redis
import webhook_rows
from django.db import connection
from factories import NOW
from webhook_rows import Clock, a_message, deliver, fresh

from billing.models import User
from detector import tasks, webhook_delivery, webhook_endpoints, webhooks
from detector.models import WebhookDelivery, WebhookEndpoint
from detector.webhook_endpoints import Secret
from detector.webhook_sending import Outcome, Wire
from inkcloak.client.webhooks import WebhookError, verify
from tests.loopback import webhook_receiver
from tests.loopback.webhook_receiver import Receiver, Says

pytestmark = pytest.mark.django_db

TESTS = Path(__file__).resolve().parent.parent
HOURS = 3600
PAUSES = [5, 60, 300, 1800, 2 * HOURS, 6 * HOURS, 12 * HOURS, 24 * HOURS]


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOWED_HOSTS = ["127.0.0.1"]
    with webhook_receiver.receiver() as made:
        yield made


@pytest.fixture
def known(alice: User, receiver: Receiver) -> Secret:
    return webhook_rows.endpoint(alice, receiver.url)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def never() -> float:
    """No jitter."""
    return 0.0


def test_it_arrives_signed_and_as_it_is_stored(known: Secret, receiver: Receiver, clock: Clock) -> None:
    delivery = a_message(known.endpoint)
    assert not deliver(clock), "nothing more is due"
    (got,) = receiver.got
    event = verify(got.body, got.headers, known.secret, now=NOW.timestamp())
    assert event == json.loads(json.dumps(fresh(delivery).event.payload))
    assert event["type"] == "webhook.test"
    assert got.webhook_id == delivery.event.message_id
    ended = fresh(delivery)
    assert (ended.status, ended.attempts, ended.last_status_code, ended.last_error) == ("delivered", 1, 200, "")
    assert (ended.next_attempt_at, ended.finished_at, ended.last_attempt_at) == (None, NOW, NOW)
    assert not deliver(clock)
    assert len(receiver.got) == 1


def test_it_comes_again_at_growing_pauses_and_is_given_up(known: Secret, receiver: Receiver, clock: Clock) -> None:
    receiver.default = Says(500)
    delivery = a_message(known.endpoint)
    for attempt, pause in enumerate(PAUSES, start=1):
        deliver(clock, chance=never)
        waiting = fresh(delivery)
        assert (waiting.status, waiting.attempts, waiting.last_status_code) == ("failed", attempt, 500)
        assert waiting.next_attempt_at == clock.now + timedelta(seconds=pause)
        clock.forward(pause - 1)
        deliver(clock, chance=never)
        assert len(receiver.got) == attempt, "a second too early"
        clock.forward(1)
    deliver(clock, chance=never)
    ended = fresh(delivery)
    assert (ended.status, ended.attempts, ended.next_attempt_at) == ("given_up", 9, None)
    assert {got.webhook_id for got in receiver.got} == {delivery.event.message_id}
    assert len({got.headers["webhook-timestamp"] for got in receiver.got}) == 9, "each attempt is signed anew"
    for number, got in enumerate(receiver.got):
        at = (NOW + timedelta(seconds=sum(PAUSES[:number]))).timestamp()
        assert verify(got.body, got.headers, known.secret, now=at)["type"] == "webhook.test"


def test_an_endpoint_at_which_nothing_arrives_for_so_long_is_disabled(
    known: Secret, receiver: Receiver, clock: Clock
) -> None:
    receiver.default = Says(500)
    a_message(known.endpoint)
    for pause in (*PAUSES, 0):
        deliver(clock, chance=never)
        clock.forward(pause)
    disabled = WebhookEndpoint.objects.get()
    assert (disabled.disabled_reason, disabled.disabled_at is not None) == ("failing", True)


def test_an_endpoint_at_which_something_arrived_stays(known: Secret, receiver: Receiver, clock: Clock) -> None:
    receiver.default = Says(500)
    bad = a_message(known.endpoint)
    for pause in (*PAUSES[:-1], 0):
        deliver(clock, chance=never)
        clock.forward(pause)
    receiver.says(200)
    good = a_message(known.endpoint, now=clock.now)
    deliver(clock, chance=never)
    clock.forward(PAUSES[-1])
    deliver(clock, chance=never)
    assert (fresh(bad).status, fresh(good).status) == ("given_up", "delivered")
    assert WebhookEndpoint.objects.get().disabled_at is None


@pytest.mark.parametrize(
    ("attempts", "wish", "chance", "seconds"),
    [(1, 0, 0.0, 5), (1, 0, 1.0, 6), (2, 0, 0.5, 66), (8, 0, 0.0, 86_400), (1, 120, 0.0, 120), (4, 120, 0.0, 1800)],
)
def test_pauses_have_jitter_and_hear_wishes(attempts: int, wish: int, chance: float, seconds: float) -> None:
    assert webhook_delivery.pause(attempts, wish, chance) == timedelta(seconds=seconds)


def test_it_recovers(known: Secret, receiver: Receiver, clock: Clock) -> None:
    receiver.says(503, 404)
    delivery = a_message(known.endpoint)
    for pause in (5, 60, 0):
        deliver(clock, chance=never)
        clock.forward(pause)
    ended = fresh(delivery)
    assert (ended.status, ended.attempts, ended.last_error) == ("delivered", 3, "")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_a_failure(known: Secret, receiver: Receiver, clock: Clock, status: int) -> None:
    receiver.script.append(Says(status, {"Location": receiver.url}))
    delivery = a_message(known.endpoint)
    deliver(clock)
    assert (fresh(delivery).status, fresh(delivery).last_error) == ("failed", "redirect")
    assert len(receiver.got) == 1


def test_410_disables_and_gives_up_what_waits(known: Secret, receiver: Receiver, clock: Clock) -> None:
    receiver.says(410)
    first, later = a_message(known.endpoint), a_message(known.endpoint, now=NOW + timedelta(seconds=30))
    deliver(clock)
    assert (fresh(first).status, fresh(first).last_error, fresh(first).last_status_code) == ("given_up", "gone", 410)
    assert (fresh(later).status, fresh(later).last_error) == ("given_up", "endpoint_disabled")
    disabled = fresh(first).endpoint
    assert (disabled.disabled_at, disabled.disabled_reason) == (NOW, "gone")
    clock.forward(10 * HOURS)
    assert not deliver(clock)
    assert len(receiver.got) == 1


def test_410_of_an_address_that_was_left_disables_nothing(known: Secret, receiver: Receiver, clock: Clock) -> None:
    delivery = a_message(known.endpoint)
    (claimed,) = webhook_delivery.claim(NOW)
    webhook_endpoints.update(known.endpoint, url=f"{receiver.url}&new=1", now=NOW)
    webhook_delivery.record(claimed, Outcome(410, "gone"), now=NOW, chance=never)
    assert fresh(delivery).endpoint.disabled_at is None


def test_a_private_address_gets_nothing_at_delivery(alice: User, receiver: Receiver, clock: Clock, settings) -> None:
    """It was public when it was handed in."""
    settings.WEBHOOK_ALLOWED_HOSTS = []
    delivery = a_message(webhook_rows.endpoint(alice, "https://hooks.example.com:8443/").endpoint)
    deliver(clock, wire=Wire(ask=lambda _host, _port: ["127.0.0.1"], seconds=5.0))
    assert (fresh(delivery).status, fresh(delivery).last_error) == ("failed", "address_refused")


def test_while_secrets_overlap_both_sign(known: Secret, receiver: Receiver, clock: Clock) -> None:
    newer = webhook_endpoints.rotate(known.endpoint, now=NOW, overlap_hours=24)
    for hours in (0, 23, 24):
        clock.now = NOW + timedelta(hours=hours)
        a_message(newer.endpoint, now=clock.now)
        deliver(clock)
    *during, after = receiver.got
    for hours, got in zip((0, 23), during, strict=True):
        at = (NOW + timedelta(hours=hours)).timestamp()
        assert verify(got.body, got.headers, newer.secret, now=at) == verify(
            got.body, got.headers, known.secret, now=at
        )
    verify(after.body, after.headers, newer.secret, now=clock.now.timestamp())
    with pytest.raises(WebhookError, match="bad_signature"):
        verify(after.body, after.headers, known.secret, now=clock.now.timestamp())


def test_a_leaked_secret_is_out_of_force_at_once(known: Secret, receiver: Receiver, clock: Clock) -> None:
    newer = webhook_endpoints.rotate(known.endpoint, now=NOW, overlap_hours=0)
    a_message(newer.endpoint)
    deliver(clock)
    (got,) = receiver.got
    with pytest.raises(WebhookError, match="bad_signature"):
        verify(got.body, got.headers, known.secret, now=NOW.timestamp())


def test_secrets_survive_a_new_secret_key_by_its_fallbacks_only(
    known: Secret, receiver: Receiver, clock: Clock, settings
) -> None:
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10
    delivery = a_message(known.endpoint)
    deliver(clock, chance=never)
    assert (fresh(delivery).status, fresh(delivery).last_error) == ("failed", "secret_unreadable")
    settings.SECRET_KEY_FALLBACKS = [old]
    clock.forward(5)
    deliver(clock, chance=never)
    assert fresh(delivery).status == "delivered"
    assert known.secret not in fresh(delivery).endpoint.sealed_secret


def test_a_slow_receiver_leaves_room_for_the_others(alice: User, bob: User, receiver: Receiver, clock: Clock) -> None:
    busy, quiet = (webhook_rows.endpoint(user, receiver.url).endpoint for user in (alice, bob))
    for number in range(30):
        a_message(busy, now=NOW - timedelta(seconds=60 - number))
    a_message(quiet)
    claimed = webhook_delivery.claim(NOW)
    assert sorted([delivery.endpoint_id for delivery in claimed].count(row.pk) for row in (busy, quiet)) == [1, 5]


def test_it_sends_all_that_is_due_turn_by_turn(known: Secret, receiver: Receiver, clock: Clock) -> None:
    for _ in range(12):
        a_message(known.endpoint)
    turns = [deliver(clock), deliver(clock), deliver(clock), deliver(clock)]
    assert turns == [True, True, False, False]
    assert len({got.webhook_id for got in receiver.got}) == len(receiver.got) == 12


def test_the_task_asks_for_another_turn_while_there_is_more(
    known: Secret, receiver: Receiver, broker: redis.Redis
) -> None:
    for _ in range(7):
        a_message(known.endpoint)
    tasks.deliver_webhooks()
    assert (len(receiver.got), broker.llen("default")) == (5, 1)
    tasks.deliver_webhooks()
    assert (len(receiver.got), broker.llen("default")) == (7, 1)


def test_no_more_is_due_of_what_is_under_way(known: Secret, clock: Clock) -> None:
    a_message(known.endpoint)
    assert len(webhook_delivery.claim(NOW)) == 1
    assert webhook_delivery.claim(NOW + timedelta(seconds=59)) == []
    assert len(webhook_delivery.claim(NOW + timedelta(seconds=61))) == 1


def test_who_comes_back_after_its_claim_expired_changes_nothing(known: Secret) -> None:
    delivery = a_message(known.endpoint)
    (lost,) = webhook_delivery.claim(NOW)
    (second,) = webhook_delivery.claim(NOW + timedelta(seconds=61))
    webhook_delivery.record(lost, Outcome(500, "status"), now=NOW, chance=never)
    assert fresh(delivery).last_error == ""
    webhook_delivery.record(second, Outcome(200), now=NOW, chance=never)
    assert (fresh(delivery).status, fresh(delivery).attempts) == ("delivered", 2)


@pytest.mark.django_db(transaction=True)
def test_doubled_workers_send_each_once(known: Secret, receiver: Receiver) -> None:
    for _ in range(20):
        a_message(known.endpoint)
    clock = Clock()

    def work(_number: int) -> None:
        while deliver(clock):
            pass

    assert factories.together(work, 4) == [None] * 4
    deliver(clock)
    assert len({got.webhook_id for got in receiver.got}) == len(receiver.got) == 20
    assert set(WebhookDelivery.objects.values_list("status", "attempts")) == {("delivered", 1)}


KILLED = """
import django
django.setup()
from django.utils import timezone
from detector import webhook_delivery
webhook_delivery.deliver_due(clock=timezone.now)
"""


@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_costs_its_claims_time_and_no_message(known: Secret, receiver: Receiver) -> None:
    """kill -9 while the receiver makes up its mind: the same message comes again, once the claim has expired."""
    delivery = a_message(known.endpoint)
    receiver.script.append(Says(seconds=60))
    address = urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}"))
    environment = os.environ | {
        "DATABASE_URL": address,
        "DJANGO_SETTINGS_MODULE": "inkcloak.settings",
        "INKCLOAK_IGNORE_DEV_ENV": "1",
        "PYTHONPATH": str(TESTS.parent),
        "WEBHOOK_ALLOWED_HOSTS": "127.0.0.1",
    }
    worker = subprocess.Popen([sys.executable, "-c", KILLED], env=environment)
    try:
        factories.eventually(lambda: len(receiver.got) == 1, seconds=60)
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait(10)
    held = fresh(delivery)
    assert (held.status, held.attempts) == ("pending", 1)
    clock = Clock(held.next_attempt_at - timedelta(seconds=1))
    deliver(clock)
    assert len(receiver.got) == 1, "its claim still holds"
    clock.forward(1)
    deliver(clock)
    first, second = receiver.got
    assert first.webhook_id == second.webhook_id == delivery.event.message_id
    assert (fresh(delivery).status, fresh(delivery).attempts) == ("delivered", 2)


def test_what_a_receiver_says_is_stored_nowhere(
    known: Secret, receiver: Receiver, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.default = Says(400, {"X-Said": "planted words"}, b"planted words")
    delivery = a_message(known.endpoint)
    deliver(clock)
    stored = json.dumps(list(WebhookDelivery.objects.filter(pk=delivery.pk).values()), default=str)
    for kept in (stored, caplog.text):
        assert "planted" not in kept
    assert "hooks" not in caplog.text, "addresses hold secrets"


def test_disabling_by_hand_stops_what_waits_and_enabling_does_not_bring_it_back(
    known: Secret, receiver: Receiver, clock: Clock
) -> None:
    delivery = a_message(known.endpoint)
    webhook_endpoints.update(known.endpoint, disabled=True, now=NOW)
    webhook_endpoints.update(known.endpoint, disabled=False, now=NOW)
    deliver(clock)
    assert fresh(delivery).status == "given_up"
    a_message(known.endpoint)
    deliver(clock)
    assert len(receiver.got) == 1


def test_the_wake_up_names_the_task() -> None:
    assert webhooks.TASK in tasks.deliver_webhooks.app.tasks

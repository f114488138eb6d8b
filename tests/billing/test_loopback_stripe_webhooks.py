"""The loopback Stripe's webhooks: the SDK verifies each, and a test decides how they arrive."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from stripe import SignatureVerificationError, StripeClient

from tests.loopback.stripe.client import Director
from tests.loopback.stripe.shop import Shop
from tests.loopback.stripe.world import API_VERSION

pytest_plugins = ["tests.loopback.stripe.fixtures"]


class Receiver:
    """A real one: verifies with the SDK; answers are scripted, else 200 or 400."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.statuses: list[int] = []
        self.secret = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.send_response(outer.receive(body, self.headers.get("Stripe-Signature", "")))
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/webhooks/stripe/"

    def receive(self, body: str, header: str) -> int:
        """The status."""
        if self.statuses:
            return self.statuses.pop(0)
        try:
            event = verified(body, header, self.secret)
        except (SignatureVerificationError, ValueError):
            return 400
        self.seen.append(event.id)
        return 200


def verified(body: str, header: str, secret: str) -> Any:
    return StripeClient("sk_test_x").construct_event(body, header, secret)


@pytest.fixture
def receiver(stripe: Director) -> Iterator[Receiver]:
    """Listening, known to the double, which sends at once."""
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    stripe.habits(webhooks="push")
    endpoint = stripe.sdk().v1.webhook_endpoints.create({"url": made.url, "enabled_events": ["*"]})
    made.secret = str(endpoint.secret)
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def customer(stripe: Director) -> str:
    made = stripe.sdk().v1.customers.create({"name": "A"}).id
    stripe.settle()
    return made


def test_it_pushes_each_event_in_order_and_signed(stripe: Director, receiver: Receiver) -> None:
    customer(stripe)
    customer(stripe)
    assert receiver.seen == [event["id"] for event in stripe.events("customer.created")]
    assert all(event["pending_webhooks"] == 0 for event in stripe.events())
    assert {event["api_version"] for event in stripe.events()} == {API_VERSION}


def test_a_failed_delivery_is_retried_by_the_clock(stripe: Director, receiver: Receiver) -> None:
    receiver.statuses = [500, 500]
    customer(stripe)
    assert receiver.seen == []
    stripe.advance(seconds=300)
    stripe.advance(seconds=1800)
    assert len(receiver.seen) == 1
    assert stripe.deliveries()[0]["answers"] == [500, 500, 200]


@pytest.mark.parametrize(
    ("kind", "seen", "answers"),
    [
        ("webhook_duplicate", 2, [[200], [200]]),
        ("webhook_dropped", 0, [[]]),
        ("webhook_answer_lost", 2, [[200, 200]]),  # it worked, the double believes it didn't
        ("webhook_fails", 1, [[0, 200]]),
        ("webhook_wrong_secret", 0, [[400, 400]]),
        ("webhook_old", 0, [[400, 400]]),
        ("webhook_future", 1, [[200]]),  # the SDK accepts it: so one has to dedupe by id
        ("webhook_garbage", 0, [[400, 400]]),
        ("webhook_unsigned", 0, [[400, 400]]),
        ("webhook_delayed", 1, [[200]]),
    ],
)
def test_deliveries_go_wrong_as_scripted(
    stripe: Director, receiver: Receiver, kind: str, seen: int, answers: list[list[int]]
) -> None:
    stripe.fault(kind, where={"type": "customer.*"})
    customer(stripe)
    stripe.advance(seconds=301)
    assert len(receiver.seen) == seen
    assert [row["answers"] for row in stripe.deliveries()] == answers


def test_twists_of_the_content_are_validly_signed(stripe: Director, shop: Shop) -> None:
    stripe.fault("webhook_wrong_livemode", where={"type": "customer.created"})
    stripe.fault("webhook_wrong_version", where={"type": "customer.created"})
    shop.customer()
    shop.customer()
    first, second = stripe.take(types=["customer.created"])
    assert verified(first["body"], first["headers"]["Stripe-Signature"], shop.secret).livemode is True
    assert verified(second["body"], second["headers"]["Stripe-Signature"], shop.secret).api_version == "2020-08-27"


def test_a_type_that_nobody_knows_reaches_every_endpoint(stripe: Director, receiver: Receiver) -> None:
    event = stripe.emit("galaxy.exploded", {"id": "gal_1", "object": "galaxy"})
    assert receiver.seen == [event["id"]]
    assert stripe.sdk().v1.events.retrieve(event["id"]).type == "galaxy.exploded"


def test_held_events_are_taken_in_any_order_and_answered_by_the_test(stripe: Director, shop: Shop) -> None:
    shop.subscribe()
    made = [event["id"] for event in stripe.events()]
    held = stripe.take(order="random", seed=3)
    assert [row["event"] for row in held] != made
    assert sorted(row["event"] for row in held) == sorted(made)
    assert stripe.take() == []
    posted: list[str] = []

    def post(path: str, body: str, headers: dict[str, str]) -> int:
        posted.append(verified(body, headers["Stripe-Signature"], shop.secret).id)
        return 500 if len(posted) == 1 else 200

    assert stripe.hand_over(held, post)[:2] == [500, 200]
    stripe.advance(seconds=300)
    assert [row["event"] for row in stripe.take()] == posted[:1]  # the retry


def test_held_events_go_out_reversed(stripe: Director, receiver: Receiver) -> None:
    stripe.habits(webhooks="hold")
    made = [stripe.sdk().v1.customers.create({"name": name}).id for name in "abc"]
    answers = stripe.send_held(order="reverse", types=["customer.*"])
    assert [row["status"] for row in answers] == [200, 200, 200]
    ids = {event["id"]: event["data"]["object"]["id"] for event in stripe.events()}
    assert [ids[each] for each in receiver.seen] == made[::-1]


def test_a_flood_repeats_everything_with_duplicates_in_random_order(stripe: Director, shop: Shop) -> None:
    for _ in range(3):
        shop.subscribe()
    known = [event["id"] for event in stripe.events()]
    flood = stripe.again(duplicates=0.3, order="random", seed=7, take=True)
    ids = [row["event"] for row in flood]
    assert set(ids) == set(known[1:]) | {known[0]}
    assert len(ids) - len(set(ids)) == round(len(known) * 0.3 / 0.7)
    assert ids == [row["event"] for row in stripe.again(duplicates=0.3, order="random", seed=7, take=True)]


def test_events_are_listed_for_thirty_days_and_kept_for_tests_for_ever(stripe: Director, shop: Shop) -> None:
    shop.customer()
    newest = shop.v1.events.list({"types": ["customer.created"]}).data[0]
    assert shop.v1.events.list({"delivery_success": False}).data[0].id == newest.id
    stripe.advance(days=31)
    assert shop.v1.events.list({"type": "customer.*"}).data == []
    assert newest.id in {event["id"] for event in stripe.events()}


def test_nothing_is_sent_off_this_machine(stripe: Director) -> None:
    stripe.habits(webhooks="push")
    stripe.sdk().v1.webhook_endpoints.create(
        {"url": "https://example.com/hook", "enabled_events": ["customer.created"]}
    )
    customer(stripe)
    assert [row["answers"] for row in stripe.deliveries()] == [[0]]


def test_an_endpoint_gets_what_it_asked_for_while_it_is_on(stripe: Director, shop: Shop) -> None:
    stripe.take()
    shop.v1.webhook_endpoints.update(shop.endpoint.id, {"enabled_events": ["invoice.paid"]})
    shop.subscribe()
    assert [row["type"] for row in stripe.take()] == ["invoice.paid"]
    shop.v1.webhook_endpoints.update(shop.endpoint.id, {"disabled": True})
    shop.subscribe()
    assert stripe.take() == []
    assert "secret" not in json.dumps(shop.v1.webhook_endpoints.retrieve(shop.endpoint.id).to_dict())

"""The loopback Stripe at its door: keys, idempotency, lost answers, errors; with the SDK's own retries in front."""

import threading
import time
from typing import Any

import pytest
from stripe import (
    APIConnectionError,
    APIError,
    AuthenticationError,
    IdempotencyError,
    InvalidRequestError,
    RateLimitError,
    RequestsClient,
    StripeClient,
)

from tests.loopback.stripe.client import Director
from tests.loopback.stripe.launcher import LoopbackStripe
from tests.loopback.stripe.shop import Shop

pytest_plugins = ["tests.loopback.stripe.fixtures"]
CREATE = "POST /v1/customers"


@pytest.fixture
def impatient(stripe: Director) -> StripeClient:
    """The SDK with a timeout of 0.3 s, retrying twice as it does by itself."""
    client = RequestsClient(timeout=0.3)
    return StripeClient(stripe.key, base_addresses={"api": stripe.url}, max_network_retries=2, http_client=client)


def made(sdk: StripeClient, key: str = "k", **params: Any) -> Any:
    return sdk.v1.customers.create(params or {"name": "A"}, {"idempotency_key": key})  # type: ignore[arg-type]


def test_the_same_key_and_body_is_the_same_answer(stripe: Director) -> None:
    sdk = stripe.sdk()
    first, second = made(sdk), made(sdk)
    assert first.id == second.id
    assert second.last_response.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.last_response.headers
    assert len(stripe.objects("customer")) == len(stripe.events("customer.created")) == 1


def test_the_same_key_with_another_body_is_refused(stripe: Director) -> None:
    made(stripe.sdk())
    with pytest.raises(IdempotencyError, match="same parameters") as refused:
        made(stripe.sdk(), name="B")
    assert refused.value.http_status == 400


def test_a_key_is_free_again_after_a_day_and_after_a_bad_request(stripe: Director) -> None:
    sdk = stripe.sdk()
    first = made(sdk)
    stripe.advance(days=1)
    assert made(sdk).id != first.id
    with pytest.raises(InvalidRequestError):
        made(sdk, "bad", nonsense="x")
    assert made(sdk, "bad", name="A").id


def test_a_key_in_flight_is_a_conflict(stripe: Director) -> None:
    stripe.fault("slow", delay=0.5, where={"op": CREATE})
    thread = threading.Thread(target=made, args=(stripe.sdk(),))
    thread.start()
    while not stripe.objects("customer"):
        time.sleep(0.01)
    with pytest.raises(APIError) as conflict:  # the SDK has no better name for a 409
        made(stripe.sdk())
    thread.join()
    assert (conflict.value.http_status, conflict.value.json_body["error"]["code"]) == (409, "idempotency_key_in_use")
    assert len(stripe.objects("customer")) == 1


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("kind", ["timeout", "reset"])
def test_a_lost_call_is_retried_with_its_key_and_done_once(
    stripe: Director, impatient: StripeClient, kind: str, after: bool
) -> None:
    stripe.fault(kind, after=after, delay=2, where={"op": CREATE})
    created = impatient.v1.customers.create({"name": "A"})
    assert [row["id"] for row in stripe.objects("customer")] == [created.id]
    first, second = stripe.requests(CREATE)
    assert first["idempotency_key"] == second["idempotency_key"] is not None
    assert (first["fault"], second["replayed"]) == (kind, after)


def test_a_lost_call_without_retries_is_an_error_with_the_effect_done(stripe: Director) -> None:
    stripe.fault("reset", after=True, where={"op": CREATE})
    with pytest.raises(APIConnectionError):
        made(stripe.sdk())
    assert len(stripe.objects("customer")) == 1


def test_a_server_error_after_the_effect_stays_the_answer_of_its_key(stripe: Director) -> None:
    stripe.fault("server_error", after=True, where={"op": CREATE})
    for _ in range(2):
        with pytest.raises(APIError) as failed:
            made(stripe.sdk())
        assert failed.value.http_status == 500
    assert len(stripe.objects("customer")) == 1


def test_a_server_error_before_the_effect_is_retried(stripe: Director, impatient: StripeClient) -> None:
    stripe.fault("server_error", times=2, where={"op": CREATE})
    assert impatient.v1.customers.create({"name": "A"}).id == stripe.objects("customer")[0]["id"]


def test_faults_are_the_sdk_s_own_exceptions(stripe: Director) -> None:
    stripe.fault("rate_limited")
    with pytest.raises(RateLimitError):
        made(stripe.sdk())
    stripe.fault("key_refused")
    with pytest.raises(AuthenticationError):
        made(stripe.sdk())
    stripe.fault("unavailable", where={"op": "GET /v1/customers*"})
    assert made(stripe.sdk()).id  # not the operation that was meant
    with pytest.raises(APIError):
        stripe.sdk().v1.customers.list()


def test_it_refuses_wrong_keys_unknown_parameters_and_unknown_objects(stripe: Director) -> None:
    with pytest.raises(AuthenticationError):
        made(stripe.sdk(key="sk_test_other"))
    with pytest.raises(InvalidRequestError, match="Received unknown parameter: color") as unknown:
        made(stripe.sdk(), color="red")
    assert unknown.value.code == "parameter_unknown"
    with pytest.raises(InvalidRequestError, match="No such subscription: 'sub_x'") as nothing:
        stripe.sdk().v1.subscriptions.retrieve("sub_x")
    assert (nothing.value.http_status, nothing.value.code) == (404, "resource_missing")


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"items": [{"prise": "x"}]}, r"unknown parameter: items\[0\]\[prise\]"),
        ({"pause_collection": {"behaviour": "void"}}, r"unknown parameter: pause_collection\[behaviour\]"),
        ({"proration_behavior": "sometimes", "items": [{"quantity": 2}]}, "Invalid proration_behavior: must be one of"),
    ],
)
def test_it_refuses_nested_parameters_and_words_that_stripe_lacks(
    shop: Shop, params: dict[str, Any], says: str
) -> None:
    sub = shop.subscribe()
    with pytest.raises(InvalidRequestError, match=says):
        shop.v1.subscriptions.update(sub.id, params)  # type: ignore[arg-type]
    allowed = {"metadata": {"any": "thing"}, "cancel_at_period_end": True, "trial_end": "now"}
    with pytest.raises(InvalidRequestError, match="running trials only"):  # its own words, so the words were allowed
        shop.v1.subscriptions.update(sub.id, allowed)  # type: ignore[arg-type]


def test_lists_have_cursors_the_sdk_can_walk(stripe: Director) -> None:
    sdk = stripe.sdk()
    ids = [sdk.v1.customers.create({"email": f"{number}@example.com"}).id for number in range(7)]
    assert [row.id for row in sdk.v1.customers.list({"limit": 3}).auto_paging_iter()] == ids[::-1]
    assert [row.id for row in sdk.v1.customers.list({"email": "4@example.com"}).data] == [ids[4]]
    before = sdk.v1.customers.list({"ending_before": ids[0], "limit": 2})
    assert [row.id for row in before.data] == [ids[2], ids[1]]
    with pytest.raises(InvalidRequestError, match="between 1 and 100"):
        sdk.v1.customers.list({"limit": 101})


def test_subscriptions_are_listed_by_customer_and_status(shop: Shop) -> None:
    sub = shop.subscribe()
    other = shop.subscribe()
    shop.v1.subscriptions.cancel(sub.id)
    assert [row.id for row in shop.v1.subscriptions.list().data] == [other.id]
    assert shop.v1.subscriptions.list({"customer": sub.customer}).data == []
    assert [row.id for row in shop.v1.subscriptions.list({"customer": sub.customer, "status": "all"}).data] == [sub.id]
    assert {row.id for row in shop.v1.subscriptions.list({"status": "all", "price": shop.pro}).data} == {
        sub.id,
        other.id,
    }


def test_the_log_of_requests_knows_no_parameters(stripe: Director) -> None:
    made(stripe.sdk(), email="secret@example.com")
    assert "secret" not in str(stripe.requests())


def test_the_process_ends_with_its_launcher_and_never_listens_elsewhere() -> None:
    with LoopbackStripe("--livemode") as live:
        process = live._process
        assert live.url.startswith("http://127.0.0.1:")
        assert live.sdk().v1.products.create({"name": "X"}).livemode is True
    assert process.returncode == 0
    with pytest.raises(ValueError, match="this machine only"):
        Director("https://api.stripe.com", "sk_live_x")

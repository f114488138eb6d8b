"""What we read of Stripe's own example objects, and of what their fields may be instead."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from billing import stripe_shapes as shapes

EXAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "loopback" / "stripe" / "examples.json").read_text(encoding="utf-8")
)["resources"]


def example(kind: str, **changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(EXAMPLES[kind])) | changes


def test_it_finds_the_period_and_the_price_on_the_items() -> None:
    found = shapes.subscription(example("subscription"))
    assert found.item_id == "si_QXhVnC2h0Jczwc"
    assert found.price is not None
    assert (found.price.amount, found.price.currency, found.price.interval) == (2000, "usd", "month")
    assert found.period_end == datetime.fromtimestamp(976287773, UTC)
    assert found.paused
    assert found.billed_at is None


def test_an_end_is_a_date_or_the_periods_own() -> None:
    at_end = example("subscription", cancel_at=None, cancel_at_period_end=True)
    assert shapes.subscription(at_end).cancels_at == datetime.fromtimestamp(976287773, UTC)
    dated = shapes.subscription(example("subscription", cancel_at=2_000_000_000, cancel_at_period_end=False))
    assert (dated.cancels_at, dated.at_period_end) == (datetime.fromtimestamp(2_000_000_000, UTC), False)
    assert shapes.subscription(example("subscription", cancel_at=None, cancel_at_period_end=False)).cancels_at is None


def test_the_item_that_is_paid_by_period_counts_not_the_metered_one() -> None:
    found = example("subscription")
    metered = json.loads(json.dumps(found["items"]["data"][0]))
    metered["id"] = "si_metered"
    metered["price"]["recurring"]["usage_type"] = "metered"
    found["items"]["data"].insert(0, metered)
    assert shapes.subscription(found).item_id == "si_QXhVnC2h0Jczwc"
    assert shapes.subscription(example("subscription", items={"data": []})).price is None


def test_an_invoice_says_its_subscription_under_its_parent_and_its_tax_in_a_list() -> None:
    found = shapes.invoice(example("invoice", total_taxes=[{"amount": 70}, {"amount": 30}], amount_paid=1000))
    assert found.subscription == "subscription"
    assert (found.total, found.tax, found.paid, found.currency) == (1000, 100, 1000, "usd")
    assert found.lines[0].is_proration
    assert shapes.invoice(example("invoice", parent=None)).subscription == ""


def test_a_payment_names_its_intent_expanded_or_not() -> None:
    for intent in ("pi_1", {"id": "pi_1"}):
        found = example("invoice_payment", payment={"type": "payment_intent", "payment_intent": intent})
        assert shapes.payment(found).intent == "pi_1"


def test_a_deleted_customer_says_so() -> None:
    assert not shapes.customer(example("customer")).deleted
    assert shapes.customer({"id": "cus_1", "object": "customer", "deleted": True}).deleted


@pytest.mark.parametrize(
    "broken", [{}, {"object": "event"}, {"object": "v2.core.event"}, {"object": "event", "data": 1}]
)
def test_what_is_no_event_is_none(broken: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        shapes.event(broken)
    assert shapes.event(example("event")).object_id == "price_1PgafmB7WZ01zgkW6dKueIc5"

"""The loopback Stripe's objects have the keys of Stripe's own examples and the types that the SDK gives them."""

import json
from pathlib import Path
from typing import Any

import pytest
from stripe_types import complaints, sdk_class

from tests.loopback.stripe import client, shop

pytest_plugins = ["tests.loopback.stripe.fixtures"]
HERE = Path(shop.__file__).parent
EXAMPLES: dict[str, Any] = json.loads((HERE / "examples.json").read_text())["resources"]
GONE = {"invoice": {"subscription"}}  # removed fields that the snapshot still has
DIFFERENT = {  # example values of a type that their own description doesn't allow, or of another variant
    "invoice": {"last_finalization_error"},
    "payment_intent": {"last_payment_error"},
}
ANSWERED = (
    "balance_transaction", "billing.meter", "billing_portal.configuration", "billing_portal.session", "charge",
    "checkout.session", "coupon", "customer", "discount", "dispute", "event", "invoice", "invoice_payment",
    "payment_intent", "payment_method", "price", "product", "promotion_code", "refund", "subscription",
    "subscription_item", "subscription_schedule", "tax_id", "webhook_endpoint",
)  # fmt: skip


def everything(stripe: client.Director, shop: shop.Shop) -> None:
    """A history in which each class of object comes up, in several states."""
    v1, over = shop.v1, shop.overage()
    coupon = v1.coupons.create({"percent_off": 25.5, "duration": "repeating", "duration_in_months": 3, "name": "Start"})
    v1.promotion_codes.create({"promotion": {"type": "coupon", "coupon": coupon.id}, "code": "START"})
    buyer = v1.customers.create({"email": "x@example.com", "name": "X", "address": {"country": "ES", "city": "Vigo"}})
    v1.customers.tax_ids.create(buyer.id, {"type": "eu_vat", "value": "ESB12345678"})
    session = shop.session(buyer.id, shop.pro, over, metered=over, allow_promotion_codes=True,
                           tax_id_collection={"enabled": True}, customer_update={"name": "auto"})  # fmt: skip
    paid = stripe.pay(session.id, promotion_code="start", tax_id="ESB87654321")
    shop.session(buyer.id, shop.pro)
    shop.words(buyer.id, 4100, "w1")
    sub = v1.subscriptions.retrieve(paid["subscription"])
    trial = shop.subscribe(subscription_data={"trial_period_days": 5})
    v1.subscriptions.update(trial.id, {"cancel_at_period_end": True})
    v1.billing_portal.sessions.create({"customer": buyer.id, "return_url": "http://127.0.0.1:9/",
                                       "flow_data": {"type": "subscription_cancel",
                                                     "subscription_cancel": {"subscription": sub.id}}})  # fmt: skip
    stripe.advance(days=9)
    v1.subscriptions.update(sub.id, {"items": [{"id": sub["items"].data[0].id, "price": shop.basic}],
                                     "pause_collection": {"behavior": "void"}})  # fmt: skip
    v1.subscriptions.update(sub.id, {"pause_collection": ""})
    first = shop.invoices(sub)[0]
    payments = v1.invoices.retrieve(first.id, {"expand": ["payments"]}).payments
    v1.refunds.create({"payment_intent": payments.data[0].payment.payment_intent, "amount": 100})
    stripe.dispute(charge=stripe.objects("charge")[-1]["id"])
    schedule = v1.subscription_schedules.create({"from_subscription": sub.id})
    v1.subscription_schedules.release(schedule.id)
    stripe.use_card(buyer.id, "pm_card_authenticationRequired")
    stripe.advance(days=40)


@pytest.fixture
def history(stripe: client.Director, shop: shop.Shop) -> client.Director:
    everything(stripe, shop)
    return stripe


def test_it_answers_the_keys_and_types_of_stripe_s_examples_and_of_the_sdk(history: client.Director) -> None:
    """The long list is one test: the history behind it is the costly part."""
    wrong: list[str] = []
    items = [item for sub in history.objects("subscription") for item in sub["items"]["data"]]
    for kind in ANSWERED:
        rows = history.objects(kind) if kind != "subscription_item" else items
        assert rows, f"the history has no {kind}"
        for row in rows:
            if row.get("deleted"):
                continue
            wrong += complaints(row, sdk_class(kind), kind)
            wrong += against_example(row, EXAMPLES.get(kind), kind)
    assert not wrong, "\n".join(sorted(set(wrong)))


def same_type(example: Any, value: Any) -> bool:
    """As JSON; null fits everything."""
    kinds = {type(example), type(value)}
    return None in (example, value) or len(kinds) == 1 or kinds == {int, float}


def against_example(row: dict[str, Any], example: dict[str, Any] | None, kind: str) -> list[str]:
    """Each key of the example is there; where both have a value, it is of the same JSON type."""
    found = []
    for name, value in (example or {}).items():
        if name in GONE.get(kind, ()):
            found += [f"{kind}.{name}: was removed"] if name in row else []
        elif name not in row:
            absent = kind == "subscription_item" and name == "quantity"  # metered items have none
            found += [] if absent else [f"{kind}.{name}: missing"]
        elif name not in DIFFERENT.get(kind, ()) and not same_type(value, row[name]):
            found.append(f"{kind}.{name}: {type(row[name]).__name__}, the example has {type(value).__name__}")
    return found


def test_it_lists_invoice_lines_previews_and_meter_answers_as_the_sdk_types_them(
    history: client.Director, shop: shop.Shop
) -> None:
    v1 = shop.v1
    sub = shop.subscribe().to_dict()
    meter = v1.billing.meters.list().data[0]
    start = sub["start_date"] // 60 * 60
    answers = [
        ("invoice", v1.invoices.create_preview({"subscription": sub["id"]})),
        ("balance", v1.balance.retrieve()),
        ("item", v1.checkout.sessions.line_items.list(history.objects("checkout.session")[0]["id"]).data[0]),
        ("line_item", v1.invoices.line_items.list(history.objects("invoice")[0]["id"]).data[0]),
        ("billing.meter_event", v1.billing.meter_events.create(
            {"event_name": "words", "payload": {"stripe_customer_id": sub["customer"], "value": "1"}})),
        ("billing.meter_event_summary", v1.billing.meters.event_summaries.list(
            meter.id, {"customer": sub["customer"], "start_time": start, "end_time": start + 86_400}).data[0]),
    ]  # fmt: skip
    wrong = []
    for kind, answer in answers:
        wrong += complaints(answer.to_dict(), sdk_class(kind), kind)
        wrong += against_example(answer.to_dict(), EXAMPLES.get(kind), kind)
    assert wrong == []


def test_it_puts_periods_on_items_and_the_subscription_under_the_invoice_s_parent(shop: shop.Shop) -> None:
    sub = shop.subscribe()
    invoice = shop.invoices(sub)[0]
    assert sub["items"].data[0].current_period_end > sub["items"].data[0].current_period_start
    assert not hasattr(sub, "current_period_end")
    assert invoice.parent.subscription_details.subscription == sub.id
    assert not {"paid", "charge", "payment_intent", "subscription", "tax"} & set(invoice.to_dict())


def test_the_check_sees_what_is_wrong(history: client.Director) -> None:
    """A check that finds nothing in a spoilt object would prove nothing."""
    row = history.objects("invoice")[0] | {"paid": True, "total": "19.00", "status": None}
    del row["amount_due"]
    found = complaints(row, sdk_class("invoice"), "invoice")
    assert any("invoice.paid" in each for each in found)
    assert any("invoice.total" in each for each in found)
    assert any("invoice.amount_due" in each for each in found)

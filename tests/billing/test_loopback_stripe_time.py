"""The loopback Stripe's clock: renewals, trials, dunning, ends; each at its own second, the same each time."""

from datetime import UTC, datetime
from typing import Any

import pytest
from stripe import InvalidRequestError

from tests.loopback.stripe import cards
from tests.loopback.stripe.client import Director
from tests.loopback.stripe.clock import add_interval, period_end
from tests.loopback.stripe.shop import Shop

pytest_plugins = ["tests.loopback.stripe.fixtures"]
JAN_31 = int(datetime(2027, 1, 31, 12, tzinfo=UTC).timestamp())


def day(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%d %H:%M")


def of(shop: Shop, sub: Any) -> Any:
    """The first item, where the period is."""
    return shop.again(sub)["items"].data[0]


def test_months_keep_the_anchor_s_day_where_there_is_one() -> None:
    assert [day(add_interval(JAN_31, "month", number)) for number in (1, 2, 3)] == [
        "2027-02-28 12:00", "2027-03-31 12:00", "2027-04-30 12:00",
    ]  # fmt: skip
    assert day(period_end(JAN_31, add_interval(JAN_31, "month", 1), "month", 1)) == "2027-03-31 12:00"
    assert day(add_interval(int(datetime(2028, 2, 29, tzinfo=UTC).timestamp()), "year", 1)) == "2029-02-28 00:00"


def test_a_jump_over_a_year_renews_twelve_times_each_at_its_own_moment(stripe: Director) -> None:
    stripe.reset(at=JAN_31, webhooks="hold")
    shop = Shop(stripe)
    sub = shop.subscribe()
    stripe.advance(days=366)
    invoices = shop.invoices(sub)
    assert [invoice.status for invoice in invoices] == ["paid"] * 13
    assert day(invoices[1].created) == "2027-02-28 12:00"
    assert day(invoices[1].status_transitions.paid_at) == "2027-02-28 13:00"  # a draft for an hour
    assert day(invoices[2].created) == "2027-03-31 12:00"


def test_the_same_history_gives_the_same_ids_and_events(stripe: Director) -> None:
    seen = []
    for _ in range(2):
        stripe.reset(seed="x", at=JAN_31, webhooks="hold")
        shop = Shop(stripe)
        shop.subscribe()
        stripe.advance(days=40)
        seen.append([(event["id"], event["type"], event["created"]) for event in stripe.events()])
    assert seen[0] == seen[1]
    assert len(seen[0]) > 20


def test_cancelling_at_period_end_works_until_then(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe()
    changed = shop.v1.subscriptions.update(sub.id, {"cancel_at_period_end": True})
    assert (changed.status, changed.cancel_at) == ("active", of(shop, sub).current_period_end)
    stripe.advance_to(changed.cancel_at - 1)
    assert shop.again(sub).status == "active"
    stripe.advance(seconds=1)
    ended = shop.again(sub)
    assert (ended.status, ended.ended_at) == ("canceled", changed.cancel_at)
    assert len(stripe.events("customer.subscription.deleted")) == len(shop.invoices(sub)) == 1
    with pytest.raises(InvalidRequestError):
        shop.v1.subscriptions.update(sub.id, {"cancel_at_period_end": False})


def test_a_trial_reminds_then_charges(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe(subscription_data={"trial_period_days": 14})
    assert (sub.status, shop.invoices(sub)[0].total) == ("trialing", 0)
    stripe.advance(days=11)
    assert len(stripe.events("customer.subscription.trial_will_end")) == 1
    stripe.advance(days=4)
    assert shop.again(sub).status == "active"
    assert [invoice.amount_paid for invoice in shop.invoices(sub)] == [0, 1900]


def test_a_trial_without_a_card_pauses_when_asked_to(stripe: Director, shop: Shop) -> None:
    sub = shop.v1.subscriptions.create(
        {"customer": shop.customer(), "items": [{"price": shop.pro}], "trial_period_days": 3,
         "trial_settings": {"end_behavior": {"missing_payment_method": "pause"}}}
    )  # fmt: skip
    stripe.advance(days=4)
    assert shop.again(sub).status == "paused"
    shop.v1.payment_methods.attach("pm_card_visa", {"customer": sub.customer})
    assert shop.v1.subscriptions.resume(sub.id).status == "active"


@pytest.mark.parametrize(("end", "status"), [("cancel", "canceled"), ("unpaid", "unpaid"), ("past_due", "past_due")])
def test_dunning_retries_then_ends_as_set(stripe: Director, shop: Shop, end: str, status: str) -> None:
    stripe.habits(dunning_end=end, retry_days=[3, 5])
    sub = shop.subscribe(card=cards.FAILS_LATER)
    renewed = of(shop, sub).current_period_end
    stripe.advance_to(renewed + 3600)
    invoice = shop.invoices(sub)[-1]
    assert (shop.again(sub).status, invoice.attempt_count) == ("past_due", 1)
    assert invoice.next_payment_attempt == renewed + 3600 + 3 * 86_400
    stripe.advance(days=3)
    assert (shop.again(sub).status, shop.invoices(sub)[-1].attempt_count) == ("past_due", 2)
    stripe.advance(days=5)
    assert (shop.again(sub).status, shop.invoices(sub)[-1].status) == (status, "open")
    assert len(stripe.events("invoice.payment_failed")) == 3


def test_a_better_card_ends_dunning(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe(card=cards.FAILS_LATER)
    stripe.advance(days=32)
    assert shop.v1.customers.retrieve(sub.customer).delinquent is True
    stripe.use_card(sub.customer, "pm_card_visa")
    stripe.advance(days=3)
    assert (shop.again(sub).status, shop.invoices(sub)[-1].status) == ("active", "paid")
    assert shop.v1.customers.retrieve(sub.customer).delinquent is False


def test_a_renewal_that_needs_its_holder_says_so(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe(card=cards.ASKS_ALWAYS)
    stripe.advance(days=32)
    assert shop.again(sub).status == "past_due"
    assert len(stripe.events("invoice.payment_action_required")) == 1


def test_a_first_payment_that_fails_leaves_incomplete_then_expired(stripe: Director, shop: Shop) -> None:
    customer = shop.customer()
    shop.v1.payment_methods.attach("pm_card_chargeDeclined", {"customer": customer})
    sub = shop.v1.subscriptions.create({"customer": customer, "items": [{"price": shop.pro}]})
    assert sub.status == "incomplete"
    stripe.advance(seconds=23 * 3600)
    assert (shop.again(sub).status, shop.invoices(sub)[0].status) == ("incomplete_expired", "void")


@pytest.mark.parametrize(
    ("behavior", "status"), [("void", "void"), ("keep_as_draft", "draft"), ("mark_uncollectible", "uncollectible")]
)
def test_a_pause_collects_nothing_and_ends_at_its_date(
    stripe: Director, shop: Shop, behavior: str, status: str
) -> None:
    sub = shop.subscribe()
    back = of(shop, sub).current_period_end + 5 * 86_400
    paused = shop.v1.subscriptions.update(
        sub.id,
        {"pause_collection": {"behavior": behavior, "resumes_at": back}},  # type: ignore[typeddict-item]
    )
    assert paused.status == "active"
    stripe.advance(days=33)
    assert shop.invoices(sub)[-1].status == status
    stripe.advance_to(back)
    assert shop.again(sub).pause_collection is None
    stripe.advance(days=31)
    assert shop.invoices(sub)[-1].status == "paid"


def test_a_schedule_downgrades_at_period_end_and_lets_go(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe()
    schedule = shop.v1.subscription_schedules.create({"from_subscription": sub.id})
    now = schedule.phases[0]
    shop.v1.subscription_schedules.update(
        schedule.id,
        {"end_behavior": "release", "phases": [
            {"start_date": now.start_date, "end_date": now.end_date, "items": [{"price": shop.pro, "quantity": 1}]},
            {"items": [{"price": shop.basic, "quantity": 1}], "duration": {"interval": "month", "interval_count": 1}}]},
    )  # fmt: skip
    with pytest.raises(InvalidRequestError, match="managed by the subscription schedule"):
        shop.v1.subscriptions.update(sub.id, {"cancel_at_period_end": True})
    stripe.advance_to(now.end_date + 3600)
    assert (of(shop, sub).price.id, shop.invoices(sub)[-1].total) == (shop.basic, 900)
    assert of(shop, sub).id == sub["items"].data[0].id
    stripe.advance(days=32)
    assert shop.again(sub).schedule is None
    assert shop.v1.subscription_schedules.retrieve(schedule.id).status == "released"


def test_the_clock_does_not_go_back(stripe: Director) -> None:
    with pytest.raises(AssertionError, match="does not go back"):
        stripe.advance(seconds=-1)

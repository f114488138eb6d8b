"""The loopback Stripe's money: prorations, previews, meters, refunds, disputes, and a balance that adds up."""

from decimal import Decimal
from typing import Any

import pytest
from stripe import CardError, InvalidRequestError

from tests.loopback.stripe import cards, money
from tests.loopback.stripe.client import Director
from tests.loopback.stripe.shop import Shop

pytest_plugins = ["tests.loopback.stripe.fixtures"]


@pytest.mark.parametrize(
    ("amount", "currency", "fee"),
    [(1900, "usd", 85), (1899, "eur", 85), (2800, "jpy", 111), (5990, "kwd", 474), (0, "usd", 30)],
)
def test_the_fee_is_whole_and_rounded_once(amount: int, currency: str, fee: int) -> None:
    assert money.fee(amount, currency) == fee


def test_parts_and_percents_round_half_up_and_end_in_zero_for_three_decimals() -> None:
    assert money.part(1900, 15, 30, "usd") == 950
    assert money.part(999, 1, 2, "usd") == 500
    assert money.part(-999, 1, 2, "usd") == -500
    assert money.part(5990, 1, 4, "kwd") == 1500
    assert money.percent(999, Decimal("25.5"), "usd") == 255
    assert money.exponent("jpy") == 0


def change(shop: Shop, sub: Any, price: str, **more: Any) -> Any:
    return shop.v1.subscriptions.update(
        sub.id,
        {"items": [{"id": sub["items"].data[0].id, "price": price}], **more},  # type: ignore[typeddict-item]
    )


def preview(shop: Shop, sub: Any, price: str, **more: Any) -> Any:
    items = [{"id": sub["items"].data[0].id, "price": price}]
    return shop.v1.invoices.create_preview(
        {"subscription": sub.id, "subscription_details": {"items": items, **more}}  # type: ignore[typeddict-item]
    )


def test_an_upgrade_costs_what_its_preview_said(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe(price=shop.basic)
    stripe.advance(days=10)
    before = stripe.objects("invoice")
    asked = {"proration_behavior": "always_invoice", "proration_date": stripe.now()}
    shown = preview(shop, sub, shop.pro, **asked)
    assert stripe.objects("invoice") == before
    change(shop, sub, shop.pro, **asked)
    made = shop.invoices(sub)[-1]
    assert [row.amount for row in made.lines.data] == [row.amount for row in shown.lines.data]
    assert (made.total, made.status, made.billing_reason) == (shown.total, "paid", "subscription_update")
    assert {row.parent.subscription_item_details.proration for row in shown.lines.data} == {True}


def test_prorations_wait_for_the_next_invoice_unless_told_otherwise(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe(price=shop.basic)
    period = sub["items"].data[0]
    half = (period.current_period_start + period.current_period_end) // 2
    stripe.advance_to(half)
    change(shop, sub, shop.pro)
    assert len(shop.invoices(sub)) == 1
    upcoming = shop.v1.invoices.create_preview({"subscription": sub.id})
    stripe.advance_to(period.current_period_end + 3600)
    renewal = shop.invoices(sub)[-1]
    assert sorted(row.amount for row in renewal.lines.data) == [-450, 950, 1900]
    assert renewal.amount_paid == upcoming.total == 2400


def test_a_downgrade_at_once_credits_the_customer_s_balance(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe()
    period = sub["items"].data[0]
    stripe.advance_to((period.current_period_start + period.current_period_end) // 2)
    change(shop, sub, shop.basic, proration_behavior="always_invoice")
    credit = shop.invoices(sub)[-1]
    assert (credit.total, credit.amount_due, credit.status) == (-500, 0, "paid")
    assert shop.v1.customers.retrieve(sub.customer).balance == -500
    stripe.advance_to(period.current_period_end + 3600)
    renewal = shop.invoices(sub)[-1]
    assert (renewal.total, renewal.starting_balance, renewal.amount_paid) == (900, -500, 400)
    assert shop.v1.customers.retrieve(sub.customer).balance == 0


def test_another_interval_begins_its_period_at_once(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe()
    stripe.advance(days=15)
    shown = preview(shop, sub, shop.year)
    after = change(shop, sub, shop.year)
    made = shop.invoices(sub)[-1]
    assert after["items"].data[0].current_period_start == stripe.now()
    assert made.total == shown.total
    assert sorted(row.amount for row in made.lines.data)[1] == 19_000


def test_a_declined_upgrade_waits_or_is_refused_as_asked(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe(price=shop.basic, card=cards.FAILS_LATER)
    stripe.advance(days=3)
    with pytest.raises(CardError):
        change(shop, sub, shop.pro, proration_behavior="always_invoice", payment_behavior="error_if_incomplete")
    assert shop.again(sub)["items"].data[0].price.id == shop.basic
    waits = change(shop, sub, shop.pro, proration_behavior="always_invoice", payment_behavior="pending_if_incomplete")
    assert (waits["items"].data[0].price.id, waits.pending_update.subscription_items[0].price.id) == (
        shop.basic,
        shop.pro,
    )
    stripe.use_card(sub.customer, "pm_card_visa")
    shop.v1.invoices.pay(str(waits.latest_invoice))
    applied = shop.again(sub)
    assert (applied["items"].data[0].price.id, applied.pending_update, applied.status) == (shop.pro, None, "active")


def test_a_pending_upgrade_that_nobody_pays_is_forgotten(stripe: Director, shop: Shop) -> None:
    sub = shop.subscribe(price=shop.basic, card=cards.FAILS_LATER)
    change(shop, sub, shop.pro, proration_behavior="always_invoice", payment_behavior="pending_if_incomplete")
    stripe.advance(seconds=23 * 3600)
    after = shop.again(sub)
    assert (after["items"].data[0].price.id, after.pending_update) == (shop.basic, None)
    assert shop.invoices(sub)[-1].status == "void"


@pytest.mark.parametrize(("currency", "amount"), [("eur", 1800), ("jpy", 2800), ("kwd", 5990)])
def test_it_charges_whole_minor_units_in_each_currency(
    stripe: Director, shop: Shop, currency: str, amount: int
) -> None:
    sub = shop.subscribe(currency=currency)
    assert (sub.currency, shop.invoices(sub)[0].amount_paid) == (currency, amount)
    fee = money.fee(amount, currency)
    sums = {"charge": amount, "refund": 0, "adjustment": 0, "fee": fee, "net": amount - fee}
    assert stripe.balance() == {currency: sums}


def test_it_refuses_a_price_without_that_currency_and_two_currencies_at_once(shop: Shop) -> None:
    with pytest.raises(InvalidRequestError, match="but not `jpy`"):
        shop.session(shop.customer(), shop.basic, currency="jpy")
    sub = shop.subscribe(currency="eur")
    with pytest.raises(InvalidRequestError, match="cannot combine currencies"):
        shop.v1.subscriptions.create({"customer": sub.customer, "items": [{"price": shop.pro}], "currency": "usd"})


# --- Meters -------------------------------------------------------------------------------------------------------


def test_metered_words_are_billed_once_after_their_period(stripe: Director, shop: Shop) -> None:
    over = shop.overage()
    sub = shop.subscribe()
    shop.v1.subscription_items.create({"subscription": sub.id, "price": over})
    end = sub["items"].data[0].current_period_end
    shop.words(sub.customer, 1500, "a")
    with pytest.raises(InvalidRequestError, match="already exists with identifier a") as repeated:
        shop.words(sub.customer, 1500, "a")
    assert repeated.value.http_status == 400
    stripe.advance_to(end + 60)
    shop.words(sub.customer, 600, "late", at=end - 1)  # counted: the draft's hour isn't over
    shop.words(sub.customer, 9000, "next")
    stripe.advance_to(end + 3600)
    lines = {row.description: row.amount for row in shop.invoices(sub)[-1].lines.data}
    assert lines["2100 × Pro"] == 150  # three thousands begun
    assert shop.invoices(sub)[-1].total == 2050


def test_a_cancelled_subscription_bills_the_rest_of_its_words(stripe: Director, shop: Shop) -> None:
    over = shop.overage()
    sub = shop.subscribe()
    shop.v1.subscription_items.create({"subscription": sub.id, "price": over})
    shop.words(sub.customer, 10, "a")
    shop.v1.subscriptions.update(sub.id, {"cancel_at_period_end": True})
    stripe.advance(days=32)
    assert shop.again(sub).status == "canceled"
    assert (shop.invoices(sub)[-1].total, shop.invoices(sub)[-1].status) == (50, "paid")


@pytest.mark.parametrize("days", [-36, 1])
def test_a_meter_refuses_counts_of_long_ago_and_of_the_future(stripe: Director, shop: Shop, days: int) -> None:
    shop.overage()
    with pytest.raises(InvalidRequestError, match="within the past 35 days"):
        shop.words(shop.customer(), 1, "x", at=stripe.now() + days * 86_400)


# --- Money that goes back -----------------------------------------------------------------------------------------


def test_the_balance_adds_up_after_refund_and_dispute(stripe: Director, shop: Shop) -> None:
    shop.subscribe()
    shop.subscribe()
    shop.subscribe(currency="eur")
    refunded, disputed = (charge["id"] for charge in stripe.objects("charge")[:2])
    shop.v1.refunds.create({"charge": refunded, "amount": 500})
    with pytest.raises(InvalidRequestError, match="greater than unrefunded"):
        shop.v1.refunds.create({"charge": refunded, "amount": 1401})
    shop.v1.refunds.create({"charge": refunded})
    with pytest.raises(InvalidRequestError, match="already been refunded"):
        shop.v1.refunds.create({"charge": refunded})
    dispute = stripe.dispute(charge=disputed)
    with pytest.raises(InvalidRequestError, match="charged back"):
        shop.v1.refunds.create({"charge": disputed})
    fees = 2 * 85 + 1500
    assert stripe.balance()["usd"] == {"charge": 3800, "refund": -1900, "adjustment": -1900, "fee": fees, "net": -fees}
    stripe.close_dispute(dispute["id"], won=True)
    assert shop.v1.disputes.retrieve(dispute["id"]).status == "won"
    rows = shop.v1.balance_transactions.list({"limit": 100}).data
    assert sum(row.net for row in rows if row.currency == "usd") == stripe.balance()["usd"]["net"] == 1900 - fees
    both = shop.v1.balance.retrieve()
    pending = {entry.currency: entry.amount for entry in both.pending}
    assert pending == {"usd": 1900 - fees, "eur": 1800 - 82}


def test_the_balance_becomes_available(stripe: Director, shop: Shop) -> None:
    shop.subscribe()
    stripe.advance(days=2)
    both = shop.v1.balance.retrieve()
    assert (both.pending, both.available[0].amount) == ([], 1815)

"""The loopback Stripe's pages, as a browser without JavaScript clicks them: checkout, portal, an invoice."""

import re
from typing import Any

import httpx
import pytest
from stripe import CardError, InvalidRequestError

from tests.loopback.stripe import cards
from tests.loopback.stripe.launcher import LoopbackStripe
from tests.loopback.stripe.shop import Shop

pytest_plugins = ["tests.loopback.stripe.fixtures"]


def submit(stripe: LoopbackStripe, url: str, **form: str) -> httpx.Response:
    """A form's POST, redirects not followed."""
    return stripe.http.post(url, data=form)


def test_it_leads_from_the_page_to_success_url_with_the_session_s_id(stripe: LoopbackStripe, shop: Shop) -> None:
    session = shop.session(shop.customer(), shop.pro)
    page = stripe.http.get(session.url)
    assert "19.00 USD" in page.text
    away = submit(stripe, session.url, card=cards.GOOD)
    assert (away.status_code, away.headers["location"]) == (303, f"http://127.0.0.1:9/return?session={session.id}")
    paid = shop.v1.checkout.sessions.retrieve(session.id, {"expand": ["subscription", "line_items"]})
    assert (paid.status, paid.payment_status, paid.subscription.status) == ("complete", "paid", "active")
    assert paid.line_items.data[0].amount_total == 1900


def test_it_pays_once_however_often_the_button_is_clicked(stripe: LoopbackStripe, shop: Shop) -> None:
    session = shop.session(shop.customer(), shop.pro)
    answers = [submit(stripe, session.url, card=cards.GOOD) for _ in range(3)]
    assert {answer.headers["location"] for answer in answers} == {f"http://127.0.0.1:9/return?session={session.id}"}
    assert len(stripe.objects("subscription")) == len(stripe.objects("charge")) == 1


def test_a_declined_card_leaves_the_session_open_and_makes_nothing(stripe: LoopbackStripe, shop: Shop) -> None:
    session = shop.session(shop.customer(), shop.pro)
    refused = submit(stripe, session.url, card=cards.DECLINED)
    assert refused.status_code == 402
    assert "Your card was declined." in refused.text
    assert stripe.objects("subscription") == []
    assert shop.v1.checkout.sessions.retrieve(session.id).status == "open"
    assert submit(stripe, session.url, card=cards.GOOD).status_code == 303


def test_a_card_that_asks_its_holder_needs_one_more_click(stripe: LoopbackStripe, shop: Shop) -> None:
    session = shop.session(shop.customer(), shop.pro)
    asked = submit(stripe, session.url, card=cards.ASKS_ONCE)
    assert "confirm" in asked.text
    assert stripe.objects("subscription") == []
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w*)"', asked.text))
    assert submit(stripe, session.url, **hidden).status_code == 303
    assert stripe.objects("subscription")[0]["status"] == "active"


def test_it_makes_a_customer_when_none_was_named(stripe: LoopbackStripe, shop: Shop) -> None:
    session = shop.v1.checkout.sessions.create(
        {
            "mode": "subscription",
            "line_items": [{"price": shop.pro, "quantity": 1}],
            "success_url": "http://127.0.0.1:9/",
        }
    )
    submit(stripe, session.url, card=cards.GOOD, email="new@example.com", name="New")
    done = shop.v1.checkout.sessions.retrieve(session.id)
    assert done.customer_details.email == "new@example.com"
    assert shop.v1.customers.retrieve(str(done.customer)).name == "New"


def test_it_takes_promotion_codes_and_tax_ids(stripe: LoopbackStripe, shop: Shop) -> None:
    coupon = shop.v1.coupons.create({"percent_off": 50, "duration": "once"})
    shop.v1.promotion_codes.create(
        {"promotion": {"type": "coupon", "coupon": coupon.id}, "code": "HALF", "max_redemptions": 1}
    )
    customer = shop.customer()
    session = shop.session(customer, shop.pro, allow_promotion_codes=True, tax_id_collection={"enabled": True},
                           customer_update={"name": "auto"})  # fmt: skip
    wrong = submit(stripe, session.url, card=cards.GOOD, promotion_code="NOPE")
    assert "This code is invalid." in wrong.text
    submit(stripe, session.url, card=cards.GOOD, promotion_code="half", tax_id="ESB12345678", tax_id_type="eu_vat")
    invoice = stripe.objects("invoice")[0]
    assert (invoice["subtotal"], invoice["total"], invoice["total_discount_amounts"][0]["amount"]) == (1900, 950, 950)
    assert shop.v1.customers.tax_ids.list(customer).data[0].value == "ESB12345678"
    assert shop.v1.promotion_codes.list({"code": "HALF"}).data[0].active is False
    stripe.advance(days=33)
    assert stripe.objects("invoice")[-1]["total"] == 1900  # the coupon held once


def test_a_session_expires_by_the_clock(stripe: LoopbackStripe, shop: Shop) -> None:
    session = shop.session(shop.customer(), shop.pro, expires_at=stripe.now() + 1800)
    stripe.advance(seconds=1800)
    assert shop.v1.checkout.sessions.retrieve(session.id).status == "expired"
    assert [event["data"]["object"]["id"] for event in stripe.events("checkout.session.expired")] == [session.id]
    assert stripe.http.get(session.url).status_code == 410
    assert submit(stripe, session.url, card=cards.GOOD).status_code == 410


def test_a_session_that_was_expired_by_hand_expires_once(stripe: LoopbackStripe, shop: Shop) -> None:
    session = shop.session(shop.customer(), shop.pro)
    shop.v1.checkout.sessions.expire(session.id)
    with pytest.raises(InvalidRequestError, match="status of expired"):
        shop.v1.checkout.sessions.expire(session.id)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"customer_email": "x@example.com"}, "only specify one"),
        ({"expires_at": 1}, "between 30 minutes and 24 hours"),
        ({"tax_id_collection": {"enabled": True}}, "customer_update"),
        ({"discounts": [{"coupon": "NOPE"}]}, "No such coupon"),
    ],
)
def test_it_refuses_what_stripe_refuses(shop: Shop, more: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidRequestError, match=says):
        shop.session(shop.customer(), shop.pro, **more)


# --- The portal ---------------------------------------------------------------------------------------------------


def portal_of(shop: Shop, customer: str, **more: Any) -> Any:
    return shop.v1.billing_portal.sessions.create(
        {"customer": customer, "return_url": "http://127.0.0.1:9/back", **more}
    )


def test_the_portal_cancels_at_period_end_and_keeps_after_all(stripe: LoopbackStripe, shop: Shop) -> None:
    sub = shop.subscribe()
    session = portal_of(shop, sub.customer)
    page = stripe.http.get(session.url).text
    assert "Cancel subscription" in page
    assert "http://127.0.0.1:9/back" in page
    submit(stripe, f"{session.url}/cancel", subscription=sub.id)
    assert shop.again(sub).cancel_at_period_end is True
    assert "Keep it after all" in stripe.http.get(session.url).text
    submit(stripe, f"{session.url}/keep", subscription=sub.id)
    assert shop.again(sub).cancel_at_period_end is False


def test_the_portal_upgrades_at_once_and_downgrades_at_period_end(stripe: LoopbackStripe, shop: Shop) -> None:
    configuration = shop.v1.billing_portal.configurations.create(
        {"features": {"subscription_update": {
            "enabled": True, "default_allowed_updates": ["price"], "proration_behavior": "always_invoice",
            "products": [{"product": shop.product, "prices": [shop.basic, shop.pro]}],
            "schedule_at_period_end": {"conditions": [{"type": "decreasing_item_amount"}]}}}}
    )  # fmt: skip
    sub = shop.subscribe(price=shop.basic)
    session = portal_of(shop, sub.customer, configuration=configuration.id)
    submit(stripe, f"{session.url}/change", subscription=sub.id, price=shop.pro)
    assert shop.again(sub)["items"].data[0].price.id == shop.pro
    submit(stripe, f"{session.url}/change", subscription=sub.id, price=shop.basic)
    assert shop.again(sub)["items"].data[0].price.id == shop.pro
    stripe.advance(days=32)
    after = shop.again(sub)
    assert after["items"].data[0].price.id == shop.basic
    assert shop.invoices(sub)[-1].total == 900
    assert submit(stripe, f"{session.url}/cancel", subscription=sub.id).status_code == 400  # not configured


def test_the_portal_takes_another_card_and_shows_nobody_else_s_subscription(stripe: LoopbackStripe, shop: Shop) -> None:
    sub, foreign = shop.subscribe(card=cards.FAILS_LATER), shop.subscribe()
    session = portal_of(shop, sub.customer)
    refused = submit(stripe, f"{session.url}/card", card=cards.DECLINED)
    assert "Your card was declined." in refused.text
    submit(stripe, f"{session.url}/card", card=cards.GOOD)
    assert submit(stripe, f"{session.url}/cancel", subscription=foreign.id).status_code == 400
    stripe.advance(days=32)
    assert [invoice.status for invoice in shop.invoices(sub)] == ["paid", "paid"]


def test_an_open_invoice_is_paid_on_its_own_page(stripe: LoopbackStripe, shop: Shop) -> None:
    sub = shop.subscribe(card=cards.FAILS_LATER)
    stripe.advance(days=32)
    invoice = shop.invoices(sub)[-1]
    assert (invoice.status, shop.again(sub).status) == ("open", "past_due")
    assert "declined" in submit(stripe, invoice.hosted_invoice_url, card=cards.DECLINED).text
    submit(stripe, invoice.hosted_invoice_url, card=cards.GOOD)
    assert (shop.invoices(sub)[-1].status, shop.again(sub).status) == ("paid", "active")
    assert stripe.http.get(invoice.invoice_pdf).content.startswith(b"%PDF")


def test_a_customer_s_end_ends_the_subscription_and_answers_deleted(shop: Shop) -> None:
    sub = shop.subscribe()
    shop.v1.customers.delete(sub.customer)
    assert shop.v1.customers.retrieve(sub.customer).deleted is True
    assert shop.again(sub).status == "canceled"
    with pytest.raises(InvalidRequestError, match="No such customer"):
        shop.session(sub.customer, shop.pro)
    with pytest.raises(InvalidRequestError, match="No such customer"):
        portal_of(shop, sub.customer)


def test_an_invoice_paid_with_a_bad_card_says_so_to_the_sdk(stripe: LoopbackStripe, shop: Shop) -> None:
    sub = shop.subscribe(card=cards.FAILS_LATER)
    stripe.advance(days=32)
    with pytest.raises(CardError) as refused:
        shop.v1.invoices.pay(shop.invoices(sub)[-1].id, {"off_session": True})
    assert refused.value.code == "card_declined"

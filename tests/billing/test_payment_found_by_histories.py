"""What random histories found once: each told by itself, so that it stays found."""

from datetime import timedelta

import pytest
from billing_stage import Clock, Stage, clock
from django.conf import LazySettings
from django.utils import timezone
from stripe_shop import Shop, fresh, plan, shop, stripe, stripe_server

from billing import checkout, revenue, tasks, webhooks
from billing.accounts import account_of
from billing.checkout import Choice
from billing.models import Checkout, RevenueEntry, StripeEvent, User
from tests.loopback.stripe.launcher import LoopbackStripe

__all__ = ["clock", "shop", "stripe", "stripe_server"]


@pytest.mark.django_db
def test_a_night_finds_days_that_a_newer_event_hides(
    stripe: LoopbackStripe, settings: LazySettings, clock: Clock
) -> None:
    stage = Stage(stripe, settings, clock)
    early, late = stage.sign_up(), stage.sign_up()
    stripe.fault("webhook_dropped", times=None)
    stage.pay(stage.press(early, Choice("pro", "month", "usd")), "4242424242424242")
    stripe.clear_faults()
    stage.wait(9 * 86_400)
    stage.pay(stage.press(late, Choice("pro", "month", "usd")), "4242424242424242")
    stage.hear()
    stage.work()
    webhooks.catch_up(now=timezone.now())
    stage.work()
    assert plan(early.account) == "free", "an hour's look doesn't reach so far"
    clock.at += timedelta(hours=(tasks.NIGHT_HOUR - clock.at.hour) % 24)
    tasks.catch_up_with_stripe()
    stage.work()
    assert plan(early.account) == "pro"
    assert revenue.earned().net == {"usd": stripe.balance()["usd"]["net"]}


def test_a_deleted_customers_page_is_not_handed_out_again(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    first = shop.open(account)
    shop.stripe.sdk().v1.customers.delete(shop.stripe.objects("customer")[0]["id"])
    second = shop.open(account)
    assert second.stripe_id != first.stripe_id
    assert Checkout.objects.get(pk=first.pk).status == Checkout.Status.EXPIRED
    shop.stripe.pay(second.stripe_id, email=alice.email)
    checkout.settle(account=account, session_id=second.stripe_id, now=timezone.now())
    assert plan(account) == "pro"


def test_what_goes_back_is_filed_under_its_plan_also_when_it_is_heard_of_first(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    shop.stripe.pay(shop.open(account).stripe_id, email=alice.email)
    part = {"charge": shop.stripe.objects("charge")[0]["id"], "amount": 900}
    shop.stripe.sdk().v1.refunds.create(part)  # type: ignore
    shop.stripe.hand_over(shop.stripe.take(types=["charge.refunded"]), shop.post)
    shop.work()
    back = RevenueEntry.objects.get(kind=RevenueEntry.Kind.REFUND)
    assert (back.plan, back.account_id, back.amount_cents) == ("pro", fresh(account).pk, -900)
    assert back.invoice == shop.stripe.objects("invoice")[0]["id"]


def test_a_sweep_keeps_only_what_should_have_been_told(shop: Shop) -> None:
    assert shop.stripe.events("product.created")
    assert webhooks.catch_up(now=timezone.now()) == 0
    assert not StripeEvent.objects.exists()

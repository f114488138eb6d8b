"""Two tabs, two clicks, two workers at the same moment: one customer, one page, one subscription."""

import factories
import pytest
from django.conf import LazySettings
from django.utils import timezone
from stripe_shop import Shop, plan, stripe, stripe_server

from billing import checkout, revenue, webhooks
from billing.accounts import account_of
from billing.checkout import Choice
from billing.models import Checkout, StripeCustomer, StripeEvent, Subscription
from inkcloak.errors import Conflict
from tests.loopback.stripe.launcher import LoopbackStripe

__all__ = ["stripe", "stripe_server"]

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = 6


def test_two_tabs_at_once_share_a_page(stripe: LoopbackStripe, settings: LazySettings) -> None:
    shop, account = Shop(stripe, settings), account_of(factories.person("alice"))
    found = factories.together(lambda _number: shop.open(account), AT_ONCE)
    assert len({each.stripe_id for each in found}) == 1
    assert len(stripe.objects("customer")) == StripeCustomer.objects.count() == 1
    assert len(stripe.objects("checkout.session")) == Checkout.objects.count() == 1


def test_return_and_events_at_once_make_one_subscription(stripe: LoopbackStripe, settings: LazySettings) -> None:
    shop, user = Shop(stripe, settings), factories.person("alice")
    account = account_of(user)
    opened = shop.open(account)
    stripe.pay(opened.stripe_id, email=user.email)
    stripe.hand_over(stripe.take(), shop.post)
    waiting = list(StripeEvent.objects.values_list("pk", flat=True))

    def come(number: int) -> object:
        if number == 0:
            return checkout.settle(account=account, session_id=opened.stripe_id, now=timezone.now())
        if number == 1:
            try:
                return checkout.start(account=account, choice=Choice("team", "month", "usd"), now=timezone.now())
            except Conflict as refused:
                return refused.code
        return [webhooks.process(event_id, now=timezone.now()) for event_id in waiting[number % 2 :: 2]]

    found = factories.together(come, AT_ONCE)
    shop.work()
    assert found[1] == "already_subscribed"
    assert plan(account) == "pro"
    assert Subscription.objects.count() == len(stripe.objects("subscription")) == 1
    assert revenue.earned().net == {"usd": stripe.balance()["usd"]["net"]}
    assert not StripeEvent.objects.filter(done_at=None).exists()

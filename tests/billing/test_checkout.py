"""To a first plan over Stripe's page: paid once, whatever is clicked twice, and in whichever order we hear of it."""

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.utils import timezone
from stripe_shop import Shop, fresh, plan, row, shop, stripe, stripe_server

from billing import catalogue, checkout, customers, portal, quota, webhooks
from billing.accounts import Owner, account_of, allowance_of
from billing.models import Checkout, StripeCustomer, StripeEvent, Subscription, User
from billing.plans import FREE
from inkcloak.errors import Conflict, Invalid, Unavailable

__all__ = ["shop", "stripe", "stripe_server"]


def test_the_catalogue_is_made_once(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(shop.stripe.objects("price")) == 12
    call_command("stripe_sync_catalogue", "--apply")
    assert "Nothing to do" in capsys.readouterr().out
    assert len(shop.stripe.objects("price")) == 12
    assert len(shop.stripe.objects("webhook_endpoint")) == 1
    key = shop.stripe.objects("price")[0]["id"]
    shop.stripe.sdk().v1.prices.update(key, {"active": False})
    call_command("stripe_sync_catalogue")
    assert "Nothing is changed yet" in capsys.readouterr().out
    call_command("stripe_sync_catalogue", "--apply")
    assert shop.stripe.objects("price")[0]["active"]


def test_a_paid_page_gives_the_words_at_once(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    now = timezone.now()
    opened = shop.open(account)
    assert plan(account) == FREE
    shop.stripe.pay(opened.stripe_id, email=alice.email)
    assert plan(account) == FREE, "nothing has told us yet"
    assert set(shop.hear()) == {200}
    assert plan(account) == "pro"
    assert allowance_of(Owner(account=fresh(account)), now).limit == 500_000
    assert quota.balance(allowance_of(Owner(account=fresh(account)), now)).left == 500_000
    assert Checkout.objects.get().status == Checkout.Status.COMPLETE
    assert row(account).amount_cents == 2_900


def test_the_return_may_come_before_every_event(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    opened = shop.open(account, "starter", "year", "eur")
    found = checkout.settle(account=account, session_id=opened.stripe_id, now=timezone.now())
    assert found is not None
    assert found.status == Checkout.Status.OPEN, "whoever only opens the address has paid nothing"
    shop.stripe.pay(opened.stripe_id, email=alice.email)
    found = checkout.settle(account=account, session_id=opened.stripe_id, now=timezone.now())
    assert found is not None
    assert found.status == Checkout.Status.COMPLETE
    assert plan(account) == "starter"
    shop.hear(order="reverse")
    assert (plan(account), row(account).interval, row(account).currency) == ("starter", "year", "eur")


def test_a_strangers_page_is_none(shop: Shop, alice: User, charlie: User) -> None:
    opened = shop.open(account_of(alice))
    shop.stripe.pay(opened.stripe_id, email=alice.email)
    stranger = account_of(charlie)
    assert checkout.settle(account=stranger, session_id=opened.stripe_id, now=timezone.now()) is None
    assert checkout.settle(account=stranger, session_id="cs_made_up", now=timezone.now()) is None
    assert plan(stranger) == FREE


def test_a_second_click_leads_to_the_same_page_and_another_choice_closes_the_first(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    first, again = shop.open(account), shop.open(account)
    assert first.pk == again.pk
    other = shop.open(account, "team")
    assert other.pk != first.pk
    sessions = {each["id"]: each["status"] for each in shop.stripe.objects("checkout.session")}
    assert sessions == {first.stripe_id: "expired", other.stripe_id: "open"}
    assert len(shop.stripe.objects("customer")) == 1


def test_who_has_a_plan_gets_no_second_one(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    opened = shop.open(account)
    shop.stripe.pay(opened.stripe_id, email=alice.email)
    with pytest.raises(Conflict) as refused:  # before any event or return told us
        shop.open(account, "team")
    assert refused.value.code == "already_subscribed"
    assert plan(account) == "pro", "what was learnt on the way is kept"
    assert len(shop.stripe.objects("checkout.session")) == 1


def test_an_expired_page_is_followed_by_a_new_one(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    first = shop.open(account)
    shop.stripe.advance(days=1.01)
    second = shop.open(account)
    assert second.pk != first.pk
    first.refresh_from_db()
    assert first.status == Checkout.Status.EXPIRED


def test_a_customer_who_was_deleted_at_stripe_is_made_anew(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice)
    old = customers.of(account)
    assert old is not None
    shop.stripe.sdk().v1.customers.delete(old.stripe_id)
    shop.hear()
    assert plan(account) == FREE
    shop.open(account)
    assert StripeCustomer.objects.filter(account=account).count() == 2
    assert customers.of(account) != old
    assert [each.status for each in Subscription.objects.all()] == ["canceled"]


@pytest.mark.parametrize(
    "choice", [("free", "month", "usd"), ("pro", "week", "usd"), ("pro", "month", "jpy"), ("gold", "month", "usd")]
)
def test_what_is_not_sold_is_refused_before_anything_is_asked(
    shop: Shop, alice: User, choice: tuple[str, str, str]
) -> None:
    asked = len(shop.stripe.requests())
    with pytest.raises(Invalid):
        shop.open(account_of(alice), *choice)
    assert len(shop.stripe.requests()) == asked


@pytest.mark.parametrize("after", [True, False])
def test_an_answer_that_is_lost_makes_no_second_customer_or_page(shop: Shop, alice: User, after: bool) -> None:
    account = account_of(alice)
    shop.stripe.fault("reset", after=after, where={"op": "POST /v1/customers"})
    shop.stripe.fault("server_error", after=after, where={"op": "POST /v1/checkout/sessions"})
    opened = shop.open(account)
    assert [each["id"] for each in shop.stripe.objects("checkout.session")] == [opened.stripe_id]
    assert len(shop.stripe.objects("customer")) == 1


def test_what_fails_for_long_says_so_and_can_be_tried_again(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    shop.stripe.fault("server_error", times=9, where={"op": "POST /v1/checkout/sessions"})
    with pytest.raises(Unavailable) as refused:
        shop.open(account)
    assert refused.value.code == "payment_unavailable"
    shop.stripe.clear_faults()
    assert shop.open(account).url.startswith(shop.stripe.url)
    assert len(shop.stripe.objects("customer")) == 1


def test_without_a_key_nothing_is_sold(alice: User, settings: LazySettings) -> None:
    settings.STRIPE_SECRET_KEY = ""
    with pytest.raises(Unavailable) as refused:
        checkout.start(account=account_of(alice), choice=checkout.Choice("pro", "month", "usd"), now=timezone.now())
    assert refused.value.code == "payment_not_set_up"


def test_the_portal_is_there_for_who_ever_paid(shop: Shop, alice: User) -> None:
    with pytest.raises(Conflict) as refused:
        portal.address(account_of(alice))
    assert refused.value.code == "not_subscribed"
    account = shop.subscribe(alice)
    assert portal.address(account).startswith(shop.stripe.url)


def test_events_that_never_came_are_found_in_stripes_list(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    shop.stripe.fault("webhook_dropped", times=None)
    shop.stripe.pay(shop.open(account).stripe_id, email=alice.email)
    assert shop.hear() == []
    told = [each for each in shop.stripe.events() if each["type"] in catalogue.EVENTS]
    assert webhooks.catch_up(now=timezone.now()) == len(told) > 3
    assert webhooks.catch_up(now=timezone.now()) == 0
    shop.work()
    assert plan(account) == "pro"
    assert set(StripeEvent.objects.values_list("source", flat=True)) == {StripeEvent.Source.SWEEP}

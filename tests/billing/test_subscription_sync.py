"""A subscription's life at Stripe and what we make of it: any order, doubled, late; money to the cent."""

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.utils import timezone
from stripe_shop import Shop, fresh, plan, row, shop, stripe, stripe_server

from billing import customers, invoices, plan_changes, plans, revenue, subscriptions, usage
from billing.accounts import account_of
from billing.models import Account, Invoice, RevenueEntry, StripeEvent, Subscription, User
from billing.plan_changes import When
from billing.plans import FREE
from inkcloak.errors import Conflict
from tests.loopback.stripe.cards import DECLINED, FAILS_LATER, GOOD

__all__ = ["shop", "stripe", "stripe_server"]


def net(shop: Shop) -> dict[str, int]:
    return {currency: sums["net"] for currency, sums in shop.stripe.balance().items()}


def stripe_id(account: Account) -> str:
    found = customers.of(account)
    assert found is not None
    return found.stripe_id


def test_a_renewal_moves_the_period_and_brings_money(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice)
    first = row(account).period_end
    shop.stripe.advance(days=32)
    shop.hear()
    renewed = row(account)
    assert (plan(account), renewed.status, renewed.period_start) == ("pro", "active", first)
    assert revenue.earned().paid == {"usd": 2 * 2_900}
    assert revenue.earned().net == net(shop)
    assert [(each.status, each.plan, each.paid_cents) for each in invoices.of(account)] == [("paid", "pro", 2_900)] * 2


def test_any_order_and_any_number_of_copies_end_the_same(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice, "starter")
    plan_changes.change(account=account, plan="team", interval="month", now=shop.now)
    shop.stripe.advance(days=32)
    plan_changes.cancel(account=account, now=shop.now)
    shop.hear()
    end = (Subscription.objects.values(), RevenueEntry.objects.count(), Invoice.objects.count(), plan(account))
    kept = [{name: value for name, value in each.items() if name != "fetched_at"} for each in end[0]]
    StripeEvent.objects.all().delete()
    Subscription.objects.all().delete()
    Invoice.objects.all().delete()
    shop.hear_again(order="random", seed=7, duplicates=0.3)
    again = [
        {name: value for name, value in each.items() if name != "fetched_at"} for each in Subscription.objects.values()
    ]
    for each in (*kept, *again):
        each.pop("id")
    assert again == kept
    assert (RevenueEntry.objects.count(), Invoice.objects.count(), plan(account)) == end[1:]
    assert revenue.earned().net == net(shop)


def test_a_failed_renewal_keeps_the_plan_until_the_date_that_is_shown(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice, card=FAILS_LATER)
    shop.stripe.advance(days=32)
    shop.hear()
    found = row(account)
    assert found.status == "past_due"
    assert found.grace_ends_at is not None
    assert found.grace_ends_at > found.period_start + timedelta(days=subscriptions.GRACE_DAYS - 1)  # type: ignore
    assert fresh(account).plan_until == found.grace_ends_at
    assert plans.plan_of(fresh(account), found.grace_ends_at - timedelta(seconds=1)).name == "pro"
    assert plans.plan_of(fresh(account), found.grace_ends_at).name == FREE
    with pytest.raises(Conflict) as refused:
        plan_changes.change(account=account, plan="team", interval="month", now=shop.now)
    assert refused.value.code == "payment_due"
    shop.stripe.use_card(stripe_id(account), GOOD)
    shop.stripe.advance(days=4)
    shop.hear()
    assert (row(account).status, row(account).grace_ends_at, fresh(account).plan_until) == ("active", None, None)
    assert revenue.earned().net == net(shop)


def test_dunning_ends_in_free(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice, card=FAILS_LATER)
    shop.stripe.advance(days=60)
    shop.hear()
    assert (row(account).status, plan(account)) == ("canceled", FREE)
    assert usage.of(fresh(account), now=timezone.now()).words.limit == plans.free().words_per_month


def test_an_upgrade_is_paid_and_given_at_once_as_it_was_shown(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice, "starter")
    shop.stripe.advance(days=10)
    shown = plan_changes.preview(account=account, plan="pro", interval="month", now=shop.now)
    assert shown.when is When.NOW
    assert shown.invoice is not None
    assert any(line.is_proration for line in shown.invoice.lines)
    shop.stripe.advance(seconds=300)
    assert (
        plan_changes.change(account=account, plan="pro", interval="month", now=shop.now, as_of=shown.as_of) is When.NOW
    )
    assert plan(account) == "pro"
    shop.hear()
    newest = invoices.of(account)[0]
    assert (newest.paid_cents, newest.currency) == (shown.invoice.due, "usd")
    assert revenue.earned().net == net(shop)


def test_an_upgrade_that_cannot_be_paid_changes_nothing(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice, "starter")
    shop.stripe.use_card(stripe_id(account), FAILS_LATER)
    with pytest.raises(Conflict) as refused:
        plan_changes.change(account=account, plan="team", interval="month", now=shop.now)
    assert refused.value.code == "payment_declined"
    shop.hear()
    assert (plan(account), row(account).plan) == ("starter", "starter")
    assert revenue.earned().net == net(shop)


def test_a_cheaper_plan_begins_when_the_paid_one_is_used_up(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice, "team")
    end = row(account).period_end
    assert plan_changes.preview(account=account, plan="pro", interval="month", now=shop.now).at == end
    assert plan_changes.change(account=account, plan="pro", interval="month", now=shop.now) is When.AT_PERIOD_END
    shop.hear()
    assert (plan(account), fresh(account).plan_until, fresh(account).next_plan_name) == ("team", end, "pro")
    with pytest.raises(Conflict) as refused:
        plan_changes.change(account=account, plan="starter", interval="month", now=shop.now)
    assert refused.value.code == "change_pending"
    shop.stripe.advance(days=32)
    shop.hear()
    assert (plan(account), fresh(account).plan_until) == ("pro", None)
    assert revenue.earned().paid == {"usd": 9_900 + 2_900}


def test_a_change_to_a_cheaper_plan_is_taken_back_without_money(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice, "team")
    plan_changes.change(account=account, plan="pro", interval="month", now=shop.now)
    plan_changes.change(account=account, plan="team", interval="month", now=shop.now)
    shop.hear()
    assert (plan(account), fresh(account).plan_until, row(account).keeps_plan) == ("team", None, "")
    assert revenue.earned().paid == {"usd": 9_900}


def test_cancelling_lasts_to_the_end_and_can_be_taken_back(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice)
    end = row(account).period_end
    assert plan_changes.cancel(account=account, now=shop.now) == end
    assert plan_changes.cancel(account=account, now=shop.now) == end
    assert (plan(account), fresh(account).plan_until) == ("pro", end)
    plan_changes.resume(account=account, now=shop.now)
    plan_changes.resume(account=account, now=shop.now)
    assert fresh(account).plan_until is None
    plan_changes.cancel(account=account, now=shop.now)
    shop.stripe.advance(days=32)
    shop.hear()
    assert (plan(account), row(account).status) == (FREE, "canceled")
    with pytest.raises(Conflict):
        plan_changes.resume(account=account, now=shop.now)
    assert shop.open(account).url, "and who left may come back"


def test_a_pause_takes_what_was_not_paid_and_gives_it_back(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice)
    end = row(account).period_end
    assert plan_changes.pause(account=account, now=shop.now) == end
    assert (plan(account), fresh(account).plan_until) == ("pro", end)
    shop.stripe.advance(days=40)
    shop.hear()
    assert plan(account) == FREE
    assert revenue.earned().paid == {"usd": 2_900}
    plan_changes.unpause(account=account, now=shop.now)
    shop.hear()
    assert (plan(account), row(account).paused) == ("pro", False)
    assert revenue.earned().paid == {"usd": 2 * 2_900}
    assert revenue.earned().net == net(shop)


def test_what_the_customer_does_in_the_portal_counts(shop: Shop, alice: User) -> None:
    account = shop.subscribe(alice)
    found = shop.stripe.sdk().v1.billing_portal.sessions.create(
        {"customer": stripe_id(account), "return_url": "https://x.example"}
    )
    shop.stripe.portal(found.id, "cancel", subscription=row(account).stripe_id)
    shop.hear()
    assert fresh(account).plan_until == row(account).period_end
    shop.stripe.portal(found.id, "keep", subscription=row(account).stripe_id)
    shop.hear()
    assert fresh(account).plan_until is None


def test_refunds_and_disputes_are_lines_of_their_own(shop: Shop, alice: User, bob: User) -> None:
    account, other = shop.subscribe(alice), shop.subscribe(bob, "starter")
    charges = {each["customer"]: each["id"] for each in shop.stripe.objects("charge")}
    shop.stripe.sdk().v1.refunds.create({"charge": charges[stripe_id(account)], "amount": 900})
    taken = shop.stripe.dispute(charge=charges[stripe_id(other)])
    shop.hear(order="reverse")
    assert revenue.earned().net == net(shop)
    shop.stripe.close_dispute(taken["id"], won=True)
    shop.hear()
    shop.hear_again(order="random", duplicates=0.5)
    found = revenue.by_account(timezone.now() - timedelta(days=9), timezone.now() + timedelta(days=9))
    assert found[account.pk].refunded == {"usd": -900}
    assert found[other.pk].disputed == {"usd": 0}
    assert found[other.pk].fees["usd"] < 0
    assert revenue.earned().net == net(shop)
    assert {each.plan for each in RevenueEntry.objects.filter(account_id=account.pk)} == {"pro"}


def test_each_night_finds_what_no_event_told_and_who_has_two(
    shop: Shop, alice: User, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    account = shop.subscribe(alice)
    shop.stripe.fault("webhook_dropped", times=None)
    price = [each["id"] for each in shop.stripe.objects("price") if each["lookup_key"] == "inkcloak_team_v1_month_usd"]
    shop.stripe.sdk().v1.subscriptions.create({"customer": stripe_id(account), "items": [{"price": price[0]}]})
    Account.objects.filter(pk=account_of(bob).pk).update(plan_name="team")
    assert subscriptions.sync_everybody(now=timezone.now()) == 1
    assert subscriptions.duplicates() == [account]
    assert str(account.pk) in caplog.text
    assert alice.email not in caplog.text
    assert plan(account) == "team"
    assert plan(account_of(bob)) == FREE, "a plan without a customer is none"


def test_a_customer_whose_deletion_nobody_told_of_does_not_stop_the_night(shop: Shop, alice: User, bob: User) -> None:
    gone, left = shop.subscribe(alice), shop.subscribe(bob, "team")
    shop.stripe.fault("webhook_dropped", times=None)
    shop.stripe.sdk().v1.customers.delete(stripe_id(gone))
    assert subscriptions.sync_everybody(now=timezone.now()) == 2
    assert (plan(gone), plan(left)) == (FREE, "team")
    assert customers.of(gone) is None or subscriptions.of(gone) is None


def test_a_card_that_is_declined_at_the_page_makes_nothing(shop: Shop, alice: User) -> None:
    account = account_of(alice)
    opened = shop.open(account)
    with pytest.raises(AssertionError, match="declined"):
        shop.stripe.pay(opened.stripe_id, card=DECLINED)
    shop.hear()
    assert plan(account) == FREE
    assert revenue.earned().net == {}


def test_nothing_of_the_other_mode_counts(shop: Shop, alice: User, settings: LazySettings) -> None:
    account = shop.subscribe(alice)
    settings.STRIPE_SECRET_KEY = "sk_live_other"
    assert subscriptions.of(account) is None
    subscriptions.entitle(account, now=timezone.now())
    assert plan(account) == FREE
    assert revenue.earned().net == {}

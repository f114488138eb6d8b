"""What each state of a subscription gives, and which of several counts: a pure table."""

from datetime import UTC, datetime, timedelta

import pytest

from billing.entitlements import ACCESS, LIVE, Entitlement, entitlement
from billing.models import Subscription
from billing.plans import Plan, free, get

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
BEFORE, AFTER, LATER = NOW - timedelta(days=1), NOW + timedelta(days=1), NOW + timedelta(days=9)
NOTHING = Entitlement(free())


def plan(name: str) -> Plan:
    found = get(name, 1)
    assert found is not None
    return found


def row(status: str = "active", name: str = "pro", **fields: object) -> Subscription:
    usual = {"plan": name, "plan_version": 1, "period_start": BEFORE, "period_end": AFTER, "fetched_at": BEFORE}
    return Subscription(status=status, **usual | fields)


def test_every_status_of_stripe_has_its_line() -> None:
    assert set(ACCESS) == set(Subscription.Status.values)


@pytest.mark.parametrize("status", ["trialing", "active"])
def test_these_are_on(status: str) -> None:
    assert entitlement([row(status)], NOW) == Entitlement(plan("pro"))


@pytest.mark.parametrize("status", ["incomplete", "incomplete_expired", "unpaid", "canceled", "paused", "invented"])
def test_these_are_off(status: str) -> None:
    assert entitlement([row(status)], NOW) == NOTHING


def test_a_failed_payment_leaves_the_plan_until_the_date_that_is_shown() -> None:
    assert entitlement([row("past_due", grace_ends_at=AFTER)], NOW) == Entitlement(plan("pro"), AFTER)
    assert entitlement([row("past_due", grace_ends_at=NOW)], NOW) == NOTHING
    assert entitlement([row("past_due")], NOW) == NOTHING, "without a date there is no grace"


def test_a_cancelled_plan_lasts_to_the_end_of_what_was_paid() -> None:
    assert entitlement([row(cancels_at=AFTER)], NOW) == Entitlement(plan("pro"), AFTER)
    assert entitlement([row(cancels_at=AFTER)], AFTER) == NOTHING


def test_a_pause_begins_after_what_was_paid_and_at_once_when_somebody_else_made_it() -> None:
    assert entitlement([row(paused=True, pause_from=AFTER)], NOW) == Entitlement(plan("pro"), AFTER)
    assert entitlement([row(paused=True, pause_from=BEFORE)], NOW) == NOTHING
    assert entitlement([row(paused=True)], NOW) == NOTHING


def test_a_cheaper_plan_begins_when_the_dearer_one_is_used_up() -> None:
    changed = row(name="starter", keeps_plan="pro", keeps_version=1, keeps_until=AFTER)
    assert entitlement([changed], NOW) == Entitlement(plan("pro"), AFTER, plan("starter"))
    assert entitlement([changed], AFTER) == Entitlement(plan("starter"))
    changed.cancels_at = AFTER
    assert entitlement([changed], NOW) == Entitlement(plan("pro"), AFTER)
    changed.cancels_at = LATER
    assert entitlement([changed], NOW) == Entitlement(plan("pro"), AFTER, plan("starter"))
    changed.period_start = AFTER
    assert entitlement([changed], NOW) == Entitlement(plan("starter"), LATER), "Stripe's test clock runs ahead of ours"


def test_the_best_of_several_counts_and_a_price_that_is_not_ours_gives_nothing() -> None:
    several = [row(name="starter"), row(name="team"), row("canceled", "team"), row(name="pro")]
    assert entitlement(several, NOW).plan == plan("team")
    assert entitlement([row(name="", plan_version=0)], NOW) == entitlement([row(name="free")], NOW) == NOTHING
    assert entitlement([], NOW) == NOTHING


def test_what_may_still_be_charged_for_stands_in_the_way_of_another() -> None:
    assert set(Subscription.Status.values) - LIVE == {"canceled", "incomplete_expired"}

"""Where an account stands with its plan, as one word that the pages have sentences for. Pure, but for `of`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from billing import plans, subscriptions
from billing.models import Account, Subscription
from billing.plans import Plan

State = Literal[
    "free",  # no subscription
    "active",
    "trial",
    "shrinking",  # a smaller plan follows at `until`
    "ending",  # cancelled: Free follows at `until`
    "pausing",  # Free follows at `until`, until it is resumed
    "paused",
    "late",  # a payment failed: the plan works until `until`
    "stopped",  # a payment failed for too long: Free, until it is paid
    "unpaid_yet",  # the very first payment was not finished
    "unknown",  # a state, or a price, that is not ours to explain
]


@dataclass(frozen=True, slots=True)
class Standing:
    """plan: what the account may use now.  subscribed: what is paid for; None without one.  then: what follows at
    `until`."""

    state: State
    plan: Plan
    subscription: Subscription | None = None
    subscribed: Plan | None = None
    until: datetime | None = None
    then: Plan | None = None

    @property
    def is_subscribed(self) -> bool:
        """Whether there is a plan to change, rather than a first one to choose."""
        return self.subscription is not None and self.state != "unpaid_yet"

    @property
    def can_change(self) -> bool:
        """To another plan. What is under way already has to be taken back first."""
        return self.state in ("active", "trial")

    @property
    def can_cancel(self) -> bool:
        return self.subscription is not None and self.subscription.cancels_at is None and self.state != "unpaid_yet"

    @property
    def can_resume(self) -> bool:
        """To take back what was asked for; after a pause has begun, with a new period that is paid at once."""
        return self.state in ("ending", "pausing", "paused", "shrinking")

    @property
    def can_pause(self) -> bool:
        return self.state in ("active", "trial", "shrinking")


def of(account: Account, now: datetime) -> Standing:
    """By what Stripe said last: asks the database once."""
    return standing(plans.plan_of(account, now), subscriptions.of(account), now)


def standing(plan: Plan, row: Subscription | None, now: datetime) -> Standing:
    """The words for that row. Bad news comes before good news."""
    if row is None:
        return Standing("free", plan)
    subscribed = plans.get(row.plan, row.plan_version)
    state, until, then = _state(row, subscribed, now)
    return Standing(state, plan, row, subscribed, until, then)


def _state(row: Subscription, subscribed: Plan | None, now: datetime) -> tuple[State, datetime | None, Plan | None]:
    status = Subscription.Status
    if subscribed is None:
        return "unknown", None, None
    if row.status == status.INCOMPLETE:
        return "unpaid_yet", None, None
    if row.status == status.UNPAID:
        return "stopped", None, None
    if row.status == status.PAST_DUE:
        lasts = row.grace_ends_at is not None and row.grace_ends_at > now
        return ("late", row.grace_ends_at, plans.free()) if lasts else ("stopped", None, None)
    if row.status == status.PAUSED:
        return "paused", None, None
    if row.paused:
        lasts = row.pause_from is not None and row.pause_from > now
        return ("pausing", row.pause_from, plans.free()) if lasts else ("paused", None, None)
    if row.status not in (status.ACTIVE, status.TRIALING):
        return "unknown", None, None
    if row.cancels_at is not None:
        return "ending", row.cancels_at, plans.free()
    if row.keeps_until is not None and row.keeps_until > now and row.keeps_plan:
        return "shrinking", row.keeps_until, subscribed
    return ("trial" if row.status == status.TRIALING else "active"), row.period_end, subscribed

"""From one plan to another, and out: what happens when, and the verbs that do it. Stripe computes the money.

    dearer, or from months to a year    at once; the rest of what was paid is set off (proration)
    cheaper                             Stripe's price changes at once without money; we keep giving what was paid for
    cancel, pause                       at the end of what was paid for; both can be taken back until then

Each verb locks the account, asks Stripe how things stand, changes them there, and writes what Stripe then says. All
raise Conflict where the subscription's state doesn't allow it, and Unavailable.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, TypeVar

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing import customers, payment_errors, plans, stripe_client, subscriptions
from billing.models import Account, Subscription
from billing.plans import MONTH, YEAR, Plan
from billing.stripe_shapes import KEEPS, KEEPS_UNTIL, PAUSE_FROM, InvoiceState
from inkcloak.errors import Conflict, DomainError

PREVIEW_MINUTES = 30  # that a shown amount stays the one that is charged
T = TypeVar("T")
NOTHING_KEPT = {KEEPS: "", KEEPS_UNTIL: ""}


class When(Enum):
    NOW = "now"
    AT_PERIOD_END = "at period end"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change would do. invoice: Stripe's own computation, None where no money moves now.  at: when the plan
    changes.  as_of: hand it to `change`, so that what was shown is what is charged."""

    when: When
    at: datetime
    as_of: datetime
    invoice: InvoiceState | None = None


def timing(old: Plan, old_interval: str, new: Plan, new_interval: str) -> When | DomainError:
    """The table of changes; pure. An error for a change that makes no sense, or not now."""
    if (old.name, old.version, old_interval) == (new.name, new.version, new_interval):
        return Conflict("same_plan", _("That is the plan you have."))
    if new.rank > old.rank or (new.rank == old.rank and (old_interval, new_interval) == (MONTH, YEAR)):
        return When.NOW
    if old_interval != new_interval:
        message = _("A cheaper plan with other payments begins with a new subscription: cancel this one at its end.")
        return Conflict("interval_at_end", message)
    return When.AT_PERIOD_END


def preview(*, account: Account, plan: str, interval: str, now: datetime) -> Preview:
    """Asks Stripe, changes nothing."""
    with payment_errors.spoken():
        row = _changeable(account)
        when, price_id = _planned(row, plan, interval)
        if when is When.AT_PERIOD_END:
            return Preview(when, row.period_end or now, now)
        details = {**_items(row, price_id), "proration_behavior": "always_invoice", "proration_date": _seconds(now)}
        invoice = stripe_client.preview_invoice({"subscription": row.stripe_id, "subscription_details": details})
        return Preview(when, now, now, invoice)


def change(*, account: Account, plan: str, interval: str, now: datetime, as_of: datetime | None = None) -> When:
    """Raises Conflict (payment_declined) where an upgrade can't be paid; nothing is changed then."""

    def ask(row: Subscription) -> tuple[When, dict[str, Any]]:
        if row.keeps_plan and (plan, interval) == (row.keeps_plan, row.interval):
            return When.NOW, _taken_back(row)
        when, price_id = _planned(row, plan, interval)
        asked = _at_once(row, price_id, now, as_of) if when is When.NOW else _at_end(row, price_id)
        return when, asked

    return _update(account, now, lambda row: ask(_checked(row)))


def cancel(*, account: Account, now: datetime) -> datetime:
    """The end of what was paid, when Free begins. Twice is harmless."""
    _update(account, now, lambda row: (None, {"cancel_at_period_end": True} if row.cancels_at is None else None))
    row = subscriptions.of(account)
    return now if row is None or row.cancels_at is None else row.cancels_at


def resume(*, account: Account, now: datetime) -> None:
    """Takes a cancellation back, while it hasn't happened yet. Twice is harmless."""

    def ask(row: Subscription) -> tuple[None, dict[str, Any] | None]:
        if row.cancels_at is None:
            return None, None
        at_end = stripe_client.subscription(row.stripe_id).at_period_end
        return None, {"cancel_at_period_end": False} if at_end else {"cancel_at": ""}

    _update(account, now, ask)


def pause(*, account: Account, now: datetime) -> datetime:
    """Nothing is collected from the next period on, and nothing is given. When that begins."""

    def ask(row: Subscription) -> tuple[datetime, dict[str, Any] | None]:
        start = row.pause_from or row.period_end or now
        if row.paused:
            return start, None
        return start, {"pause_collection": {"behavior": "void"}, "metadata": {PAUSE_FROM: str(_seconds(start))}}

    return _update(account, now, lambda row: ask(_checked(row)))


def unpause(*, account: Account, now: datetime) -> None:
    """The plan is back: within what was paid for nothing, later with a new period that is paid at once."""

    def ask(row: Subscription) -> tuple[None, dict[str, Any] | None]:
        if not row.paused:
            return None, None
        asked: dict[str, Any] = {"pause_collection": "", "metadata": {PAUSE_FROM: ""}}
        start = row.pause_from or now
        if start <= now or (row.period_start is not None and start <= row.period_start):
            asked |= {"billing_cycle_anchor": "now", "proration_behavior": "none"}
        return None, asked

    _update(account, now, ask)


# --- What is asked of Stripe ------------------------------------------------------------------------------------------


def _update(account: Account, now: datetime, ask: Callable[[Subscription], tuple[T, dict[str, Any] | None]]) -> T:
    """Under the lock: how it stands, what `ask` makes of it, how it stands then. No second request finds it half done.

    The SDK gives each request a key of its own: one of ours would play an earlier, same change back as if done.
    """
    with payment_errors.spoken(), transaction.atomic():
        customers.lock(account.pk)
        answer, params = ask(_fresh(account, now))
        if params is not None:
            stripe_id = _existing(account).stripe_id
            stripe_client.update_subscription(stripe_id, params)
            subscriptions.sync(stripe_id, now=now, account=account)
        return answer


def _fresh(account: Account, now: datetime) -> Subscription:
    row = _existing(account)
    found = subscriptions.sync(row.stripe_id, now=now, account=account)
    if found is None or subscriptions.of(account) != found:
        raise payment_errors.not_subscribed()
    return found


def _existing(account: Account) -> Subscription:
    row = subscriptions.of(account)
    if row is None:
        raise payment_errors.not_subscribed()
    return row


def _changeable(account: Account) -> Subscription:
    return _checked(_existing(account))


def _checked(row: Subscription) -> Subscription:
    """Raises Conflict where something else has to be put in order first."""
    if row.status not in (Subscription.Status.ACTIVE, Subscription.Status.TRIALING):
        raise Conflict("payment_due", _("A payment is due. Pay it, then change the plan."))
    if row.cancels_at is not None:
        raise Conflict("cancellation_pending", _("The plan is cancelled. Take that back first."))
    return row


def _planned(row: Subscription, plan: str, interval: str) -> tuple[When, str]:
    """When, and Stripe's id of the price. Raises Invalid, Conflict."""
    new, old = plans.get(plan), plans.get(row.plan, row.plan_version)
    if new is None or old is None or (interval, row.currency) not in new.prices:
        raise payment_errors.not_for_sale()
    if row.keeps_plan and row.keeps_until is not None and row.keeps_until == row.period_end:
        raise Conflict("change_pending", _("A change to a cheaper plan is under way. Take it back first."))
    if row.paused:
        raise Conflict("plan_paused", _("The plan is paused. End the pause first."))
    when = timing(old, row.interval, new, interval)
    if isinstance(when, DomainError):
        raise when
    return when, _price(new.lookup_key(interval, row.currency))


def _price(lookup_key: str) -> str:
    found = stripe_client.price(lookup_key)
    if found is None:
        raise payment_errors.not_for_sale()
    return found.id


def _items(row: Subscription, price_id: str) -> dict[str, Any]:
    return {"items": [{"id": row.item_id, "price": price_id}]}


def _at_once(row: Subscription, price_id: str, now: datetime, as_of: datetime | None) -> dict[str, Any]:
    """All or nothing: a card that is declined leaves the subscription as it is."""
    shown = as_of if as_of is not None and timedelta() <= now - as_of <= timedelta(minutes=PREVIEW_MINUTES) else now
    return {
        **_items(row, price_id),
        "proration_behavior": "always_invoice",
        "proration_date": _seconds(shown),
        "payment_behavior": "error_if_incomplete",
        "metadata": NOTHING_KEPT,
    }


def _at_end(row: Subscription, price_id: str) -> dict[str, Any]:
    kept = {KEEPS: f"{row.plan}:{row.plan_version}", KEEPS_UNTIL: str(_seconds(row.period_end or row.fetched_at))}
    return {**_items(row, price_id), "proration_behavior": "none", "metadata": kept}


def _taken_back(row: Subscription) -> dict[str, Any]:
    """The dearer plan stays, which was paid for already."""
    kept = plans.get(row.keeps_plan, row.keeps_version)
    if kept is None:
        raise payment_errors.not_for_sale()
    price_id = _price(kept.lookup_key(row.interval, row.currency))
    return {**_items(row, price_id), "proration_behavior": "none", "metadata": NOTHING_KEPT}


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())

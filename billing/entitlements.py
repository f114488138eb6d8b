"""From what Stripe says of a subscription to what its account may do: one table, and the rule among several. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from billing.models import Subscription
from billing.plans import FREE, Plan, free, get

Status = Subscription.Status


class Access(Enum):
    ON = "on"
    UNTIL_GRACE_ENDS = "until grace ends"  # a date that the customer sees
    OFF = "off"


ACCESS: dict[str, Access] = {
    Status.TRIALING: Access.ON,
    Status.ACTIVE: Access.ON,
    Status.PAST_DUE: Access.UNTIL_GRACE_ENDS,
    Status.INCOMPLETE: Access.OFF,
    Status.INCOMPLETE_EXPIRED: Access.OFF,
    Status.UNPAID: Access.OFF,
    Status.CANCELED: Access.OFF,
    Status.PAUSED: Access.OFF,
}
# Stripe may still collect for these: a second subscription beside one would charge twice.
LIVE = frozenset({Status.TRIALING, Status.ACTIVE, Status.PAST_DUE, Status.UNPAID, Status.PAUSED, Status.INCOMPLETE})


@dataclass(frozen=True, slots=True)
class Entitlement:
    """plan until `until` (None: until something is heard), then `then`."""

    plan: Plan
    until: datetime | None = None
    then: Plan | None = None


def access(status: str) -> Access:
    """OFF for a status that Stripe invents later: nobody is charged by us for what we don't know."""
    return ACCESS.get(status, Access.OFF)


def entitlement(subscriptions: Iterable[Subscription], now: datetime) -> Entitlement:
    """The best of what these rows of one account give at `now`; Free where none gives anything."""
    given = [found for found in (_one(each, now) for each in subscriptions) if found is not None]
    return max(given, key=lambda each: (each.plan.rank, each.plan.version), default=Entitlement(free()))


def _one(row: Subscription, now: datetime) -> Entitlement | None:
    plan = get(row.plan, row.plan_version)
    until = _ends(row)
    if plan is None or plan.name == FREE or access(row.status) is Access.OFF or _is_past(until, row, now):
        return None
    kept = get(row.keeps_plan, row.keeps_version)
    if kept is None or row.keeps_until is None or _is_past(row.keeps_until, row, now):
        return Entitlement(plan, until)
    if until is not None and until <= row.keeps_until:
        return Entitlement(kept, until)
    return Entitlement(kept, row.keeps_until, plan)


def _is_past(moment: datetime | None, row: Subscription, now: datetime) -> bool:
    """By our clock, or by Stripe's, which has begun a period since: a test clock there runs ahead of ours."""
    return moment is not None and (moment <= now or (row.period_start is not None and moment <= row.period_start))


def _ends(row: Subscription) -> datetime | None:
    """When this row stops giving anything, as far as it says so by itself."""
    ends = []
    if access(row.status) is Access.UNTIL_GRACE_ENDS:
        ends.append(row.grace_ends_at or row.period_start or row.fetched_at)
    if row.paused:  # paused by somebody else than us: at once
        ends.append(row.pause_from or row.fetched_at)
    if row.cancels_at is not None:
        ends.append(row.cancels_at)
    return min(ends, default=None)

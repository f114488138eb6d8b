"""Stripe's subscriptions as rows, and what they entitle their account to.

    sync(id)            lock the account, ask Stripe, write what it said: any order, any number of times
    sync_all(account)   the same for all that its customer ever had
    of(account)         the one that counts now             duplicates()   accounts with more than one that is charged

Values are set, never added to, so that events may come twice, late, or not at all. Raise StripeError.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count

from billing import customers, plans, stripe_client
from billing.entitlements import LIVE, entitlement
from billing.models import Account, StripeCustomer, Subscription
from billing.stripe_client import StripeError
from billing.stripe_shapes import KEEPS, KEEPS_UNTIL, PAUSE_FROM, PLAN, VERSION, Json, Price, SubscriptionState, moment

log = logging.getLogger(__name__)

GRACE_DAYS = 14  # after a failed payment, as long as Stripe tries again by its defaults


def of(account: Account) -> Subscription | None:
    """The one that is, or may again be, charged for; the oldest if there are more."""
    rows = Subscription.objects.filter(account=account, livemode=stripe_client.livemode(), status__in=LIVE)
    return rows.order_by("started_at", "pk").first()


def sync(subscription_id: str, *, now: datetime, account: Account | None = None) -> Subscription | None:
    """Its row as Stripe has it now; None where it belongs to no account of ours, or never was."""
    owner = account or _owner(subscription_id)
    if owner is None:
        return None
    with transaction.atomic():
        customers.lock(owner.pk)
        return _fetch(owner, subscription_id, now)


def _owner(subscription_id: str) -> Account | None:
    rows = Subscription.objects.filter(stripe_id=subscription_id, livemode=stripe_client.livemode())
    if (known := rows.select_related("account").first()) is not None:
        return known.account
    try:
        return customers.account_of(stripe_client.subscription(subscription_id).customer)
    except StripeError as error:
        if error.code != stripe_client.NOT_FOUND:
            raise
        return None


def _fetch(account: Account, subscription_id: str, now: datetime) -> Subscription | None:
    try:
        state = stripe_client.subscription(subscription_id)
    except StripeError as error:
        if error.code != stripe_client.NOT_FOUND:
            raise
        return _gone(account, subscription_id, now)
    if customers.account_of(state.customer) != account:
        log.warning("subscription %s is another account's", subscription_id)
        return None
    return write(account, state, now=now)


def _gone(account: Account, subscription_id: str, now: datetime) -> Subscription | None:
    rows = Subscription.objects.filter(account=account, stripe_id=subscription_id, livemode=stripe_client.livemode())
    rows.update(status=Subscription.Status.CANCELED, fetched_at=now)
    entitle(account, now=now)
    return rows.first()


def write(account: Account, state: SubscriptionState, *, now: datetime) -> Subscription:
    """Under the account's lock, with a state that was fetched under it."""
    name, version = plan_of_price(state.price)
    keeps, keeps_version = _named(state.metadata.get(KEEPS))
    row, _made = Subscription.objects.update_or_create(
        stripe_id=state.id,
        livemode=state.livemode,
        defaults={
            "account": account,
            "customer_id": state.customer,
            "item_id": state.item_id,
            "status": state.status,
            "plan": name,
            "plan_version": version,
            "interval": state.price.interval if state.price else "",
            "currency": state.currency,
            "amount_cents": state.price.amount if state.price else 0,
            "period_start": state.period_start,
            "period_end": state.period_end,
            "cancels_at": state.cancels_at,
            "paused": state.paused,
            "pause_from": _moment(state.metadata, PAUSE_FROM) if state.paused else None,
            "grace_ends_at": grace_end(state),
            "keeps_plan": keeps,
            "keeps_version": keeps_version,
            "keeps_until": _moment(state.metadata, KEEPS_UNTIL),
            "started_at": state.started_at,
            "ended_at": state.ended_at,
            "fetched_at": now,
        },
    )
    entitle(account, now=now)
    return row


def grace_end(state: SubscriptionState) -> datetime | None:
    """By Stripe's own dates, so that it doesn't matter when we hear of it. None while nothing is due."""
    since = state.billed_at or state.period_start
    if state.status != Subscription.Status.PAST_DUE or since is None:
        return None
    return since + timedelta(days=GRACE_DAYS)


def plan_of_price(price: Price | None) -> tuple[str, int]:
    """Name and version by what our catalogue wrote on it; ("", 0) for a price that is none of ours."""
    if price is None:
        return "", 0
    return _named(f"{price.metadata.get(PLAN, '')}:{price.metadata.get(VERSION, '')}")


def _named(text: str | None) -> tuple[str, int]:
    """ "pro:1" -> ("pro", 1), if there is such a plan."""
    name, _colon, version = (text or "").partition(":")
    return (name, int(version)) if version.isdigit() and plans.get(name, int(version)) else ("", 0)


def _moment(metadata: Json, name: str) -> datetime | None:
    text = str(metadata.get(name) or "")
    return moment(text) if text.isdigit() and len(text) < 12 else None


def entitle(account: Account, *, now: datetime) -> None:
    """Writes into the account what its subscriptions give: quota and limits follow with their next question."""
    rows = Subscription.objects.filter(account=account, livemode=stripe_client.livemode())
    given = entitlement(rows, now)
    then = given.then or plans.free()
    Account.objects.filter(pk=account.pk).update(
        plan_name=given.plan.name,
        plan_version=given.plan.version,
        plan_until=given.until,
        next_plan_name=then.name,
        next_plan_version=then.version,
    )


@transaction.atomic
def sync_all(account: Account, *, now: datetime) -> list[Subscription]:
    """All of the account's customer, in one question to Stripe."""
    customers.lock(account.pk)
    customer = customers.of(account)
    found = [] if customer is None else _of_customer(customer.stripe_id, now)
    rows = [write(account, state, now=now) for state in found]
    entitle(account, now=now)
    return rows


def _of_customer(customer_id: str, now: datetime) -> list[SubscriptionState]:
    """None of one who was deleted at Stripe."""
    try:
        return stripe_client.subscriptions(customer_id)
    except StripeError as error:
        if error.code != stripe_client.NOT_FOUND or customers.refresh(customer_id, now=now):
            raise
    rows = Subscription.objects.filter(customer_id=customer_id, livemode=stripe_client.livemode(), status__in=LIVE)
    rows.update(status=Subscription.Status.CANCELED, fetched_at=now)
    return []


def sync_everybody(*, now: datetime) -> int:
    """Each night: all customers, and all accounts that have a plan without one. How many were asked after."""
    livemode = stripe_client.livemode()
    having = StripeCustomer.objects.filter(livemode=livemode, deleted_at=None).values("account")
    asked = 0
    for account in Account.objects.filter(pk__in=having).iterator():
        try:
            sync_all(account, now=now)
        except StripeError as error:
            if not error.permanent:
                raise
            log.error("account %s: %s", account.pk, error)  # the others still get their turn
        asked += 1
    for account in Account.objects.exclude(plan_name=plans.FREE).exclude(pk__in=having).iterator():
        entitle(account, now=now)
    for twice in duplicates():
        log.error("account %s has more than one live subscription", twice.pk)
    return asked


def duplicates() -> list[Account]:
    """Accounts that Stripe may charge twice; a person has to look."""
    rows = Subscription.objects.filter(livemode=stripe_client.livemode(), status__in=LIVE)
    twice = rows.values("account").annotate(n=Count("pk")).filter(n__gt=1).values("account")
    return list(Account.objects.filter(pk__in=twice))

"""Who an account is at Stripe: made once, under the account's lock; found again by Stripe's id."""

import hashlib
import json
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django.db import transaction

from billing import stripe_client
from billing.models import Account, Membership, StripeCustomer
from billing.stripe_client import StripeError
from billing.stripe_shapes import ACCOUNT, Customer

T = TypeVar("T")


def lock(account_id: uuid.UUID) -> Account:
    """Whoever changes what an account pays waits here for its turn. Rows that only refer to it don't wait."""
    return Account.objects.select_for_update(no_key=True).get(pk=account_id)


def request_key(name: str, params: Any) -> str:
    """An idempotency key: the same request asked for again is the same; with another content it is another."""
    content = json.dumps(params, sort_keys=True).encode()
    return f"inkcloak-{name}-{hashlib.sha256(content).hexdigest()[:16]}"


def of(account: Account) -> StripeCustomer | None:
    """In the key's own mode, and not deleted at Stripe as far as we heard."""
    return StripeCustomer.objects.filter(
        account=account, livemode=stripe_client.livemode(), deleted_at__isnull=True
    ).first()


@transaction.atomic
def ensure(account: Account) -> StripeCustomer:
    """The account's customer; two requests for the first one get the same, also from Stripe. Raises StripeError."""
    lock(account.pk)
    if (known := of(account)) is not None:
        return known
    livemode = stripe_client.livemode()
    generation = StripeCustomer.objects.filter(account=account, livemode=livemode).count()
    params = {"email": email_of(account), "metadata": {ACCOUNT: str(account.pk)}}
    made = create_once(
        lambda key: stripe_client.create_customer(params, key),
        request_key(f"customer-{account.pk}-{generation}", params),
        lambda: _made_before(account, str(params["email"])),
    )
    return StripeCustomer.objects.create(
        account=account, stripe_id=made.id, livemode=made.livemode, generation=generation
    )


def _made_before(account: Account, email: str) -> Customer | None:
    known = set(StripeCustomer.objects.filter(account=account).values_list("stripe_id", flat=True))
    found = stripe_client.customers(email) if email else []
    return next(
        (each for each in found if each.metadata.get(ACCOUNT) == str(account.pk) and each.id not in known), None
    )


def create_once(create: Callable[[str], T], key: str, find: Callable[[], T | None]) -> T:
    """Creates under that idempotency key. Stripe plays back a failure of its own under the same key for a day, though
    it may have created all the same: then what it made is looked for, and only where there is nothing made anew."""
    try:
        return create(key)
    except StripeError as error:
        if error.code != stripe_client.BROKEN:
            raise
        return find() or create("")


def email_of(account: Account) -> str:
    """Where Stripe sends receipts: to whoever owns the account."""
    if account.personal_of is not None:
        return account.personal_of.email
    owners = account.memberships.filter(role=Membership.Role.OWNER).select_related("user").order_by("created_at", "pk")
    first = owners.first()
    return first.user.email if first is not None else ""


def account_of(customer_id: str) -> Account | None:
    """Whose customer that is; None for one that we never made."""
    rows = StripeCustomer.objects.filter(stripe_id=customer_id, livemode=stripe_client.livemode())
    found = rows.select_related("account").first()
    return found.account if found is not None else None


def refresh(customer_id: str, *, now: datetime) -> bool:
    """Asks whether Stripe still has them. False where they are deleted: the next checkout makes another one."""
    try:
        deleted = stripe_client.customer(customer_id).deleted
    except StripeError as error:
        if error.code != stripe_client.NOT_FOUND:
            raise
        deleted = True
    if deleted:
        rows = StripeCustomer.objects.filter(stripe_id=customer_id, livemode=stripe_client.livemode())
        rows.filter(deleted_at=None).update(deleted_at=now)
    return not deleted

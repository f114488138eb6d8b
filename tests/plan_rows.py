"""Made-up rows of a paid plan, for pictures of its pages: no Stripe stands behind them."""

import uuid
from datetime import timedelta
from typing import Any

from django.utils import timezone

from billing import seats
from billing.accounts import Owner, account_of, allowance_of
from billing.models import Account, Invoice, Membership, Meter, Subscription, User, WordEntry

NOW = timezone.now()
SOON = NOW + timedelta(days=9)
STATES: dict[str, dict[str, Any]] = {
    "active": {},
    "late": {"status": "past_due", "grace_ends_at": SOON},
    "ending": {"cancels_at": SOON},
    "shrinking": {"plan": "starter", "amount_cents": 900, "keeps_plan": "pro", "keeps_version": 1, "keeps_until": SOON},
}
INVOICES = [("INK-0003", "open", "eur", 3_509), ("INK-0002", "paid", "jpy", 4_300), ("INK-0001", "paid", "kwd", 8_765)]


def show(email: str, state: str) -> None:
    """This person's account has a subscription in that state; at first also use, invoices and a team."""
    account = account_of(User.objects.get(email=email))
    usual = {"status": "active", "plan": "pro", "plan_version": 1, "interval": "month", "amount_cents": 2_900}
    usual |= {"currency": "eur", "livemode": False, "customer_id": "cus_shown", "period_start": NOW, "period_end": SOON}
    usual |= {"started_at": NOW, "fetched_at": NOW, "stripe_id": f"sub_{uuid.uuid4().hex}"}
    Subscription.objects.filter(account=account).delete()
    Subscription.objects.create(account=account, **usual | STATES[state])
    Account.objects.filter(pk=account.pk).update(plan_name="pro", plan_version=1)
    if not Invoice.objects.filter(account=account).exists():
        _history(account_of(User.objects.get(email=email)), email)


def invitation(email: str) -> str:
    """The address of a page that invites somebody else to this person's account."""
    user = User.objects.get(email=email)
    row = seats.invite(account=account_of(user), email="dora@example.com", role="member", by=user, now=NOW)
    return f"/team/join/{seats.token_of(row)}/"


def _history(account: Account, email: str) -> None:
    for number, (name, status, currency, cents) in enumerate(INVOICES):
        amounts = dict.fromkeys(("total_cents", "due_cents", "paid_cents"), cents)
        at = NOW - timedelta(days=31 * number)
        ids = {"stripe_id": f"in_{uuid.uuid4().hex}", "livemode": False, "number": name, "fetched_at": NOW}
        pages = dict.fromkeys(("hosted_url", "pdf_url"), "https://invoice.stripe.com/i/made-up")
        Invoice.objects.create(
            account=account, status=status, currency=currency, created_at=at, **amounts, **ids, **pages
        )
    for back in range(8):
        at = NOW - timedelta(days=back)
        WordEntry.objects.create(account=account, check_id=uuid.uuid4(), kind="charged", words=17_345, at=at)
    allowance = allowance_of(Owner(account=account), NOW)
    key: dict[str, Any] = {"holder": allowance.holder, "unit": allowance.unit, "period_start": allowance.period_start}
    rest = {"limit": allowance.limit, "period_end": allowance.period_end, "used": 341_207, "held": 12_000}
    Meter.objects.update_or_create(**key, defaults=rest)
    colleague, _made = User.objects.get_or_create(email=f"colleague-of-{email}")
    Membership.objects.get_or_create(account=account, user=colleague, defaults={"role": "billing"})

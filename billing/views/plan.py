"""One's own plan: what it is, what is left of it, where the month is going, and its invoices."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from billing import customers, outlook, standing, stripe_client, usage
from billing.accounts import paying_account
from billing.models import Account, Invoice
from billing.views.frame import leads_to_stripe, person, plan_name, private

SHOWN_INVOICES = 24


@login_required
@leads_to_stripe
@require_safe
def show(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    account = paying_account(person(request))
    words = usage.of(account, now=now).words
    stands = standing.of(account, now)
    context: dict[str, Any] = {
        "account": account,
        "stands": stands,
        "names": names(stands),
        "words": words,
        "used_share": _share(words.used, words.limit),
        "held_share": _share(words.used + words.held, words.limit) - _share(words.used, words.limit),
        "forecast": outlook.of(account, words, now=now),
        "invoices": _invoices(account),
        "set_up": stripe_client.is_set_up(),
        "is_customer": stripe_client.is_set_up() and customers.of(account) is not None,
    }
    return private(render(request, "billing/plan.html", context))


def names(stands: standing.Standing) -> dict[str, str]:
    """The plans of that, as people read them."""
    return {
        "plan": plan_name(stands.plan.name),
        "subscribed": plan_name(stands.subscribed.name) if stands.subscribed else "",
        "then": plan_name(stands.then.name) if stands.then else "",
    }


def _share(part: int, whole: int) -> float:
    return min(1.0, part / whole) if whole else 1.0


def _invoices(account: Account) -> list[Invoice]:
    rows = Invoice.objects.filter(account=account, livemode=stripe_client.livemode()).exclude(status="draft")
    return list(rows.order_by("-created_at", "pk")[:SHOWN_INVOICES])

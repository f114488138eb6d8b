"""To Stripe's pages and back: pay for a first plan, return from there, open the portal."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import get_language
from django.views.decorators.http import require_POST, require_safe

from billing import checkout, plans, portal, usage
from billing.accounts import paying_account
from billing.models import Account, Checkout
from billing.views.frame import person, plan_name, private
from inkcloak.errors import Conflict, Unavailable

SEE_OTHER = 303
MOST_LOOKS = 90  # by itself, every two seconds: Stripe is asked each time
SESSION_CHARACTERS = 255  # the longest id that a row holds


@login_required
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """To the payment page; twice leads to the same one. Whoever has a plan changes it instead."""
    account = paying_account(person(request))
    asked = checkout.Choice(*(request.POST.get(name, "") for name in ("plan", "per", "currency")))
    try:
        opened = checkout.start(account=account, choice=asked, now=timezone.now(), language=language())
    except Conflict as refused:
        messages.error(request, str(refused.message))
        return redirect("billing:plan")
    return see_other(opened.url)


@login_required
@require_POST
def open_portal(request: HttpRequest) -> HttpResponse:
    """To Stripe's pages about card, tax id and invoices."""
    account = paying_account(person(request))
    try:
        return see_other(portal.address(account, language=language()))
    except Conflict as refused:
        messages.error(request, str(refused.message))
        return redirect("billing:plan")


@login_required
@require_safe
def returned(request: HttpRequest) -> HttpResponse:
    """Back from the payment page. What the address says grants nothing: Stripe is asked, or has told us meanwhile.

    Shows "activating" until then, and asks again by itself.
    """
    account = paying_account(person(request))
    session_id = request.GET.get("session_id", "").replace("\x00", "")[:SESSION_CHARACTERS]
    state = _state(account, session_id)
    account.refresh_from_db()
    now, looked = timezone.now(), _number(request.GET.get("looked", ""))
    context: dict[str, Any] = {
        "state": state,
        "plan_name": plan_name(plans.plan_of(account, now).name),
        "words": usage.of(account, now=now).words,
        "again": _again(session_id),
        "by_itself": _again(session_id, looked + 1) if looked < MOST_LOOKS else "",
    }
    page = "billing/partials/activation.html" if request.headers.get("HX-Request") else "billing/returned.html"
    return private(render(request, page, context))


def _again(session_id: str, looked: int = 0) -> str:
    asked = {"session_id": session_id} | ({"looked": looked} if looked else {})
    return f"{reverse('billing:plan_return')}?{urlencode(asked)}"


def _number(text: str) -> int:
    """How often the page looked by itself; a made-up number is the most."""
    return int(text or 0) if text.isascii() and len(text) < 4 and (text or "0").isdigit() else MOST_LOOKS


def _state(account: Account, session_id: str) -> str:
    """active, activating or nothing. While Stripe doesn't answer, its word on the matter is still to come."""
    try:
        found = checkout.settle(account=account, session_id=session_id, now=timezone.now()) if session_id else None
    except Unavailable:
        return "activating"
    if found is None or found.status == Checkout.Status.EXPIRED:
        return "nothing"
    account.refresh_from_db()
    paid = found.status == Checkout.Status.COMPLETE and not plans.plan_of(account).is_free
    return "active" if paid else "activating"


def see_other(address: str) -> HttpResponse:
    response = HttpResponseRedirect(address)
    response.status_code = SEE_OTHER
    response["Cache-Control"] = "no-store, private"
    return response


def language() -> str:
    """For Stripe's pages: that of ours."""
    return (get_language() or "en").partition("-")[0]

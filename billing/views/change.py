"""Change, cancel, pause and resume one's plan: each says first what it does, with the amounts that Stripe computed."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from billing import plan_changes, plans, seats, standing
from billing.accounts import paying_account
from billing.models import Account
from billing.plan_changes import PREVIEW_MINUTES, When
from billing.views.frame import person, plan_name, private
from billing.views.plan import names
from inkcloak.errors import Conflict, Invalid

DIGITS = 11  # of a time in whole seconds


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest) -> HttpResponse:
    """What another plan would cost, line by line, and when it begins; the post does it for the amount shown."""
    account, now = paying_account(person(request)), timezone.now()
    given = request.POST if request.method == "POST" else request.GET
    plan, interval = given.get("plan", ""), given.get("per", "")
    stands = standing.of(account, now)
    if stands.subscription is None:
        return redirect("billing:pricing")
    as_of = _moment(given.get("as_of", ""))
    if (
        request.method == "POST"
        and as_of is not None
        and timedelta() <= now - as_of <= timedelta(minutes=PREVIEW_MINUTES)
    ):
        return _do_change(request, account, plan, interval, as_of)
    context: dict[str, Any] = {"stands": stands, "names": names(stands), "again": request.method == "POST"}
    status = 200
    try:
        preview = plan_changes.preview(account=account, plan=plan, interval=interval, now=now)
        context |= _new(account, plan, interval, stands) | {"preview": preview, "at_once": preview.when is When.NOW}
        context["as_of"] = int(preview.as_of.timestamp())
    except (Conflict, Invalid) as refused:
        context["refused"], status = refused, refused.status
    return private(render(request, "billing/change.html", context, status=status))


def _do_change(request: HttpRequest, account: Account, plan: str, interval: str, as_of: datetime) -> HttpResponse:
    try:
        when = plan_changes.change(account=account, plan=plan, interval=interval, now=timezone.now(), as_of=as_of)
    except (Conflict, Invalid) as refused:
        messages.error(request, str(refused.message))
        return redirect("billing:plan")
    name = {"plan": plan_name(plan)}
    done = (
        _("You have %(plan)s now.") if when is When.NOW else _("%(plan)s follows when the time you paid for is over.")
    )
    messages.success(request, done % name)
    return redirect("billing:plan")


def _new(account: Account, name: str, interval: str, stands: standing.Standing) -> dict[str, Any]:
    """What the page says of the plan that is asked for."""
    plan, row = plans.get(name), stands.subscription
    cents = plan.prices.get((interval, row.currency)) if plan and row else None
    members = len(seats.members(account))
    return {
        "plan": plan,
        "plan_name": plan_name(name),
        "interval": interval,
        "cents": cents,
        "too_many_members": plan is not None and members > plan.seats,
        "members": members,
    }


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest) -> HttpResponse:
    """Two clicks: this page, and its button. It says what becomes of words, team, keys and checks."""
    account, now = paying_account(person(request)), timezone.now()
    stands = standing.of(account, now)
    if not stands.can_cancel:
        return redirect("billing:plan")
    if request.method != "POST":
        context = {
            "stands": stands,
            "names": names(stands),
            "free": plans.free(),
            "members": len(seats.members(account)),
        }
        return private(render(request, "billing/cancel.html", context))
    try:
        end = plan_changes.cancel(account=account, now=now)
    except Conflict as refused:
        messages.error(request, str(refused.message))
    else:
        said = {"plan": names(stands)["subscribed"], "day": _day(end)}
        messages.success(request, _("%(plan)s ends on %(day)s. You can take that back until then.") % said)
    return redirect("billing:plan")


@login_required
@require_POST
def pause(request: HttpRequest) -> HttpResponse:
    account, now = paying_account(person(request)), timezone.now()
    if not standing.of(account, now).can_pause:
        return redirect("billing:plan")
    try:
        start = plan_changes.pause(account=account, now=now)
    except Conflict as refused:
        messages.error(request, str(refused.message))
    else:
        messages.success(request, _("The pause begins on %(day)s.") % {"day": _day(start)})
    return redirect("billing:plan")


@login_required
@require_POST
def resume(request: HttpRequest) -> HttpResponse:
    """Takes back what is under way: a cancellation, a pause, a smaller plan. Twice is harmless."""
    account, now = paying_account(person(request)), timezone.now()
    stands = standing.of(account, now)
    row = stands.subscription
    if row is None or not stands.can_resume:
        return redirect("billing:plan")
    try:
        if stands.state == "ending":
            plan_changes.resume(account=account, now=now)
        elif stands.state == "shrinking":
            plan_changes.change(account=account, plan=row.keeps_plan, interval=row.interval, now=now)
        else:
            plan_changes.unpause(account=account, now=now)
    except (Conflict, Invalid) as refused:
        messages.error(request, str(refused.message))
    else:
        messages.success(request, _("Done: your plan goes on."))
    return redirect("billing:plan")


def _day(moment: datetime) -> str:
    return date_format(moment.astimezone(UTC), "DATE_FORMAT")


def _moment(seconds: str) -> datetime | None:
    """None for what is no time."""
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) < DIGITS):
        return None
    return datetime.fromtimestamp(int(seconds), UTC)

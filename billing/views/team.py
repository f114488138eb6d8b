"""The team page: who belongs to the account, who is invited, and in which account one works."""

import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from billing import plans, seats
from billing.accounts import membership_of, owned_account
from billing.models import Membership
from billing.views.frame import person, plan_name, private

ROLES: dict[str, tuple[str | Promise, str | Promise]] = {
    "member": (gettext_lazy("Member"), gettext_lazy("Checks texts with the team's words.")),
    "billing": (gettext_lazy("Billing"), gettext_lazy("The same, and sees and changes plan, payment and invoices.")),
    "owner": (gettext_lazy("Owner"), gettext_lazy("Everything, also who belongs to the team.")),
}


@login_required
@require_safe
def show(request: HttpRequest) -> HttpResponse:
    return _page(request)


@login_required
@require_POST
def invite(request: HttpRequest) -> HttpResponse:
    """A form that can't be done comes back with what was wrong, and what was typed."""
    account = owned_account(person(request))
    email, role = request.POST.get("email", ""), request.POST.get("role", "member")
    now = timezone.now()
    try:
        row = seats.invite(account=account, email=email[:300], role=role, by=person(request), now=now)
        seats.send(row, now=now)
    except seats.Refused as refused:
        return _page(request, refused=refused, email=email[:300], role=role)
    messages.success(request, _("An invitation is on its way to %(email)s.") % {"email": row.email})
    return redirect("billing:team")


@login_required
@require_POST
def revoke(request: HttpRequest, invitation_id: uuid.UUID) -> HttpResponse:
    account = owned_account(person(request))
    if not account.invitations.filter(pk=invitation_id).exists():
        raise Http404
    if seats.revoke(account=account, invitation_id=invitation_id, now=timezone.now()):
        messages.success(request, _("The invitation has ended: its link works no longer."))
    return redirect("billing:team")


@login_required
@require_POST
def set_role(request: HttpRequest, membership_id: int) -> HttpResponse:
    account = owned_account(person(request))
    try:
        row = seats.set_role(account=account, membership_id=membership_id, role=request.POST.get("role", ""))
    except Membership.DoesNotExist:
        raise Http404 from None
    except seats.Refused as refused:
        messages.error(request, str(refused.message))
    else:
        changed = {"email": row.user.email, "role": ROLES[row.role][0]}
        messages.success(request, _("%(email)s is now: %(role)s.") % changed)
    return redirect("billing:team")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: HttpRequest, membership_id: int) -> HttpResponse:
    """Asks first. One's own membership may be ended by oneself, whatever the role."""
    mine = membership_of(person(request))
    account = mine.account if mine.pk == membership_id else owned_account(person(request))
    row = Membership.objects.select_related("user").filter(account=account, pk=membership_id).first()
    if row is None:
        raise Http404
    leaving = row.pk == mine.pk
    if request.method != "POST":
        context = {"row": row, "leaving": leaving, "own": account.personal_of_id == row.user_id}
        return private(render(request, "billing/team_remove.html", context))
    try:
        seats.remove(account=account, membership_id=row.pk, now=timezone.now())
    except Membership.DoesNotExist:  # somebody else was faster
        return redirect("billing:team")
    except seats.Refused as refused:
        messages.error(request, str(refused.message))
        return redirect("billing:team")
    gone = (
        _("You have left the team.") if leaving else _("%(email)s is no member any more.") % {"email": row.user.email}
    )
    messages.success(request, gone)
    return redirect("billing:team")


@login_required
@require_POST
def switch(request: HttpRequest) -> HttpResponse:
    """Work in another of one's accounts from now on."""
    asked = request.POST.get("account", "")
    chosen = next((row for row in seats.accounts_of(person(request)) if str(row.pk) == asked), None)
    if chosen is None:
        raise Http404
    seats.choose(chosen, timezone.now())
    messages.success(request, _("You now work in: %(account)s") % {"account": chosen.account.name})
    return redirect("billing:team")


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """What an invitation means, before it is accepted. Who isn't signed in comes back here afterwards."""
    try:
        row = seats.find(token, timezone.now())
        if request.method == "POST" and request.user.is_authenticated:
            joined = seats.accept(token, user=person(request), now=timezone.now())
            messages.success(request, _("You are in: %(account)s") % {"account": joined.account.name})
            return redirect("billing:team")
    except seats.Refused as refused:
        return private(render(request, "billing/join.html", {"refused": refused}, status=refused.status))
    context = {
        "invitation": row,
        "role": ROLES[row.role],
        "right_person": request.user.is_authenticated and seats.is_for(row, person(request)),
    }
    return private(render(request, "billing/join.html", context))


def _page(
    request: HttpRequest, *, refused: seats.Refused | None = None, email: str = "", role: str = "member"
) -> HttpResponse:
    now, mine = timezone.now(), membership_of(person(request))
    account = mine.account
    context: dict[str, Any] = {
        "account": account,
        "mine": mine,
        "is_owner": mine.role == Membership.Role.OWNER,
        "members": [(row, ROLES[row.role]) for row in seats.members(account)],
        "invitations": [(row, ROLES[row.role]) for row in seats.invitations(account, now)],
        "seats": seats.of(account, now),
        "plan": plan_name(plans.plan_of(account, now).name),
        "larger": [(plan_name(plan.name), plan.seats) for plan in plans.current() if plan.seats > 1],
        "roles": ROLES,
        "accounts": seats.accounts_of(person(request)),
        "refused": refused,
        "email": email,
        "role": role,
        "days": seats.INVITATION_DAYS,
    }
    return private(render(request, "billing/team.html", context, status=refused.status if refused else 200))

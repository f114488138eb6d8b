"""The keys page: make, name, rotate, revoke. A key is shown in the answer to the post that made it, and never again."""

import uuid
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from billing import keys
from billing.accounts import account_of, membership_of
from billing.forms import NameForm, NewKeyForm, RotateForm
from billing.models import ApiKey, Membership, Scope, User
from inkcloak.errors import Invalid

SHOWN_KEYS = 200  # ended ones are kept in the list: who looks for a leak wants to see them


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def keys_page(request: HttpRequest) -> HttpResponse:
    """The list; a post makes a key and shows it above."""
    form = NewKeyForm(request.POST or None)
    if request.method != "POST":
        return _page(request, form)
    if not form.is_valid():
        return _page(request, form, status=400)
    now = timezone.now()
    try:
        issued = keys.issue(
            account=account_of(_person(request)),
            name=form.cleaned_data["name"],
            scopes=form.cleaned_data["scopes"],
            live=form.cleaned_data["environment"] == "live",
            created_by=_person(request),
            expires_at=form.expires_at(now),
            now=now,
        )
    except Invalid as error:
        form.add_error(None, str(error.message))
        return _page(request, form, status=400)
    return _page(request, NewKeyForm(), issued=issued)


@login_required
@require_POST
def rename(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    key = _mine(request, key_id)
    form = NameForm(request.POST)
    try:
        keys.rename(key, form.cleaned_data["name"] if form.is_valid() else "")
    except Invalid as error:
        messages.error(request, str(error.message))
    return redirect("billing:keys")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rotate(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """Asks how long the old key is to work beside the new one; the post shows the new one."""
    key = _mine(request, key_id)
    form = RotateForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            issued = keys.rotate(
                key, now=timezone.now(), overlap_hours=form.cleaned_data["overlap"], by=_person(request)
            )
        except Invalid as error:
            messages.error(request, str(error.message))
            return redirect("billing:keys")
        return _page(request, NewKeyForm(), issued=issued)
    return _private(render(request, "billing/rotate_key.html", {"key": key, "form": form}))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, key_id: uuid.UUID) -> HttpResponse:
    """Asks first: programs that use the key stop working."""
    key = _mine(request, key_id)
    if request.method == "POST":
        keys.revoke(key, now=timezone.now())
        messages.success(request, _("The key is revoked: it works no longer."))
        return redirect("billing:keys")
    return _private(render(request, "billing/revoke_key.html", {"key": key}))


def _person(request: HttpRequest) -> User:
    """Who is signed in: every page here asks for that."""
    return cast(User, request.user)


def _keys(request: HttpRequest) -> "QuerySet[ApiKey]":
    """Of the account for its owners; of a team's other members, those that they made themselves."""
    mine = membership_of(_person(request))
    rows = ApiKey.objects.filter(account=mine.account)
    return rows if mine.role == Membership.Role.OWNER else rows.filter(created_by=mine.user_id)


def _mine(request: HttpRequest, key_id: uuid.UUID) -> ApiKey:
    """A stranger's key is not found, like one that never was."""
    return get_object_or_404(_keys(request), pk=key_id)


def _page(
    request: HttpRequest, form: NewKeyForm, *, issued: keys.Issued | None = None, status: int = 200
) -> HttpResponse:
    now = timezone.now()
    rows = _keys(request).select_related("created_by").prefetch_related("replaced_by")
    context: dict[str, Any] = {
        "form": form,
        "issued": issued,
        "rows": [_row(key, good=key.is_good(now)) for key in rows.order_by("-created_at", "id")[:SHOWN_KEYS]],
        "scopes": Scope.choices,
        "chosen_scopes": form["scopes"].value() or [],
    }
    return _private(render(request, "billing/keys.html", context, status=status))


def _row(key: ApiKey, *, good: bool) -> dict[str, Any]:
    return {"key": key, "good": good, "rotatable": good and not key.replaced_by.all()}


def _private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store, private"
    return response

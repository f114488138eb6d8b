"""The staff's page about alerts: what fires, what was raised, whether it was of use.

show    the log          vote    useful or noise          mute    no alerts of a series for a while
"""

from datetime import date, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from detector.views.gpu import staff_only
from gpujobs import changes, date_ranges
from gpujobs.alerts import judging, reading, series, showing, telling
from gpujobs.alerts.showing import Entry
from gpujobs.models import AlertMute
from inkcloak.errors import Invalid

STATES: dict[str, str | Promise] = {
    "ok": _("over"),
    "pending": _("watched"),
    "firing": _("now"),
    "recovering": _("easing off"),
}
USUAL_MUTE = timedelta(days=7)
LARGEST_ID = 2**63 - 1


@require_safe
@staff_only
def show(request: HttpRequest) -> HttpResponse:
    return _page(request)


@require_POST
def vote(request: HttpRequest, alert_id: int) -> HttpResponse:
    @staff_only
    def voted(request: HttpRequest) -> HttpResponse:
        judging.vote(min(alert_id, LARGEST_ID), request.user, useful=request.POST.get("useful") == "1")
        return HttpResponseRedirect(f"{reverse('staff:alerts')}{_place(request)}#alert-{alert_id}")

    return voted(request)


@require_POST
@staff_only
def mute(request: HttpRequest) -> HttpResponse:
    """Until the first instant of the day after the one that was given; "end" takes it back."""
    now = timezone.now()
    try:
        until = now if "end" in request.POST else _until(request.POST.get("until", ""))
        judging.mute(
            request.POST.get("series", ""),
            until=until,
            reason=request.POST.get("reason", ""),
            user=request.user,
            now=now,
        )
    except Invalid as error:
        return _page(request, error)
    return HttpResponseRedirect(reverse("staff:alerts"))


def _page(request: HttpRequest, error: Invalid | None = None) -> HttpResponse:
    now, before = timezone.now(), _before(request)
    user_id = request.user.pk
    entries, following = showing.page(user_id, now, before)
    mutes = showing.mutes(now)
    lately = _changes(entries)
    firing = showing.now_firing(now)
    zone = reading.zone()
    context: dict[str, Any] = {
        "now": now,
        "zone": zone,
        "error": error,
        "firing": len(firing),
        "precision": showing.precision(),
        "rows": [_row(entry, lately, mutes) for entry in entries],
        "mutes": [(telling.name(series.parse(of)), of, found) for of, found in mutes.items()],
        "before": before,
        "next": following,
        "until": date_ranges.today_of(zone, now) + USUAL_MUTE,
        "latest": date_ranges.today_of(zone, now) + judging.LONGEST_MUTE - date_ranges.ONE_DAY,
    }
    return render(request, "gpujobs/alerts.html", context, status=400 if error else 200)


def _row(entry: Entry, lately: list[changes.Change], mutes: dict[str, AlertMute]) -> dict[str, Any]:
    alert = entry.alert
    return {
        "entry": entry,
        "alert": alert,
        "state": STATES[entry.state],
        "told": telling.told(alert, lately),
        "of": telling.name(series.parse(alert.series)),
        "mute": mutes.get(alert.series),
    }


def _changes(entries: list[Entry]) -> list[changes.Change]:
    """Of the whole page at once."""
    if not entries:
        return []
    first = min(entry.alert.began_at for entry in entries) - telling.CHANGES_BEFORE
    return changes.between(first, max(entry.alert.raised_at for entry in entries))


def _before(request: HttpRequest) -> int | None:
    text = request.GET.get("before", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Invalid("bad_place", _("That page does not exist. Begin at the first one."))
    return int(text)


def _place(request: HttpRequest) -> str:
    before = _before(request)
    return f"?before={before}" if before is not None else ""


def _until(text: str) -> Any:
    try:
        day = date.fromisoformat(text[:10])
        return date_ranges.start_of(day + date_ranges.ONE_DAY, reading.zone())
    except (ValueError, OverflowError):
        raise Invalid("bad_date", _("Give the last day as 2026-11-30.")) from None

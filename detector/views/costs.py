"""The staff's pages about costs. Read only; what is asked stands in the address.

show       the page          days_csv    its sums as a file
lines      the ledger's lines behind a bar, page by page          lines_csv    these as a file
week       the week's report

In the product's look and not the admin's: the numbers must be readable without scripts and under the strict policy, as
the pages about the GPU and about plans are, to which these lead; the admin's menu leads here.
"""

from datetime import date
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from detector import cost_exports, weekly
from detector.views import costs_page, costs_question, costs_week
from detector.views import costs_words as words
from detector.views.costs_question import Given, Question
from detector.views.gpu import staff_only
from gpujobs import date_ranges, ledger_lines, spending
from gpujobs.models import CostEntry
from inkcloak import money
from inkcloak.errors import Invalid
from inkcloak.streaming import streamed

# Offered in the form; any other can be written there.
ZONES = (
    "UTC", "Europe/Madrid", "Europe/London", "Europe/Berlin", "America/New_York", "America/Chicago",
    "America/Los_Angeles", "America/Bogota", "America/Mexico_City", "America/Argentina/Buenos_Aires", "Asia/Kolkata",
    "Asia/Tokyo", "Australia/Sydney",
)  # fmt: skip
CHOSEN = ("kind", "service", "provider", "gpu_type", "model_version", "account")


@require_safe
@staff_only
def show(request: HttpRequest) -> HttpResponse:
    now, error = timezone.now(), None
    try:
        asked = costs_question.read(_given(request), now)
    except Invalid as invalid:
        asked, error = costs_question.usual(now), invalid
    context = costs_page.context(asked) | {"zones": ZONES, "error": error}
    return render(request, "gpujobs/costs.html", context, status=400 if error else 200)


@require_safe
@staff_only
def days_csv(request: HttpRequest) -> HttpResponse:
    """Raises Invalid, which is a page of its own."""
    asked = costs_question.read(_given(request), timezone.now())
    response = HttpResponse(cost_exports.days(spending.cells(asked.days)), content_type=cost_exports.CONTENT_TYPE)
    response["Content-Disposition"] = _file_name("days", asked)
    return response


@require_safe
@staff_only
def lines(request: HttpRequest) -> HttpResponse:
    given = _given(request)
    asked = costs_question.read(given, timezone.now())
    choice = costs_question.read_choice(given, asked)
    page = ledger_lines.page(choice, costs_question.read_place(given.get("after", "")))
    chosen = {name: given[name] for name in CHOSEN if name in given}
    here = costs_page.with_choice(asked, chosen)
    context: dict[str, Any] = {
        "asked": asked,
        "chosen": [(name, value or "–") for name, value in chosen.items()],
        "rows": [_row(entry) for entry in page.lines],
        "first": f"{reverse('staff:costs_lines')}?{here}" if given.get("after") else "",
        "next": f"{reverse('staff:costs_lines')}?{here}&after={costs_question.written(page.next)}".replace("+", "%2B")
        if page.next
        else "",
        "file": f"{reverse('staff:costs_lines_csv')}?{here}",
        "back": f"{reverse('staff:costs')}?{asked.query()}",
    }
    return render(request, "gpujobs/costs_lines.html", context)


@require_safe
def lines_csv(request: HttpRequest) -> HttpResponseBase:
    """A long file: it leaves line by line."""
    return _lines_csv(request)


@staff_only
def _lines_csv(request: HttpRequest) -> HttpResponse:
    given = _given(request)
    asked = costs_question.read(given, timezone.now())
    return streamed(  # type: ignore[return-value]
        request,
        cost_exports.lines(costs_question.read_choice(given, asked)),
        content_type=cost_exports.CONTENT_TYPE,
        headers={"Content-Disposition": _file_name("lines", asked)},
    )


@require_safe
@staff_only
def week(request: HttpRequest) -> HttpResponse:
    """?week=2026-11-23: any day of it; without one, the last week that is over."""
    now = timezone.now()
    monday = _monday(request.GET.get("week", ""), now) if request.GET.get("week") else weekly.last_week(now)
    return render(request, "gpujobs/costs_week.html", costs_week.context(weekly.report(monday, now)))


def _monday(text: str, now: Any) -> date:
    try:
        day = date.fromisoformat(text[: costs_question.LONGEST_NAME])
    except ValueError:
        raise Invalid("bad_date", _("Give the week by one of its days, as 2026-11-30.")) from None
    if not costs_question.EARLIEST <= day <= date_ranges.today_of(weekly.zone(), now):
        raise Invalid("bad_date", _("There is no report of that week."))
    return weekly.monday_of(day)


def _given(request: HttpRequest) -> Given:
    return {name: str(value) for name, value in request.GET.items()}


def _row(entry: CostEntry) -> dict[str, Any]:
    return {
        "entry": entry,
        "kind": words.KINDS.get(entry.kind, entry.kind),
        "service": words.SERVICES.get(entry.service, entry.service),
        "amount": money.exact(entry.amount_nanousd),
    }


def _file_name(what: str, asked: Question) -> str:
    return f'attachment; filename="inkcloak-costs-{what}-{asked.days.first}-{asked.days.last}.csv"'

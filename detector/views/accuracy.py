"""The page about accuracy: the stored report of the model in service, and nothing else.

    show          the page
    report_json   the report as the file that it is
    plot          one of the report's drawings

No figure is measured or worked out here: gpujobs.reports reads the file, accuracy_sections chooses from it.
"""

from hashlib import sha256
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import condition, require_safe

from detector.views.accuracy_sections import sections
from detector.views.offer import champion
from gpujobs import reports

PLOT_SECONDS = 24 * 3600  # a plot's address names the model version, whose report hardly ever changes
# A drawing carries styles of its own; opened by itself it may do nothing else.
PLOT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """Says so where there is no model in service, or no stored report of it."""
    model = champion()
    report = reports.find(model.pk) if model else None
    context: dict[str, Any] = {"model": model, "report": report}
    if report is not None:
        context |= sections(report)
    return render(request, "detector/accuracy.html", context)


def _report_tag(request: HttpRequest) -> str | None:
    report = _champions_report()
    return f'"{sha256(report.body).hexdigest()}"' if report else None


@require_safe
@condition(etag_func=_report_tag)
def report_json(request: HttpRequest) -> HttpResponse:
    """Byte for byte the stored file. Asked again each time: another model may be in service now."""
    report = _champions_report()
    if report is None:
        raise Http404
    headers = {
        "Cache-Control": "public, no-cache",
        "Content-Disposition": f'inline; filename="inkcloak-accuracy-{report.version}.json"',
    }
    return HttpResponse(report.body, content_type="application/json", headers=headers)


@require_safe
def plot(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """Of any version with a stored report: a page that was loaded before a change of model keeps its drawings."""
    path = reports.plot(version, name)
    if path is None:
        raise Http404
    headers = {"Cache-Control": f"public, max-age={PLOT_SECONDS}", "Content-Security-Policy": PLOT_POLICY}
    return HttpResponse(path.read_bytes(), content_type="image/svg+xml", headers=headers)


def _champions_report() -> reports.Report | None:
    model = champion()
    return reports.find(model.pk) if model else None

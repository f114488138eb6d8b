"""/detections/{id}/report and report.pdf: what an owner can hand on about a finished check."""

from typing import Any

from django.http import Http404, HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing.api.base import ApiView, owner_of
from billing.models import Scope
from billing.permissions import HasScope
from detector import history
from detector.api import answers, fixtures, making, queries
from detector.api.report_shapes import ReportQuery, SignedReport
from detector.models import Submission
from detector.reports import contents, document

PDF = "application/pdf"


class ReportView(ApiView):
    """Reading a check, in another form."""

    permission_classes = [HasScope.of(Scope.CHECKS_READ)]

    def said(self, request: Request, detection_id: str) -> tuple[Submission, dict[str, Any]]:
        """The check and what its report says. Raises Http404, Refused (409)."""
        live = making.is_live(request)
        found = _find(request, detection_id) if live else fixtures.found(detection_id)
        asked = queries.read(ReportQuery, request)
        with_text = bool(asked.get("include_text"))
        return found, contents.contents(found, now=timezone.now(), include_text=with_text, live=live)


class SignedJson(ReportView):
    """For programs, and for whoever wants to check it."""

    @extend_schema(
        operation_id="get_report",
        summary="A signed report of a check",
        description="Ed25519 over the canonical JSON (RFC 8785) of `report`: `inkcloak verify` checks it, offline too. "
        "A good signature says that we made this report and nobody changed it since: not that the verdict is right, "
        "nor who wrote the text. A check without a verdict has no report (409).",
        parameters=[answers.DETECTION_ID, ReportQuery],
        responses=answers.ok(SignedReport) | answers.problems(400, 404, 409, 503),
    )
    def get(self, request: Request, detection_id: str) -> Response:
        found, said = self.said(request, detection_id)
        headers = {"Content-Disposition": contents.disposition(found, "json")}
        return Response(contents.signed(said), headers=headers)


class Pdf(ReportView):
    """For people."""

    @extend_schema(
        operation_id="get_report_pdf",
        summary="A report of a check as PDF",
        description="In the language of `Accept-Language` (English or Spanish). A check without a verdict has no "
        "report (409).",
        parameters=[answers.DETECTION_ID, ReportQuery],
        responses={(200, PDF): OpenApiTypes.BINARY} | answers.problems(400, 404, 409, 503),
    )
    def get(self, request: Request, detection_id: str) -> HttpResponse:
        found, said = self.said(request, detection_id)
        headers = {"Content-Disposition": contents.disposition(found, "pdf")}
        return HttpResponse(document.pdf(found, said), content_type=PDF, headers=headers)


def _find(request: Request, detection_id: str) -> Submission:
    """The whole check. Raises Http404 for a stranger's and for nonsense, alike."""
    try:
        return history.get(owner_of(request), making.identifier(detection_id))
    except Submission.DoesNotExist:
        raise Http404 from None

"""/detections/export: all of an account's checks in one answer."""

from typing import Any

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from billing.api.base import ApiView, owner_of
from billing.models import Scope
from billing.permissions import HasScope
from detector import exports, history
from detector.api import answers, fixtures, making, queries
from detector.api.serializers import Exact, StrictSerializer
from detector.forms import QUERY_CHARACTERS
from detector.history import Filters
from detector.models import Verdict
from inkcloak.streaming import streamed


@extend_schema_field({"type": "string", "maxLength": QUERY_CHARACTERS})
class Words(Exact):
    """What a text is searched for; NULs, which none holds, are passed over."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators = [check for check in self.validators if not type(check).__name__.startswith("ProhibitNull")]


class ExportQuery(StrictSerializer):
    """Which checks, in which form."""

    format = serializers.ChoiceField([exports.CSV, exports.JSONL], required=False, help_text="Without it, csv.")
    include_text = queries.QueryFlag(required=False, help_text="true: with the texts themselves.")
    q = Words(
        required=False,
        allow_blank=True,
        max_length=QUERY_CHARACTERS,
        help_text="Only checks whose text or file name has this.",
    )
    verdict = serializers.ChoiceField(Verdict.Label.values, required=False, help_text="Only these.")
    batch = serializers.UUIDField(required=False, help_text="Only the texts of this batch.")


class Export(ApiView):
    """The account's checks, those of its pages too."""

    permission_classes = [HasScope.of(Scope.CHECKS_READ)]

    @extend_schema(
        operation_id="export_detections",
        summary="The account's checks as CSV or JSON Lines",
        description="Streamed, newest first. A line of JSON Lines is what a list has of a check. CSV is UTF-8 with a "
        "byte order mark, for Excel; texts are quoted and numbers are not; a text that begins with `=`, `+`, `-`, `@`, "
        "a tab or a line end gets an apostrophe in front, so that no spreadsheet runs it. The text itself is only in "
        "it with `include_text=true`.",
        parameters=[ExportQuery],
        responses={
            (200, "text/csv"): OpenApiTypes.STR,
            (200, exports.CONTENT_TYPES[exports.JSONL]): OpenApiTypes.STR,
        }
        | answers.problems(400),
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        asked = queries.read(ExportQuery, request)
        kind, with_text = asked.get("format", exports.CSV), bool(asked.get("include_text"))
        if making.is_live(request):
            rows = history.matching(owner_of(request), Filters(asked.get("q", ""), asked.get("verdict", "")))
            if "batch" in asked:
                rows = rows.filter(batch=asked["batch"])
            chunks = exports.chunks(rows, kind, include_text=with_text)
        else:
            made = [fixtures.row(fixture, fixtures.number_of(fixture, "")) for fixture in fixtures.FIXTURES]
            chunks = exports.made_up(made, kind, include_text=with_text)
        headers = {"Content-Disposition": exports.disposition(kind, timezone.now())}
        return streamed(request._request, chunks, content_type=exports.CONTENT_TYPES[kind], headers=headers)

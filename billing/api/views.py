"""GET /usage and GET /usage/entries."""

import uuid
from dataclasses import asdict

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing import throttling, usage
from billing.api.base import ApiView, account_of, asking
from billing.api.serializers import AccountUsageSerializer, EntrySerializer
from billing.models import Scope, WordEntry
from billing.permissions import HasScope
from inkcloak.errors import Invalid


class UsageView(ApiView):
    """Words of the month and requests of the minute."""

    permission_classes = [HasScope.of(Scope.USAGE_READ)]

    @extend_schema(
        operation_id="get_usage",
        summary="What is used and what is left",
        description="Words of the month, which all keys and pages of the account share, and requests of the minute. "
        "Words that are held belong to texts that are being checked: they are charged or given back.",
        responses=AccountUsageSerializer,
    )
    def get(self, request: Request) -> Response:
        account = account_of(request)
        found = usage.of(account, now=timezone.now())
        throttling.said(request, found.words.balance)
        rate = throttling.rate_of(request)
        body = {
            "account": account.pk,
            "plan": found.plan,
            "plan_version": found.plan_version,
            "live": asking(request).live,
            "words": asdict(found.words),
            "requests": {
                "limit": rate.limit,
                "left": rate.left,
                "window_seconds": throttling.WINDOW_SECONDS,
                "resets_in_seconds": rate.seconds_left,
            },
        }
        return Response(AccountUsageSerializer(body).data)


class EntriesView(ApiView):
    """The account's ledger: newest first, also the lines that cost nothing."""

    permission_classes = [HasScope.of(Scope.USAGE_READ)]
    newest_by = "at"

    @extend_schema(
        operation_id="list_usage_entries",
        summary="The ledger of words",
        description="A line for each check, newest first: words charged, or none with the reason (`failed`, "
        "`abstained`, `replayed`, `cached`, `deleted`, `test`). The sum of a month is what was used in it.",
        parameters=[
            OpenApiParameter("kind", str, enum=WordEntry.Kind.values, description="Only lines of this kind."),
            OpenApiParameter("detection", uuid.UUID, description="Only the lines of this check."),
        ],
        responses=EntrySerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        rows = usage.entries(account_of(request), kind=_kind(request), check_id=_check(request))
        pages = self.pagination_class()
        found = pages.paginate_queryset(rows, request, self)
        return pages.get_paginated_response(EntrySerializer(found, many=True).data)


def _kind(request: Request) -> str:
    kind = request.query_params.get("kind")
    if kind is None:
        return ""
    if kind not in WordEntry.Kind.values:
        names = {"kinds": ", ".join(WordEntry.Kind.values)}
        raise Invalid("bad_kind", _("kind must be one of %(kinds)s.") % names)
    return kind


def _check(request: Request) -> str:
    asked = request.query_params.get("detection")
    try:
        return "" if asked is None else str(uuid.UUID(asked))
    except ValueError:
        raise Invalid("bad_id", _("detection must be the id of a check.")) from None

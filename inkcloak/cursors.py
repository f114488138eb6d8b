"""Pages of a list by cursor: where the last row stood, not how many rows came before it.

So the page after it holds the same rows whatever was added meanwhile, and the thousandth page costs what the first one
does. Rows that share a moment (a batch of a thousand) are told apart by their id.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from inkcloak.errors import Invalid

PAGE_SIZE = 25
MAX_PAGE_SIZE = 100
MAX_CURSOR_CHARACTERS = 200
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MICROSECOND = 4_102_444_800_000_000  # the year 2100


class CursorPages(BasePagination):
    """Newest first. The view may name its moment: `newest_by = "accepted_at"`; an index on (…, -moment, id) carries it.

    Answers `{"items": […], "next": address or null, "next_cursor": text or null}`.
    """

    newest_by = "created_at"

    def paginate_queryset(
        self, queryset: "QuerySet[Any] | Sequence[Any]", request: Request, view: Any = None
    ) -> "list[Any] | None":
        """Raises Invalid for a limit or a cursor that is none."""
        self.request = request
        self.moment: str = getattr(view, "newest_by", self.newest_by)
        assert isinstance(queryset, QuerySet)  # noqa: S101 - no list has an index
        size = _size(request)
        rows = queryset.order_by(f"-{self.moment}", "pk")
        if cursor := request.query_params.get("cursor"):
            rows = rows.filter(_after(rows.model, self.moment, cursor))
        found = list(rows[: size + 1])
        self.next_cursor = cursor_of(found[size - 1], self.moment) if len(found) > size else None
        return found[:size]

    def get_paginated_response(self, data: Any) -> Response:
        following = None
        if self.next_cursor is not None:
            following = replace_query_param(self.request.build_absolute_uri(), "cursor", self.next_cursor)
        return Response({"items": data, "next": following, "next_cursor": self.next_cursor})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["items", "next", "next_cursor"],
            "properties": {
                "items": schema,
                "next": {"type": ["string", "null"], "format": "uri"},
                "next_cursor": {"type": ["string", "null"]},
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        size = {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": PAGE_SIZE}
        cursor = {"type": "string", "maxLength": MAX_CURSOR_CHARACTERS}
        return [
            _parameter("limit", f"How many rows a page holds, {MAX_PAGE_SIZE} at most.", size),
            _parameter("cursor", "`next_cursor` of the page before.", cursor),
        ]


def _parameter(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


def _size(request: Request) -> int:
    asked = request.query_params.get("limit", str(PAGE_SIZE))
    if not (asked.isascii() and asked.isdigit() and len(asked) < 4 and 1 <= int(asked) <= MAX_PAGE_SIZE):
        raise Invalid("bad_limit", _("limit must be a whole number from 1 to %(most)d.") % {"most": MAX_PAGE_SIZE})
    return int(asked)


def cursor_of(row: Model, moment: str) -> str:
    """Where the page after this row begins."""
    since = (getattr(row, moment) - EPOCH) // timedelta(microseconds=1)
    place = json.dumps([since, str(row.pk)], separators=(",", ":"))
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _after(model: type[Model], moment: str, cursor: str) -> Q:
    at, pk = _place(model, cursor)
    # The first condition is the one that an index can walk; the second tells rows of the same moment apart.
    return Q(**{f"{moment}__lte": at}) & (Q(**{f"{moment}__lt": at}) | Q(pk__gt=pk))


def _place(model: type[Model], cursor: str) -> tuple[datetime, Any]:
    try:
        if len(cursor) > MAX_CURSOR_CHARACTERS or not cursor.isascii():
            raise ValueError
        found: Sequence[Any] = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
        since, pk = found
        if type(since) is not int or type(pk) is not str or not 0 <= since <= LAST_MICROSECOND:
            raise ValueError
        return EPOCH + timedelta(microseconds=since), model._meta.pk.to_python(pk)
    except (ValueError, TypeError, RecursionError, binascii.Error, ValidationError):
        raise Invalid("bad_cursor", _("This cursor is none of ours: take next_cursor of a page, unchanged.")) from None

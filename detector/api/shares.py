"""/detections/{id}/shares: links under which anybody reads a verdict, until they expire or are revoked."""

import uuid
from datetime import timedelta
from functools import partial
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from billing import idempotency
from billing.api.base import owner_of
from detector import sharing
from detector.api import answers, fixtures, making
from detector.api.answers import Shape, choice
from detector.api.serializers import Flag, StrictSerializer
from detector.api.views import ByMethod
from detector.models import Share, Submission
from inkcloak.cursors import CursorPages

MAX_BODY_BYTES = 16 * 1024
SHARE_ID = OpenApiParameter("share_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
MADE_UP = uuid.UUID(int=fixtures.MARK << 80 | 0x8FFE << 64 | 1 << 63)  # what a test key shares
CREATE = (
    "The link shows verdict, numbers and rate card, with words that say how far they can be trusted; the text and its "
    "marked passages only with `include_text`. Neither file name nor metadata are shown. Search engines are told to "
    "leave it out; it ends with the check itself, and can be revoked at once. A check can have "
    f"{sharing.MAX_SHARES} links that work; one without a verdict has none (409), and a text that was not stored can't "
    "be shown (409)."
)


@extend_schema_field({"type": "integer", "enum": list(sharing.LIFETIMES_DAYS), "default": sharing.DEFAULT_DAYS})
class Days(serializers.Field[Any, Any, Any, Any]):
    """One of the lifetimes; 30.0 is one, as JSON Schema has it, and "30" is none."""

    default_error_messages = {"invalid": _("This must be one of {days}.")}

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int | float) or data not in sharing.LIFETIMES_DAYS:
            self.fail("invalid", days=", ".join(map(str, sharing.LIFETIMES_DAYS)))
        return int(data)

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_serializer(component_name="Share")  # the schema's ShareRequest
class ShareRequest(StrictSerializer):
    """What the link shows, and for how long."""

    expires_in_days = Days(required=False, allow_null=True, help_text="How many days the link works.")
    include_text = Flag(
        required=False, allow_null=True, help_text="true: the text is shown, with its marked passages. Default: false."
    )


class SharedLink(Shape):
    """A link to a verdict."""

    id = serializers.UUIDField()
    object = choice(["share"])
    live = serializers.BooleanField(help_text="false: made up for a test key; it leads nowhere.")
    detection = serializers.UUIDField()
    url = serializers.URLField(
        allow_null=True, help_text="Whoever has it can read. null: it works, and can't be shown any more."
    )
    include_text = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class Shares(ByMethod):
    """The links of a check."""

    pagination_class = CursorPages
    max_body_bytes = MAX_BODY_BYTES

    @extend_schema(
        operation_id="list_shares",
        summary="The links of a check that work, newest first",
        description="Those that have expired or were revoked are gone.",
        parameters=[answers.DETECTION_ID],
        responses=answers.ok(SharedLink(many=True)) | answers.problems(400, 404),
    )
    def get(self, request: Request, detection_id: str) -> Response:
        pages = CursorPages()
        check, live = _find(request, detection_id), making.is_live(request)
        rows = sharing.of(check, now=timezone.now()) if live else Share.objects.none()
        found = pages.paginate_queryset(rows, request, self) or []
        if not live and check.status == Submission.Status.DONE:
            return pages.get_paginated_response([_made_up(request, check, {})])
        return pages.get_paginated_response([shown(request, share) for share in found])

    @extend_schema(
        operation_id="create_share",
        summary="Share a verdict by a link",
        description=CREATE,
        parameters=[answers.DETECTION_ID, answers.IDEMPOTENCY_KEY, answers.REPLAYED],
        request=ShareRequest,
        responses=answers.ok(SharedLink, 201) | answers.problems(400, 404, 409, 413, 415, 422),
    )
    def post(self, request: Request, detection_id: str) -> Response:
        check = _find(request, detection_id)  # before the body is read: a stranger hears nothing else
        asked = ShareRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        if not making.is_live(request):
            sharing.check_finished(check)
            return idempotency.run_once(request, lambda: Response(_made_up(request, check, said), 201), kind="share")
        reference = making.once(request, partial(_make, check, said), kind="share")
        return _answer(request, check, reference)


class OneShare(ByMethod):
    """One link."""

    @extend_schema(
        operation_id="delete_share",
        summary="Revoke a link",
        description="From the next request on it leads nowhere, like one that never was.",
        parameters=[answers.DETECTION_ID, SHARE_ID],
        request=None,
        responses={204: None} | answers.problems(404),
    )
    def delete(self, request: Request, detection_id: str, share_id: str) -> Response:
        check, number = _find(request, detection_id), making.identifier(share_id)
        if not (sharing.revoke(check, number) if making.is_live(request) else number == MADE_UP):
            raise Http404
        return Response(status=204)


def shown(request: Request, share: Share) -> dict[str, Any]:
    """A link as its owner sees it."""
    token = sharing.link_token(share)
    return {
        "id": str(share.pk),
        "object": "share",
        "live": True,
        "detection": str(share.submission_id),
        "url": None if token is None else _address(request, token),
        "include_text": share.with_text,
        "created_at": share.created_at,
        "expires_at": share.expires_at,
    }


def _find(request: Request, detection_id: str) -> Submission:
    """The account's check, or a made-up one for a test key. Raises Http404."""
    if not making.is_live(request):
        return fixtures.found(detection_id)
    return making.find(owner_of(request), detection_id)


def _make(check: Submission, said: dict[str, Any], nonce: uuid.UUID | None) -> uuid.UUID:
    days = said.get("expires_in_days", sharing.DEFAULT_DAYS)
    with_text = said.get("include_text", False)
    try:
        return sharing.create(check, now=timezone.now(), days=days, with_text=with_text, number=nonce).pk
    except Submission.DoesNotExist:  # deleted meanwhile
        raise Http404 from None


def _answer(request: Request, check: Submission, reference: Response) -> Response:
    """Read anew: what is stored for an Idempotency-Key is no link, and a link that was revoked is not given again."""
    share = Share.objects.filter(submission=check, pk=reference.data["id"]).first()
    if share is None:
        raise Http404
    response = Response(shown(request, share), 201)
    if idempotency.REPLAYED_HEADER in reference:
        response[idempotency.REPLAYED_HEADER] = reference[idempotency.REPLAYED_HEADER]
    return response


def _address(request: Request, token: str) -> str:
    return request.build_absolute_uri(reverse("detector:shared", args=[token]))


def _made_up(request: Request, check: Submission, said: dict[str, Any]) -> dict[str, Any]:
    lifetime = timedelta(days=said.get("expires_in_days", sharing.DEFAULT_DAYS))
    return {
        "id": str(MADE_UP),
        "object": "share",
        "live": False,
        "detection": str(check.pk),
        "url": _address(request, "made-up"),
        "include_text": said.get("include_text", False),
        "created_at": fixtures.MOMENT,
        "expires_at": fixtures.MOMENT + lifetime,
    }

"""/webhooks: endpoints of the account, their secrets, what was sent to them, and sending by hand."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing.api.base import ApiView, account_of
from billing.models import Scope
from billing.permissions import HasScope, IsLive
from detector import webhook_endpoints
from detector.api import answers, making
from detector.api.webhook_serializers import (
    Delivery,
    DeliveryWithPayload,
    RotationRequest,
    Webhook,
    WebhookChange,
    WebhookRequest,
    WebhookWithSecret,
)
from detector.models.webhook import WebhookDelivery, WebhookEndpoint
from detector.webhook_endpoints import Secret
from inkcloak.cursors import CursorPages

MAX_BODY_BYTES = 16 * 1024
WEBHOOK_ID = OpenApiParameter("webhook_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
DELIVERY_ID = OpenApiParameter("delivery_id", OpenApiTypes.UUID, OpenApiParameter.PATH)


class WebhookView(ApiView):
    """Of live keys only: what a test key does touches nothing that is real."""

    permission_classes = [HasScope.of(Scope.WEBHOOKS_MANAGE), IsLive]
    max_body_bytes = MAX_BODY_BYTES


class Webhooks(WebhookView):
    """The account's endpoints."""

    @extend_schema(
        operation_id="list_webhooks",
        summary="The account's webhooks",
        description="Disabled ones too: `disabled_reason` says whether you did it (`by_owner`), or we, because the "
        "address answered 410 (`gone`) or nothing arrived there in 45 hours (`failing`). The account's "
        "owners get an e-mail then.",
        responses=answers.ok(Webhook(many=True)) | answers.problems(400),
    )
    def get(self, request: Request) -> Response:
        pages = CursorPages()
        found = pages.paginate_queryset(webhook_endpoints.of(account_of(request)), request, self)
        return pages.get_paginated_response(Webhook(found, many=True).data)

    @extend_schema(
        operation_id="create_webhook",
        summary="Add a webhook; the answer holds its secret, this once",
        description="From now on it hears of what it names under `events`; messages are signed with the secret. An "
        f"account can have {webhook_endpoints.MAX_ENDPOINTS}.",
        request=WebhookRequest,
        responses=answers.ok(WebhookWithSecret, 201) | answers.problems(400, 413, 415),
    )
    def post(self, request: Request) -> Response:
        said = _said(WebhookRequest(data=request.data))
        made = webhook_endpoints.create(account_of(request), **said, now=timezone.now())
        return Response(_with_secret(made), 201)


class OneWebhook(WebhookView):
    """One endpoint."""

    @extend_schema(
        operation_id="get_webhook",
        summary="One webhook",
        description="Its secret is not in it: that was shown when it was made, and can be changed by `rotate`.",
        parameters=[WEBHOOK_ID],
        responses=answers.ok(Webhook) | answers.problems(404),
    )
    def get(self, request: Request, webhook_id: str) -> Response:
        return Response(Webhook(_find(request, webhook_id)).data)

    @extend_schema(
        operation_id="change_webhook",
        summary="Change a webhook; disable or enable it",
        description="Fields that are left out stay as they are. While it is disabled nothing is sent, nor kept for "
        "later.",
        parameters=[WEBHOOK_ID],
        request=WebhookChange,
        responses=answers.ok(Webhook) | answers.problems(400, 404, 413, 415),
    )
    def patch(self, request: Request, webhook_id: str) -> Response:
        endpoint = _find(request, webhook_id)
        webhook_endpoints.update(endpoint, **_said(WebhookChange(data=request.data)), now=timezone.now())
        return Response(Webhook(endpoint).data)

    @extend_schema(
        operation_id="delete_webhook",
        summary="Delete a webhook with its log",
        description="At once. A message that is under way may still arrive.",
        parameters=[WEBHOOK_ID],
        request=None,
        responses={204: None} | answers.problems(404),
    )
    def delete(self, request: Request, webhook_id: str) -> Response:
        webhook_endpoints.delete(_find(request, webhook_id))
        return Response(status=204)


class Rotation(WebhookView):
    """A new secret."""

    @extend_schema(
        operation_id="rotate_webhook_secret",
        summary="Give a webhook a new secret; the old one signs too for a while",
        description="Until `overlap_hours` are over each message carries a signature of either secret, so that "
        "receivers can be moved over one by one.",
        parameters=[WEBHOOK_ID],
        request=RotationRequest,
        responses=answers.ok(WebhookWithSecret) | answers.problems(400, 404, 413, 415),
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        endpoint = _find(request, webhook_id)
        said = _said(RotationRequest(data=request.data))
        return Response(_with_secret(webhook_endpoints.rotate(endpoint, **said, now=timezone.now())))


class TestMessage(WebhookView):
    """A message to try an endpoint with."""

    @extend_schema(
        operation_id="test_webhook",
        summary="Send a message of type webhook.test",
        description="Whatever the webhook subscribes to. The answer is its line in the log; what became of it stands "
        "there soon after.",
        parameters=[WEBHOOK_ID],
        request=None,
        responses=answers.ok(Delivery, 202) | answers.problems(400, 404),
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        sent = webhook_endpoints.send_test(_find(request, webhook_id), now=timezone.now())
        return Response(Delivery(sent).data, 202)


class Deliveries(WebhookView):
    """The log: kept for 30 days, or until what a message tells of is deleted."""

    @extend_schema(
        operation_id="list_webhook_deliveries",
        summary="What was sent to a webhook, newest first",
        description="Kept for 30 days, or until what a message tells of is deleted. Of your answers it knows the "
        "status, nothing else.",
        parameters=[WEBHOOK_ID],
        responses=answers.ok(Delivery(many=True)) | answers.problems(400, 404),
    )
    def get(self, request: Request, webhook_id: str) -> Response:
        pages = CursorPages()
        rows = webhook_endpoints.deliveries_of(_find(request, webhook_id))
        found = pages.paginate_queryset(rows, request, self)
        return pages.get_paginated_response(Delivery(found, many=True).data)


class OneDelivery(WebhookView):
    """One line of the log."""

    @extend_schema(
        operation_id="get_webhook_delivery",
        summary="One message and how far it came",
        description="With `payload` as it is sent. `next_attempt_at` is null when nothing follows.",
        parameters=[WEBHOOK_ID, DELIVERY_ID],
        responses=answers.ok(DeliveryWithPayload) | answers.problems(404),
    )
    def get(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        return Response(DeliveryWithPayload(_find_delivery(request, webhook_id, delivery_id)).data)


class Resend(WebhookView):
    """The same message once more."""

    @extend_schema(
        operation_id="resend_webhook_delivery",
        summary="Send a message again, under its webhook-id",
        description="A new line in the log, tried at once and as often as a new message. The receiver can tell by "
        "`webhook-id` that it knows it.",
        parameters=[WEBHOOK_ID, DELIVERY_ID],
        request=None,
        responses=answers.ok(Delivery, 202) | answers.problems(400, 404),
    )
    def post(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        try:
            sent = webhook_endpoints.resend(_find_delivery(request, webhook_id, delivery_id), now=timezone.now())
        except WebhookDelivery.DoesNotExist:
            raise Http404 from None
        return Response(Delivery(sent).data, 202)


def _said(serializer: Any) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    said: dict[str, Any] = serializer.validated_data
    return said


def _with_secret(made: Secret) -> dict[str, Any]:
    return {**Webhook(made.endpoint).data, "secret": made.secret}


def _find(request: Request, webhook_id: str) -> WebhookEndpoint:
    """Raises Http404 for a stranger's and for nonsense, alike."""
    try:
        return webhook_endpoints.get(account_of(request), making.identifier(webhook_id))
    except WebhookEndpoint.DoesNotExist:
        raise Http404 from None


def _find_delivery(request: Request, webhook_id: str, delivery_id: str) -> WebhookDelivery:
    deliveries = webhook_endpoints.deliveries_of(_find(request, webhook_id)).select_related("endpoint")
    try:
        return deliveries.get(pk=making.identifier(delivery_id))
    except WebhookDelivery.DoesNotExist:
        raise Http404 from None

"""The JSON of webhooks: what may be sent, and how endpoints and deliveries look."""

import re
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from detector.api.serializers import Flag, StrictSerializer
from detector.models.webhook import (
    MAX_DESCRIPTION_CHARACTERS,
    MAX_URL_CHARACTERS,
    TEST_EVENT,
    EventType,
    WebhookDelivery,
    WebhookEndpoint,
)
from detector.webhook_endpoints import OVERLAP_HOURS

MAX_OVERLAP_HOURS = 72
NOT_PRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Line(serializers.CharField):
    """One line of text: a string and nothing that resembles one, without control characters."""

    default_error_messages = {"characters": _("This must hold no control characters, nor lone surrogates.")}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators = [check for check in self.validators if not type(check).__name__.startswith("ProhibitNull")]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if NOT_PRINTABLE.search(data):
            self.fail("characters")
        return data


@extend_schema_field({"type": "array", "items": {"type": "string", "enum": EventType.values}, "minItems": 1})
class Events(serializers.Field[Any, Any, Any, Any]):
    """Names of events, at least one."""

    default_error_messages = {
        "invalid": _("This must be an array of strings."),
        "unknown": _("These must be of: %(events)s.") % {"events": ", ".join(EventType.values)},
        "none": _("There must be at least one event."),
    }

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list) or not all(isinstance(name, str) for name in data):
            self.fail("invalid")
        if not data:
            self.fail("none")
        if not set(data) <= set(EventType.values):
            self.fail("unknown")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class Hours(serializers.IntegerField):
    """A whole number; 24.0 is one, as JSON Schema has it, and "24" is none."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int | float) or data != int(data):
            self.fail("invalid")
        return int(data)


@extend_schema_field(
    {
        "type": "string",
        "format": "uri",
        "maxLength": MAX_URL_CHARACTERS,
        "example": "https://example.com/inkcloak",
        "description": "https, port 443 or 8443, a public address; no redirects are followed.",
    }
)
class Url(Line):
    """An address; its rules are detector.webhook_addresses'."""


class WebhookRequest(StrictSerializer):
    """A new endpoint."""

    url = Url(max_length=MAX_URL_CHARACTERS)
    events = Events(help_text="What it wants to hear of.")
    description = Line(max_length=MAX_DESCRIPTION_CHARACTERS, required=False, allow_blank=True, allow_null=True)


class WebhookChange(StrictSerializer):
    """What shall be different; all else stays."""

    url = Url(max_length=MAX_URL_CHARACTERS, required=False, allow_null=True)
    events = Events(required=False, allow_null=True)
    description = Line(max_length=MAX_DESCRIPTION_CHARACTERS, required=False, allow_blank=True, allow_null=True)
    disabled = Flag(
        required=False,
        allow_null=True,
        help_text="true: nothing is sent, nor kept for later. false: from now on again.",
    )


class RotationRequest(StrictSerializer):
    """How long the old secret signs beside the new one."""

    overlap_hours = Hours(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_OVERLAP_HOURS,
        help_text=f"Default: {OVERLAP_HOURS}. 0: at once, for a secret that has leaked.",
    )


class Webhook(serializers.ModelSerializer[WebhookEndpoint]):
    """An endpoint; its secret is shown when it is made, and never again."""

    disabled = serializers.SerializerMethodField()
    disabled_reason = serializers.SerializerMethodField()
    events = serializers.ListField(child=serializers.ChoiceField(EventType.choices))
    previous_secret_valid_until = serializers.DateTimeField(
        source="previous_valid_until", allow_null=True, help_text="Until then the secret of before signs too."
    )

    class Meta:
        model = WebhookEndpoint
        fields: tuple[str, ...] = (
            "id",
            "url",
            "events",
            "description",
            "disabled",
            "disabled_at",
            "disabled_reason",
            "previous_secret_valid_until",
            "created_at",
        )
        read_only_fields: tuple[str, ...] = fields

    def get_disabled(self, endpoint: WebhookEndpoint) -> bool:
        return endpoint.disabled_at is not None

    @extend_schema_field(
        {
            "type": ["string", "null"],
            "enum": [*(reason for reason in WebhookEndpoint.Reason.values if reason), None],
            "description": "by_owner; gone: it answered 410; failing: messages were given up and none arrived.",
        }
    )
    def get_disabled_reason(self, endpoint: WebhookEndpoint) -> str | None:
        return endpoint.disabled_reason or None


class WebhookWithSecret(Webhook):
    """With the secret, this once: `whsec_…`, for verifying signatures."""

    secret = serializers.CharField()

    class Meta(Webhook.Meta):
        fields = (*Webhook.Meta.fields, "secret")
        read_only_fields: tuple[str, ...] = fields


class Delivery(serializers.ModelSerializer[WebhookDelivery]):
    """One message on its way to one endpoint. What the receiver answered is not kept, only its status."""

    webhook_id = serializers.CharField(
        source="event.message_id", help_text="The header of that name: the same at each attempt and resend."
    )
    type = serializers.ChoiceField(choices=[*EventType.values, TEST_EVENT], source="event.type")
    resend_of = serializers.UUIDField(source="resend_of_id", allow_null=True)
    last_error = serializers.SerializerMethodField()

    class Meta:
        model = WebhookDelivery
        fields: tuple[str, ...] = (
            "id",
            "webhook_id",
            "type",
            "status",
            "attempts",
            "next_attempt_at",
            "last_attempt_at",
            "last_status_code",
            "last_error",
            "resend_of",
            "created_at",
            "finished_at",
        )
        read_only_fields: tuple[str, ...] = fields

    @extend_schema_field({"type": ["string", "null"], "description": "A code of ours, such as timeout or tls_failed."})
    def get_last_error(self, delivery: WebhookDelivery) -> str | None:
        return delivery.last_error or None


@extend_schema_field({"type": "object", "additionalProperties": True})
class Payload(serializers.JSONField):
    """The message as it is sent."""


class DeliveryWithPayload(Delivery):
    """With what was sent."""

    payload = Payload(source="event.payload")

    class Meta(Delivery.Meta):
        fields = (*Delivery.Meta.fields, "payload")
        read_only_fields: tuple[str, ...] = fields

"""What webhooks carry, for the contract's `webhooks` section: filled by detector.webhooks, held to it by a test."""

from typing import Any

from drf_spectacular.utils import OpenApiWebhook, extend_schema
from rest_framework import serializers

from detector.api.answers import DetectionSummary, Shape
from detector.models.webhook import TEST_EVENT, EventType

HEADERS = {
    "webhook-id": "The message: the same at each attempt and resend. Whoever knows it already need do nothing.",
    "webhook-timestamp": "When this attempt was signed, in seconds since 1970. Refuse what is five minutes old.",
    "webhook-signature": "`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`; one for each secret in force.",
}


class BatchFinished(Shape):
    """A batch of which nothing is in flight any more."""

    id = serializers.UUIDField()
    object = serializers.ChoiceField(["batch"])
    texts = serializers.IntegerField(help_text="Sent.")
    refused = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField()


class QuotaWarning(Shape):
    """Words of this month that are used or held passed a mark; once a month for each."""

    percent = serializers.ChoiceField([80, 95])
    unit = serializers.ChoiceField(["words"])
    limit = serializers.IntegerField()
    left = serializers.IntegerField()
    resets_at = serializers.DateTimeField()


class Tried(Shape):
    """Somebody tries the endpoint."""

    webhook = serializers.UUIDField()


def _message(type_: str, data: type[Shape]) -> type[Shape]:
    name = "".join(part.title() for part in type_.split(".")) + "Message"
    fields = {
        "__doc__": "The body of the request.",
        "type": serializers.ChoiceField([type_]),
        "timestamp": serializers.DateTimeField(help_text="When it happened."),
        "data": data(),
    }
    return type(name, (Shape,), fields)


def _webhook(type_: str, summary: str, data: type[Shape]) -> OpenApiWebhook:
    described = "Answer 2xx within ten seconds; anything else, and it comes again, for 45 hours. 410 ends it for good."
    decorator: Any = extend_schema(
        operation_id=f"on_{type_.replace('.', '_')}",
        summary=summary,
        description=described,
        request=_message(type_, data),
        responses={200: None},
        tags=["webhooks"],
    )
    return OpenApiWebhook(str(type_), decorator)


DETECTION_COMPLETED = _webhook(EventType.DETECTION_COMPLETED, "A check has its verdict", DetectionSummary)
DETECTION_FAILED = _webhook(EventType.DETECTION_FAILED, "A check will have no verdict", DetectionSummary)
BATCH_COMPLETED = _webhook(EventType.BATCH_COMPLETED, "All texts of a batch are done or failed", BatchFinished)
QUOTA_WARNING = _webhook(EventType.QUOTA_WARNING, "The month's words run short", QuotaWarning)
TEST = _webhook(TEST_EVENT, "A message that was asked for, to try an endpoint", Tried)


def complete(result: Any, generator: Any, request: Any, public: bool) -> Any:
    """Adds what drf-spectacular leaves out: headers, and schemas that only webhooks use (it collects those before)."""
    known = result["components"]["schemas"]
    for name, schema in generator.registry.build({})["schemas"].items():
        known.setdefault(name, schema)
    for item in result["webhooks"].values():
        item["post"]["parameters"] = [
            {"name": name, "in": "header", "required": True, "description": said, "schema": {"type": "string"}}
            for name, said in HEADERS.items()
        ]
    return result

"""What comes back, for the schema: shapes of the answers, headers and parameters. Filled by detector.presenting.

Nothing is serialised by these: presenting gives plain data, and a test holds the two against each other.
"""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers

from detector.models import Submission, Verdict
from inkcloak import problems as house

PREFER = OpenApiParameter(
    "Prefer",
    str,
    OpenApiParameter.HEADER,
    description="`wait=N`: answer when the verdict is there, at the latest after N seconds (0 to 60).",
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": 255, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="The same key and body again, within 24 hours, is the same check: nothing is charged twice.",
)
LOCATION = OpenApiParameter(
    "Location",
    OpenApiTypes.URI,
    OpenApiParameter.HEADER,
    required=True,
    response=[201, 202],
    description="Where to read it.",
)
REPLAYED = OpenApiParameter(
    "Idempotency-Replayed",
    {"type": "string", "enum": ["true"]},
    OpenApiParameter.HEADER,
    response=[201, 202],
    description="The answer to an earlier request of the same key and body; nothing was done again.",
)
DETECTION_ID = OpenApiParameter("detection_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
BATCH_ID = OpenApiParameter("batch_id", OpenApiTypes.UUID, OpenApiParameter.PATH)
BATCH_PARAMETER = OpenApiParameter("batch", OpenApiTypes.UUID, description="Only the texts of this batch.")


class Shape(serializers.Serializer[Any]):
    """Of plain data."""


def choice(values: Iterable[str], *, null: bool = False, help_text: str = "") -> serializers.CharField:
    """One of these strings, or null: written out where it stands, since the schema's named enums forget null."""
    names: list[str | None] = [value for value in values if value]
    kind: str | list[str] = ["string", "null"] if null else "string"
    one = extend_schema_field({"type": kind, "enum": [*names, None] if null else names})
    made: serializers.CharField = one(type("Choice", (serializers.CharField,), {}))(help_text=help_text)
    return made


class Balance(Shape):
    """What the account has left."""

    limit = serializers.IntegerField(help_text="Words of the account's plan in this period.")
    left = serializers.IntegerField()
    resets_at = serializers.DateTimeField()


class Cost(Shape):
    """What a check cost."""

    words_charged = serializers.IntegerField(help_text="For good. 0 for failed, abstained, repeated and test checks.")
    words_held = serializers.IntegerField(help_text="While the text is being checked; charged or given back then.")
    balance = Balance(allow_null=True)


class Segment(Shape):
    """A part of the scored text."""

    start = serializers.IntegerField(help_text="Code points of the text as it was sent.")
    end = serializers.IntegerField(help_text="Exclusive.")
    label = choice(["ai", "human"])  # type: ignore[assignment]
    probability = serializers.FloatField()


class Cleaned(Shape):
    """Characters that were set aside before reading; never evidence by themselves."""

    kind = serializers.CharField()
    count = serializers.IntegerField()


class LeftOut(Shape):
    """A part that is no prose, and was not scored."""

    kind = serializers.CharField(help_text="code, table, url, reference, quote, list, heading or other.")
    start = serializers.IntegerField()
    end = serializers.IntegerField()


@extend_schema_field(
    {
        "type": ["object", "null"],
        "additionalProperties": True,
        "description": "Of `n` human texts like this one, `k` were flagged under this limit; `low` and `high` are the "
        "ends of the 95 % Wilson interval of that rate.",
    }
)
class RateCard(serializers.JSONField):
    """The measured group that the text belongs to."""


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
class Labels(serializers.JSONField):
    """The caller's own metadata."""


class DetectionSummary(Shape):
    """A check, without what is long. Numbers are null where there is no verdict."""

    id = serializers.UUIDField()
    object = choice(["detection"])
    live = serializers.BooleanField(help_text="false: made up for a test key.")
    status = choice(Submission.Status.values)
    failure = serializers.CharField(allow_null=True, help_text="Why there will be no verdict.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    source = choice(Submission.Source.values)  # type: ignore[assignment]
    batch = serializers.UUIDField(allow_null=True)
    rerun_of = serializers.UUIDField(allow_null=True)
    cached = serializers.BooleanField(help_text="The verdict of an earlier check of the same text, at no cost.")
    pinned = serializers.BooleanField(help_text="The caller named the model version.")
    store = serializers.BooleanField()
    metadata = Labels()
    file_name = serializers.CharField(
        allow_null=True, help_text="What the text came in; of a table's row, with its number."
    )
    verdict = choice(Verdict.Label.values, null=True)
    reason = choice(Verdict.Reason.values, null=True, help_text="Why it is `insufficient`.")
    confidence = choice(Verdict.Confidence.values, null=True)
    probability = serializers.FloatField(allow_null=True, help_text="Calibrated, that the text is AI.")
    ai_fraction = serializers.FloatField(allow_null=True, help_text="Share of the scored characters marked AI.")
    max_fpr = serializers.FloatField(allow_null=True, help_text="The share of human texts that may be called AI.")
    language = serializers.CharField(help_text="ISO 639-1, or `und`.")
    words = serializers.IntegerField(help_text="Of the prose that is scored.")
    characters = serializers.IntegerField(help_text="Of the text as it was sent.")
    scored_characters = serializers.IntegerField(allow_null=True)
    tier = choice(["cpu", "gpu"], null=True)
    degraded = serializers.BooleanField(allow_null=True, help_text="Scored by a stand-in: the GPU was out of reach.")
    model = serializers.CharField(allow_null=True)
    model_version = serializers.CharField(allow_null=True)
    normaliser_version = serializers.CharField(allow_null=True)
    calibration_version = serializers.CharField(allow_null=True)
    usage = Cost()


class Detection(DetectionSummary):
    """A check with its segments."""

    segments = Segment(many=True, allow_null=True)
    cleaned = Cleaned(many=True, allow_null=True)
    left_out = LeftOut(many=True, allow_null=True)
    rate_card = RateCard()


class Quote(Shape):
    """What a check would cost."""

    object = choice(["quote"])
    sufficient = serializers.BooleanField(help_text="Whether there would be a verdict.")
    reason = choice(Verdict.Reason.values, null=True)
    cached = serializers.BooleanField()
    language = serializers.CharField()
    words = serializers.IntegerField()
    characters = serializers.IntegerField()
    words_to_charge = serializers.IntegerField()
    affordable = serializers.BooleanField(help_text="Whether the account has that many words left.")
    balance = Balance()


class Fault(Shape):
    """One field at fault."""

    pointer = serializers.CharField(help_text="Where in the body, as a JSON pointer.")
    code = serializers.CharField()
    detail = serializers.CharField()


class Problem(Shape):
    """RFC 9457. `code` never changes; `detail` is in the reader's language."""

    type = serializers.URLField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    errors = Fault(many=True)  # type: ignore[assignment]
    request_id = serializers.CharField()


class BatchItem(Shape):
    """One text of a batch: a check, or why it is none."""

    place = serializers.IntegerField(help_text="In the request, from 0.")
    detection = DetectionSummary(allow_null=True)
    problem = Problem(allow_null=True)


class Batch(Shape):
    """Texts that came in one request."""

    id = serializers.UUIDField()
    object = choice(["batch"])
    live = serializers.BooleanField()
    status = choice(["running", "finished"])
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    texts = serializers.IntegerField()
    refused = serializers.IntegerField(allow_null=True)
    in_flight = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    items = BatchItem(many=True)


class QuoteItem(Shape):
    """One text of a batch: its price, or why it can't be checked."""

    place = serializers.IntegerField()
    quote = Quote(allow_null=True)
    problem = Problem(allow_null=True)


class BatchQuote(Shape):
    """What a batch would cost, text by text."""

    object = choice(["batch_quote"])
    words_to_charge = serializers.IntegerField()
    affordable = serializers.BooleanField()
    balance = Balance()
    items = QuoteItem(many=True)


class Model(Shape):
    """A model version that can be called."""

    version = serializers.CharField()
    name = serializers.CharField()
    default = serializers.BooleanField(help_text="Answers where no version is named.")
    tiers = serializers.ListField(child=choice(["cpu", "gpu"]))
    languages = serializers.ListField(child=serializers.CharField())
    max_fprs = serializers.DictField(
        child=serializers.ListField(child=serializers.FloatField()), help_text="Measured limits, by language."
    )
    default_max_fpr = serializers.FloatField()
    min_words = serializers.IntegerField()
    max_characters = serializers.IntegerField()
    normaliser_version = serializers.CharField()
    calibration_version = serializers.CharField()
    flip_rate = serializers.FloatField(
        allow_null=True, help_text="Share of texts whose verdict differs from the version before; null: not measured."
    )
    released_at = serializers.DateTimeField()


class Models(Shape):
    """All that can be called now."""

    items = Model(many=True)


@extend_schema_field({"type": "object", "additionalProperties": True})
class Figures(serializers.JSONField):
    """A part of the report, as it was measured."""


class Benchmarks(Shape):
    """What was measured of a model version, on texts that it was not trained on."""

    model = serializers.CharField()
    model_version = serializers.CharField()
    made = serializers.CharField()
    report = serializers.URLField(allow_null=True, help_text="The whole report of the version in service.")
    figures = Figures()


def ok(shape: Any, *statuses: int) -> dict[Any, Any]:
    """Answers that succeed."""
    return dict.fromkeys(statuses or (200,), shape)


def problems(*statuses: int) -> dict[Any, Any]:
    """Answers that don't; every address may also answer 401, 403 and 429."""
    return {(status, house.CONTENT_TYPE): Problem for status in sorted({*statuses, 401, 403, 429})}

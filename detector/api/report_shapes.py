"""What may be asked of a report, and how a signed one looks."""

from rest_framework import serializers

from detector.api import answers
from detector.api.queries import QueryFlag
from detector.api.serializers import StrictSerializer
from detector.models import Verdict


class ReportQuery(StrictSerializer):
    """include_text: the owner's choice."""

    include_text = QueryFlag(
        required=False, help_text="true: the report holds the text itself. Without it, only its hash and offsets."
    )


class Report(answers.Shape):
    """What is signed: the verdict with all that it rests on."""

    object = answers.choice(["report"])
    format = serializers.IntegerField(help_text="Of the report: 1.")
    issuer = serializers.URLField()
    issued_at = serializers.DateTimeField(help_text="When this report was made; a key counts for reports of its time.")
    live = serializers.BooleanField(help_text="false: made up for a test key, and signed by no key that is published.")
    id = serializers.UUIDField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    text_sha256 = serializers.CharField(
        allow_null=True, help_text="Of the text in UTF-8, NUL read as U+0001 and lone surrogates as U+FFFD."
    )
    content_sha256 = serializers.CharField(
        help_text="The same in every report of this check, PDF or not: of the canonical JSON without `issued_at`, "
        "`issuer`, `text` and this field."
    )
    text = serializers.CharField(required=False, help_text="Only with `include_text=true`.")
    verdict = answers.choice(Verdict.Label.values)
    reason = answers.choice(Verdict.Reason.values, null=True)
    confidence = answers.choice(Verdict.Confidence.values, null=True)
    probability = serializers.FloatField(allow_null=True)
    ai_fraction = serializers.FloatField(allow_null=True)
    max_fpr = serializers.FloatField()
    segments = answers.Segment(many=True)
    cleaned = answers.Cleaned(many=True)
    left_out = answers.LeftOut(many=True)
    rate_card = answers.RateCard()
    language = serializers.CharField()
    words = serializers.IntegerField()
    characters = serializers.IntegerField()
    scored_characters = serializers.IntegerField()
    tier = answers.choice(["cpu", "gpu"])
    degraded = serializers.BooleanField()
    model = serializers.CharField()
    model_version = serializers.CharField()
    normaliser_version = serializers.CharField()
    calibration_version = serializers.CharField()
    notice = serializers.CharField(help_text="What the report does not say.")


class Signature(answers.Shape):
    """Over the canonical JSON (RFC 8785) of `report`."""

    alg = answers.choice(["Ed25519"])
    key_id = serializers.CharField(help_text="Of `/.well-known/inkcloak-keys.json`.")
    value = serializers.CharField(help_text="base64url, 64 bytes.")


class SignedReport(answers.Shape):
    """A file that `inkcloak verify` checks, offline if need be."""

    report = Report()
    signature = Signature()

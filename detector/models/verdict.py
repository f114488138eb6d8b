"""Verdict: what was decided about one submission, with every version that the decision rests on."""

from django.db import models

from detector.models.submission import Submission
from gpujobs.models import ModelVersion


class Verdict(models.Model):
    class Label(models.TextChoices):
        HUMAN = "human"
        MIXED = "mixed"
        AI = "ai"
        INSUFFICIENT = "insufficient"

    class Reason(models.TextChoices):
        NONE = ""
        TOO_SHORT = "too_short"
        NO_PROSE = "no_prose"
        UNSUPPORTED_LANGUAGE = "unsupported_language"

    class Confidence(models.TextChoices):
        NONE = ""
        HIGH = "high"
        MEDIUM = "medium"
        LOW = "low"

    submission = models.OneToOneField(Submission, primary_key=True, on_delete=models.CASCADE, related_name="verdict")
    label = models.CharField(max_length=12, choices=Label.choices)
    reason = models.CharField(max_length=24, choices=Reason.choices, blank=True)
    confidence = models.CharField(max_length=8, choices=Confidence.choices, blank=True)
    probability = models.FloatField(null=True)  # calibrated, that the text is AI; null without a verdict
    ai_fraction = models.FloatField(null=True)  # share of scored characters in segments marked AI
    # [{"start", "end", "label", "probability"}]: code points of the original text, in order, not overlapping.
    segments = models.JSONField(default=list)
    cleaned = models.JSONField(default=list)  # [{"kind", "count"}]
    left_out = models.JSONField(default=list)  # [{"kind", "start", "end"}]: code points of the original
    rate_card = models.JSONField(null=True)  # {"k", "n", "low", "high", "language", "words", "genre"}
    scored_characters = models.PositiveIntegerField(default=0)
    model_version = models.ForeignKey(ModelVersion, on_delete=models.PROTECT, related_name="+")
    normaliser_version = models.CharField(max_length=40)
    calibration_version = models.CharField(max_length=40)
    max_fpr = models.CharField(max_length=8)
    tier = models.CharField(max_length=8)  # cpu | gpu
    degraded = models.BooleanField(default=False)  # the policy wanted another tier, which was out of reach
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(label="insufficient", probability__isnull=True)
                | models.Q(probability__isnull=False, ai_fraction__isnull=False),
                name="verdict_has_numbers_or_none",
            )
        ]

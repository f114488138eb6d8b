"""Submission: one text that somebody wants a verdict on. The table is the queue.

        QUEUED --leased into a run--> SCORING --scores in--> DONE
           ^                             |
           |---run lost, attempts left---|
        QUEUED, SCORING --no attempts or no time left--> FAILED

Born DONE, with its verdict: a text without enough evidence (too short, no prose, unsupported language), and a repeat,
answered by an earlier verdict of the same owner's.
"""

import uuid

from django.conf import settings
from django.db import models

from billing.models import Account, ApiKey, Reservation
from detector.models.batch import Batch
from gpujobs.models import GpuRun, ModelVersion


class Submission(models.Model):
    class Status(models.TextChoices):
        QUEUED = "queued"  # set by intake.accept and dispatch.requeue: waits for a run
        SCORING = "scoring"  # set by dispatch.claim: belongs to `run`, whose lease is the only one
        DONE = "done"  # set by collect (or intake: no evidence, a repeat): has a Verdict
        FAILED = "failed"  # set by collect or the sweep: `failure_code` says why, nothing was charged

    MOVES = {
        Status.QUEUED: frozenset({Status.SCORING, Status.FAILED}),
        Status.SCORING: frozenset({Status.QUEUED, Status.DONE, Status.FAILED}),
        Status.DONE: frozenset(),
        Status.FAILED: frozenset(),
    }

    class Lane(models.IntegerChoices):
        """Which queue: a lower one goes first. Somebody waits for an interactive text."""

        INTERACTIVE = 0
        BULK = 1
        RESCORE = 2

    class Source(models.TextChoices):
        PAGE = "page"
        COMMAND = "command"
        API = "api"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, null=True, on_delete=models.CASCADE, related_name="submissions")
    visitor = models.UUIDField(null=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    source = models.CharField(max_length=10, choices=Source.choices)
    api_key = models.ForeignKey(ApiKey, null=True, on_delete=models.SET_NULL, related_name="+")
    # One number a form: the same form sent twice is one check.
    nonce = models.UUIDField(null=True)
    digest = models.CharField(max_length=64)

    text = models.TextField()  # "" once there is a verdict, where `store` is false
    file_name = models.CharField(max_length=200, blank=True)  # what it came in; of a table's row, with its number
    store = models.BooleanField(default=True)
    metadata = models.JSONField(default=dict)  # the caller's own, never read here: names to strings
    characters = models.PositiveIntegerField()
    words = models.PositiveIntegerField()  # of the scored prose
    language = models.CharField(max_length=8)
    model_version = models.ForeignKey(ModelVersion, on_delete=models.PROTECT, related_name="submissions")
    pinned = models.BooleanField(default=False)  # the caller named the model: no other may answer in its place
    max_fpr = models.CharField(max_length=8, blank=True)  # the policy cap as the manifest spells it; "" = default
    recheck_of = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="rechecks")
    reused_from = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="repeats")
    batch = models.ForeignKey(Batch, null=True, on_delete=models.SET_NULL, related_name="submissions")
    place = models.PositiveSmallIntegerField(null=True)  # in its batch, from 0

    lane = models.PositiveSmallIntegerField(choices=Lane.choices, default=Lane.INTERACTIVE)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    failure_code = models.CharField(max_length=60, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    run = models.ForeignKey(GpuRun, null=True, on_delete=models.SET_NULL, related_name="submissions")
    reservation = models.OneToOneField(Reservation, null=True, on_delete=models.SET_NULL, related_name="submission")

    accepted_at = models.DateTimeField()
    dispatched_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    deadline_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(account__isnull=True) ^ models.Q(visitor__isnull=True),
                name="submission_one_owner",
            ),
            models.UniqueConstraint(
                fields=["account", "nonce", "digest"],
                condition=models.Q(account__isnull=False, nonce__isnull=False),
                name="submission_once_per_form_account",
            ),
            models.UniqueConstraint(
                fields=["visitor", "nonce", "digest"],
                condition=models.Q(visitor__isnull=False, nonce__isnull=False),
                name="submission_once_per_form_visitor",
            ),
        ]
        indexes = [
            models.Index(fields=["lane", "accepted_at"], condition=models.Q(status="queued"), name="submission_lanes"),
            models.Index(
                fields=["deadline_at"],
                condition=models.Q(status__in=("queued", "scoring")),
                name="submission_due",
            ),
            models.Index(fields=["account", "-accepted_at", "id"], name="submission_history"),
            models.Index(fields=["visitor", "-accepted_at", "id"], name="submission_visits"),
            # detector.reuse: has this owner had this text checked?
            models.Index(
                fields=["account", "digest"],
                condition=models.Q(status="done", account__isnull=False),
                name="submission_known_account",
            ),
            models.Index(
                fields=["visitor", "digest"],
                condition=models.Q(status="done", visitor__isnull=False),
                name="submission_known_visitor",
            ),
        ]

    @property
    def is_finished(self) -> bool:
        return self.status in (self.Status.DONE, self.Status.FAILED)

    @property
    def is_repeat(self) -> bool:
        """Has a verdict with numbers, yet never went to a model; true also when `reused_from` is deleted."""
        return self.status == self.Status.DONE and self.dispatched_at is None and self.verdict.probability is not None

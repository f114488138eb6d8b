"""GpuRun: one attempt to score a batch on one machine, and its moves as rows.

        STARTING --taken--> RUNNING --answer--> SUCCEEDED
            \\                   \\--error / lease expired--> FAILED
             \\--error / lease expired--> FAILED

A backend that answers later has RUNNING runs with an `external_id`: nobody works on them here, somebody looks after
them at `next_look_at` until `give_up_at`. A run is an attempt, never the job: when it fails, the same texts get a new
run. While it is in flight its lease is renewed by whoever works on it; an expired lease means that process is gone.
"""

import uuid

from django.db import models

from gpujobs.models.registry import ModelVersion


class GpuRun(models.Model):
    class Status(models.TextChoices):
        STARTING = "starting"  # set by runs.open_run: the row exists, the backend has not been asked
        RUNNING = "running"  # set by runs.started: the backend has the batch
        SUCCEEDED = "succeeded"  # set by runs.succeed: `result` holds the scores
        FAILED = "failed"  # set by runs.fail: `failure_code` says why

    MOVES = {
        Status.STARTING: frozenset({Status.RUNNING, Status.SUCCEEDED, Status.FAILED}),
        Status.RUNNING: frozenset({Status.SUCCEEDED, Status.FAILED}),
        Status.SUCCEEDED: frozenset(),
        Status.FAILED: frozenset(),
    }
    IN_FLIGHT = (Status.STARTING, Status.RUNNING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    backend = models.CharField(max_length=20)
    model_version = models.ForeignKey(ModelVersion, on_delete=models.PROTECT, related_name="runs")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.STARTING)
    texts = models.PositiveIntegerField()
    degraded = models.BooleanField(default=False)  # the policy wanted another tier, which was out of reach
    tokens = models.PositiveIntegerField(default=0)
    external_id = models.CharField(max_length=100, blank=True)  # where a backend took the batch and answers later
    attempt = models.PositiveSmallIntegerField(default=1)  # the number that its answer must echo
    next_look_at = models.DateTimeField(null=True)  # when the backend is asked again
    give_up_at = models.DateTimeField(null=True)  # after that the batch is cancelled
    failure_code = models.CharField(max_length=60, blank=True)
    result = models.JSONField(null=True)  # a ScoreResponse: scores and offsets, no text
    lease_expires_at = models.DateTimeField()
    execution_ms = models.PositiveIntegerField(null=True)
    # What a rented machine's provider says, also of a run in vain: both are paid for.
    delay_ms = models.PositiveIntegerField(null=True)  # queue and cold start
    worker_id = models.CharField(max_length=100, blank=True)
    handed_in = models.PositiveSmallIntegerField(default=1)  # times; a doubtful hand-over is repeated
    gpu_type = models.CharField(max_length=60, blank=True)  # as its prices name it; "" on this machine's CPU
    # Whose texts share the batch: [[account id, customer's batch id or null, characters], ...]. Costs are split by it.
    shares = models.JSONField(default=list)
    costed_at = models.DateTimeField(null=True)  # when its cost entries were posted
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["lease_expires_at"],
                condition=models.Q(status__in=("starting", "running")),
                name="run_in_flight_lease",
            ),
            models.Index(
                fields=["next_look_at"],
                condition=models.Q(status="running", next_look_at__isnull=False),
                name="run_next_look",
            ),
            models.Index(fields=["backend", "-created_at"], name="run_lately"),
            models.Index(
                fields=["finished_at"],
                condition=models.Q(status__in=("succeeded", "failed"), costed_at__isnull=True),
                name="run_not_costed",
            ),
        ]


class RunEvent(models.Model):
    """A run's move, kept: from, to, why, when."""

    run = models.ForeignKey(GpuRun, on_delete=models.CASCADE, related_name="events")
    previous = models.CharField(max_length=10, blank=True)
    current = models.CharField(max_length=10)
    reason = models.CharField(max_length=60, blank=True)
    at = models.DateTimeField(auto_now_add=True)

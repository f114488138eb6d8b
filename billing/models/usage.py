"""Meters and reservations: how much of an allowance is used in a period, and what is held for work in flight."""

import uuid

from django.db import models


class Meter(models.Model):
    """One allowance of one holder in one period.

    holder: `account:<id>` or `visitor:<hash of the address>`.  unit: what is counted.
    Always used + held <= limit when something is reserved; a limit lowered later may stand below.
    """

    class Unit(models.TextChoices):
        WORDS = "words"
        CHECKS = "checks"

    holder = models.CharField(max_length=100)
    unit = models.CharField(max_length=10, choices=Unit.choices)
    period_start = models.DateTimeField()
    period_end = models.DateTimeField()
    limit = models.PositiveBigIntegerField()
    used = models.PositiveBigIntegerField(default=0)
    held = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["holder", "unit", "period_start"], name="meter_once_per_period"),
            models.CheckConstraint(condition=models.Q(used__gte=0, held__gte=0), name="meter_not_negative"),
        ]


class Reservation(models.Model):
    """Units held for one piece of work.

    HELD --settle--> SETTLED      (work done: held becomes used)
    HELD --release-> RELEASED     (work failed or was deleted: held is free again)
    """

    class Status(models.TextChoices):
        HELD = "held"  # set by quota.reserve: counted in Meter.held
        SETTLED = "settled"  # set by quota.settle: counted in Meter.used
        RELEASED = "released"  # set by quota.release: counted nowhere

    MOVES = {
        Status.HELD: frozenset({Status.SETTLED, Status.RELEASED}),
        Status.SETTLED: frozenset(),
        Status.RELEASED: frozenset(),
    }

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    meter = models.ForeignKey(Meter, on_delete=models.PROTECT, related_name="reservations")
    amount = models.PositiveBigIntegerField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.HELD)
    created_at = models.DateTimeField(auto_now_add=True)

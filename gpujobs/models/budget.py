"""Budgets in nano-dollars: how much may be spent in a day or a month, and what is held for runs that have begun.

        HELD --settle--> SETTLED      the run's real cost is in the ledger
            \\--release-> RELEASED     nothing was spent
            \\--expired-> EXPIRED      nobody came back; what it did cost is in the ledger anyway

What is spent is a sum of the ledger over the period, never a counter that is reset; only what is held is counted here.
"""

import uuid

from django.conf import settings
from django.db import models

from gpujobs.models.cost import Service
from gpujobs.models.run import GpuRun


class Budget(models.Model):
    """scope: global (all), service (one of Service), account (an account's id, `account_id`).

    soft_nanousd warns, hard_nanousd admits no new GPU work. zone: an IANA name; the period is a local day or month.
    """

    class Scope(models.TextChoices):  # also the order of locking
        GLOBAL = "1global"
        SERVICE = "2service"
        ACCOUNT = "3account"

    class Period(models.TextChoices):
        DAY = "day"
        MONTH = "month"

    name = models.CharField(max_length=80, unique=True)
    scope = models.CharField(max_length=10, choices=Scope.choices)
    service = models.CharField(max_length=12, choices=Service.choices, blank=True)
    account_id = models.UUIDField(null=True, blank=True)
    period = models.CharField(max_length=5, choices=Period.choices)
    zone = models.CharField(max_length=40, default="UTC")
    soft_nanousd = models.BigIntegerField(null=True, blank=True)
    hard_nanousd = models.BigIntegerField()
    held_nanousd = models.BigIntegerField(default=0)  # of reservations that are HELD
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["scope", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(hard_nanousd__gte=0, held_nanousd__gte=0), name="budget_not_negative"
            ),
            models.UniqueConstraint(
                fields=["scope", "service", "account_id", "period"],
                condition=models.Q(active=True),
                nulls_distinct=False,
                name="budget_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class BudgetReservation(models.Model):
    """Dollars held for one run in every budget that it falls under. `expires_at`: whoever held it is gone by then."""

    class Status(models.TextChoices):
        HELD = "held"  # set by budgets.reserve
        SETTLED = "settled"  # set by budgets.settle, when the run's cost is in the ledger
        RELEASED = "released"  # set by budgets.release: nothing was spent
        EXPIRED = "expired"  # set by budgets.expire

    MOVES = {
        Status.HELD: frozenset({Status.SETTLED, Status.RELEASED, Status.EXPIRED}),
        Status.SETTLED: frozenset(),
        Status.RELEASED: frozenset(),
        Status.EXPIRED: frozenset(),
    }

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.OneToOneField(GpuRun, null=True, on_delete=models.PROTECT, related_name="budget_reservation")
    service = models.CharField(max_length=12, choices=Service.choices)
    budgets = models.ManyToManyField(Budget, related_name="reservations")
    amount_nanousd = models.BigIntegerField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.HELD)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["expires_at"], condition=models.Q(status="held"), name="budget_reservation_held")
        ]


class BudgetOverride(models.Model):
    """Somebody of the staff let work go on past a budget, until a moment. Append-only; the last one counts."""

    budget = models.ForeignKey(Budget, on_delete=models.PROTECT, related_name="overrides")
    extra_nanousd = models.BigIntegerField()  # on top of the hard limit
    until = models.DateTimeField()
    reason = models.CharField(max_length=200)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class BudgetNotice(models.Model):
    """A budget came to its soft or hard limit: once for each budget, period and level. Alerts are made of these."""

    class Level(models.TextChoices):
        SOFT = "soft"
        HARD = "hard"

    budget = models.ForeignKey(Budget, on_delete=models.PROTECT, related_name="notices")
    level = models.CharField(max_length=4, choices=Level.choices)
    period_start = models.DateTimeField()
    resets_at = models.DateTimeField()
    spent_nanousd = models.BigIntegerField()
    limit_nanousd = models.BigIntegerField()  # the one that was reached
    at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["budget", "period_start", "level"], name="budget_notice_once"),
        ]

"""What things cost us: prices, the append-only ledger, its sums by quarter of an hour, and reconciled days.

All money is integer nano-dollars (1 USD = 1_000_000_000). The database itself refuses to change or delete a CostEntry,
and keeps the sums with each insert (triggers in migration 0004_costs), so that no writer can forget them.

An account is only an id here: this floor does not know who that is. Null means "no account": idle time, storage,
training, whatever is not some customer's work.
"""

import uuid

from django.db import models
from django.db.models.functions import Now

from gpujobs.models.run import GpuRun


class Service(models.TextChoices):
    INFERENCE = "inference"
    TRAINING = "training"
    BENCHMARK = "benchmark"


class Price(models.Model):
    """What a provider asks, from `valid_from` on, until a later row for the same thing. Rows never change.

    amount_nanousd: for one `unit`.  gpu_type: the provider's own id; "" for storage and CPUs.  region "": everywhere.
    source: where it was read; as_of: when.
    """

    class Mode(models.TextChoices):
        FLEX = "flex"  # serverless, scaled to zero
        ACTIVE = "active"  # serverless, always on
        POD = "pod"
        SPOT = "spot"
        STORAGE = "storage"

    class Unit(models.TextChoices):
        HOUR = "hour"  # of one machine
        GB_MONTH = "gb_month"  # 30 days of 24 hours

    provider = models.CharField(max_length=20)
    gpu_type = models.CharField(max_length=60, blank=True)
    mode = models.CharField(max_length=10, choices=Mode.choices)
    region = models.CharField(max_length=40, blank=True)
    unit = models.CharField(max_length=10, choices=Unit.choices, default=Unit.HOUR)
    amount_nanousd = models.BigIntegerField()
    source = models.CharField(max_length=200)
    as_of = models.DateField()
    valid_from = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(amount_nanousd__gte=0), name="price_not_negative"),
            models.UniqueConstraint(
                fields=["provider", "gpu_type", "mode", "region", "unit", "valid_from"], name="price_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.gpu_type} {self.mode}"


class CostEntry(models.Model):
    """One line of the ledger. `amount_nanousd` may be negative in adjustments only.

    source_ref: what this line is of, unique: posting the same twice is harmless, posting it with another amount is a
    conflict.  at: the instant that it counts for; late entries have an early `at`.  milliseconds: of machine time,
    null where the cost is none of time.  attempt: of `run`.  batch_id: the customer's batch (an id only).
    """

    class Kind(models.TextChoices):
        EXECUTION = "execution"
        COLD_START = "cold_start"
        IDLE = "idle"
        STORAGE = "storage"
        TRAINING = "training"
        BENCHMARK = "benchmark"
        ADJUSTMENT = "adjustment"  # a correction, or what a provider's bill differed by

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    service = models.CharField(max_length=12, choices=Service.choices)
    provider = models.CharField(max_length=20)
    gpu_type = models.CharField(max_length=60, blank=True)
    model_version = models.CharField(max_length=40, blank=True)
    account_id = models.UUIDField(null=True)
    batch_id = models.UUIDField(null=True)
    run = models.ForeignKey(GpuRun, null=True, on_delete=models.PROTECT, related_name="cost_entries", db_index=False)
    attempt = models.PositiveSmallIntegerField(default=1)
    worker_id = models.CharField(max_length=100, blank=True)
    price = models.ForeignKey(Price, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    milliseconds = models.BigIntegerField(null=True)
    amount_nanousd = models.BigIntegerField()
    source_ref = models.CharField(max_length=160, unique=True)
    corrects = models.ForeignKey(
        "self", null=True, on_delete=models.PROTECT, related_name="corrections", db_index=False
    )
    note = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()
    posted_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount_nanousd__gte=0) | models.Q(kind="adjustment"), name="cost_entry_sign"
            )
        ]
        indexes = [
            models.Index(fields=["-at", "-id"], name="cost_entry_lately"),
            models.Index(fields=["account_id", "-at"], name="cost_entry_account"),
            models.Index(fields=["run"], condition=models.Q(run__isnull=False), name="cost_entry_run"),
            models.Index(fields=["corrects"], condition=models.Q(corrects__isnull=False), name="cost_entry_corrects"),
        ]


class CostQuarter(models.Model):
    """The ledger's sums by quarter of an hour (UTC): every zone in use is a whole number of quarters off, so a day of
    any zone, also one of 23 or 25 hours, is a sum of these. Written by the database's trigger alone.
    """

    start = models.DateTimeField()
    kind = models.CharField(max_length=12)
    service = models.CharField(max_length=12)
    provider = models.CharField(max_length=20)
    gpu_type = models.CharField(max_length=60)
    model_version = models.CharField(max_length=40)
    entries = models.BigIntegerField()
    milliseconds = models.BigIntegerField()
    amount_nanousd = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["start", "kind", "service", "provider", "gpu_type", "model_version"], name="cost_quarter_once"
            )
        ]


class AccountQuarter(models.Model):
    """The same by account and service. account_id null (unallocated) is stored as the nil UUID."""

    UNALLOCATED = uuid.UUID(int=0)

    start = models.DateTimeField()
    account_id = models.UUIDField()
    service = models.CharField(max_length=12)
    entries = models.BigIntegerField()
    amount_nanousd = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account_id", "start", "service"], name="account_quarter_once")]
        indexes = [models.Index(fields=["start"], name="account_quarter_start")]


class ReconciledDay(models.Model):
    """A UTC day of one provider's service, as its bill says. `delta_nanousd` = billed - what the ledger had then; it
    is posted as an adjustment, so that the ledger adds up to the bill. A later bill for the day adds another row.
    """

    provider = models.CharField(max_length=20)
    service = models.CharField(max_length=12, choices=Service.choices)
    day = models.DateField()
    estimated_nanousd = models.BigIntegerField()
    billed_nanousd = models.BigIntegerField()
    delta_nanousd = models.BigIntegerField()
    entry = models.ForeignKey(CostEntry, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["day", "provider"], name="reconciled_day")]

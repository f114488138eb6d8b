"""MachineMeter: how far the time of one rented machine is in the ledger already.

A worker lives several times under one id (FlashBoot parks and resumes it); the meter tells of its last life. The row is
locked while lines are posted, so that each moment of a machine is posted once.
"""

from django.db import models

from gpujobs.models.cost import Price, Service


class MachineMeter(models.Model):
    """[opened_at, metered_until) is in the ledger, at `price`. closed: so is its idle tail, rounded up as it is billed.

    disk_until: up to when its disk is.  machine_id: the provider's, of a worker or pod.
    """

    provider = models.CharField(max_length=20)
    machine_id = models.CharField(max_length=100)
    service = models.CharField(max_length=12, choices=Service.choices, default=Service.INFERENCE)
    gpu_type = models.CharField(max_length=60)
    model_version = models.CharField(max_length=40, blank=True)
    price = models.ForeignKey(Price, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    opened_at = models.DateTimeField(null=True)  # null: it was never seen at work
    metered_until = models.DateTimeField(null=True)
    disk_until = models.DateTimeField(null=True)
    closed = models.BooleanField(default=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["provider", "machine_id"], name="machine_meter_once")]
        indexes = [
            models.Index(fields=["metered_until"], condition=models.Q(closed=False), name="machine_meter_open"),
        ]

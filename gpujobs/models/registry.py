"""Model versions (immutable, by content hash) and the aliases that point at them."""

from django.conf import settings
from django.db import models


class ModelVersion(models.Model):
    """Weights + calibration + thresholds under one content hash. `manifest` is the folder's manifest.json."""

    version = models.CharField(primary_key=True, max_length=40)
    name = models.CharField(max_length=100)
    manifest = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)


class ModelAlias(models.Model):
    """`champion` is what customers get. Going back is moving the alias; each move is kept as an AliasMove."""

    name = models.CharField(primary_key=True, max_length=40)
    version = models.ForeignKey(ModelVersion, on_delete=models.PROTECT, related_name="aliases")


class AliasMove(models.Model):
    """Append-only: who pointed which alias where, and why."""

    alias = models.CharField(max_length=40)
    previous = models.ForeignKey(ModelVersion, null=True, on_delete=models.PROTECT, related_name="+")
    current = models.ForeignKey(ModelVersion, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=300)
    moved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    moved_at = models.DateTimeField(auto_now_add=True)

"""ApiKey: lets a program act for an account. The key itself is nowhere: only its HMAC is stored."""

import uuid
from datetime import datetime

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from billing.models.account import Account


class Scope(models.TextChoices):
    """What a key may do."""

    CHECKS_WRITE = "checks:write", _("Check texts, delete checks")
    CHECKS_READ = "checks:read", _("Read checks and verdicts")
    USAGE_READ = "usage:read", _("Read usage and the ledger of words")
    WEBHOOKS_MANAGE = "webhooks:manage", _("Manage webhooks")


class ApiKey(models.Model):
    """live: False for a test key, which gets made-up answers at no cost.

    hint: the key's beginning, to recognise it by.  replaces: the key that this one was rotated from; that one works
    until its `expires_at`, so that both are good while programs are moved over.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="api_keys")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    name = models.CharField(max_length=100)
    live = models.BooleanField(default=True)
    hint = models.CharField(max_length=20)
    digest = models.CharField(max_length=64, unique=True)  # HMAC-SHA256 in hex, under API_KEY_PEPPER
    scopes = ArrayField(models.CharField(max_length=40, choices=Scope.choices))
    replaces = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="replaced_by")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)  # to the minute

    class Meta:
        indexes = [models.Index(fields=["account", "-created_at", "id"], name="apikey_list")]

    def has_scope(self, scope: str) -> bool:
        return scope in self.scopes

    def is_good(self, now: datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)

"""Account: who owns checks and pays for them. A person reaches it through a membership."""

import uuid

from django.conf import settings
from django.db import models


class Account(models.Model):
    """personal_of: the person whose own account this is; null for a team and for our own (internal) account.

    plan_name, plan_version: what the account is entitled to until `plan_until` (null: until a subscription says
    otherwise), and next_…: what after that. Written by billing.subscriptions alone, read by billing.plans.plan_of.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    internal = models.BooleanField(default=False)
    personal_of = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="personal_account",
    )
    plan_name = models.CharField(max_length=20, default="free")
    plan_version = models.PositiveSmallIntegerField(default=1)
    plan_until = models.DateTimeField(null=True, blank=True)
    next_plan_name = models.CharField(max_length=20, default="free")
    next_plan_version = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["internal"], condition=models.Q(internal=True), name="account_one_internal")
        ]


class Membership(models.Model):
    """chosen_at: when the person last chose to work in this account; null for never. The latest one counts."""

    class Role(models.TextChoices):
        OWNER = "owner"  # everything, also who belongs to the team
        BILLING = "billing"  # what members may, and the plan and its payment
        MEMBER = "member"  # checks texts with the account's words, and has API keys of their own

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.MEMBER)
    chosen_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "user"], name="membership_once")]

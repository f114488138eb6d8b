"""Invitation: somebody was asked by mail to join an account."""

import uuid
from datetime import datetime

from django.conf import settings
from django.db import models

from billing.models.account import Account, Membership


class Invitation(models.Model):
    """email: in small letters; only who has that address may accept.  number: how often it was sent, so that the link
    of the newest mail alone works.

    Open until one of accepted_at, revoked_at is set or expires_at has passed. An open one takes a seat.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=10, choices=Membership.Role.choices, default=Membership.Role.MEMBER)
    number = models.PositiveIntegerField(default=1)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "email"],
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="invitation_one_open",
            ),
        ]

    def is_open(self, now: datetime) -> bool:
        return self.accepted_at is None and self.revoked_at is None and now < self.expires_at

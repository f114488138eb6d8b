"""WordEntry: the account's own ledger. One line a check, written when it ends, never changed."""

import uuid

from django.db import models
from django.db.models.functions import Now

from billing.models.account import Account


class WordEntry(models.Model):
    """check_id: what was checked; the line outlives it, and says nothing of the text.  words: charged, 0 unless kind
    is charged.
    """

    class Kind(models.TextChoices):
        CHARGED = "charged"  # a verdict was given
        FAILED = "failed"  # no verdict: our fault
        ABSTAINED = "abstained"  # not enough evidence
        REPLAYED = "replayed"  # a stored answer, sent again
        CACHED = "cached"  # the same text had a verdict
        TEST = "test"  # by a test key
        DELETED = "deleted"  # deleted before there was a verdict

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="word_entries")
    check_id = models.UUIDField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    words = models.PositiveIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            # Two workers may end the same check; a replay is a line of its own each time.
            models.UniqueConstraint(
                fields=["check_id"], condition=~models.Q(kind="replayed"), name="word_entry_once_per_check"
            ),
            models.CheckConstraint(
                condition=models.Q(words=0) | models.Q(kind="charged"), name="word_entry_charged_only"
            ),
        ]
        indexes = [models.Index(fields=["account", "-at", "id"], name="word_entry_list")]

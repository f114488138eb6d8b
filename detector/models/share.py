"""Share: a link under which anybody reads one verdict, until it expires. Revoking it deletes the row."""

import uuid

from django.db import models

from detector.models.submission import Submission

TOKEN_DIGEST_CHARACTERS = 64


class Share(models.Model):
    """submission: deleting it deletes the share, and a text that it no longer has is no longer shared.

    token_digest: SHA-256 of what stands in the address; that is random enough to need no key.  sealed_token: the same,
    encrypted (inkcloak.sealing), for the owner to copy again.  with_text: the text and its marked passages are shown.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="shares")
    token_digest = models.CharField(max_length=TOKEN_DIGEST_CHARACTERS, unique=True)
    sealed_token = models.TextField()
    with_text = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")), name="share_expires_after_it_is_made"
            )
        ]
        indexes = [models.Index(fields=["submission", "-created_at", "id"], name="share_list")]

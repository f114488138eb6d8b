"""The facts of a report as plain data, and their signature.

`contents` is what is signed: the verdict as every way in says it, the versions that it rests on, and hashes. The text
itself is in it only where its owner says so; its hash always, so that whoever has the text can tell it is this one.
"""

import hashlib
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from detector import presenting
from detector.models import Submission
from inkcloak import report_keys
from inkcloak.api import Refused
from inkcloak.client import reports

FORMAT = 1  # of the report; a reader that knows a lower one must not guess
NOTICE = (
    "A statement about the text, not about who wrote it or how. A score is evidence, never proof, and must not be the "
    "only basis for acting against somebody."
)
# What differs between two reports of the same check.
OF_THE_OCCASION = ("issued_at", "issuer", "text", "content_sha256")
# Made-up reports are signed with a key that everybody knows and nobody publishes, so that none is ever believed.
MADE_UP_KEY_ID = "made-up"
MADE_UP_SEED = reports.encode(hashlib.sha256(b"inkcloak: reports of test keys").digest())


def contents(submission: Submission, *, now: datetime, include_text: bool = False, live: bool = True) -> dict[str, Any]:
    """What a report of this check says.

    now: when it is issued.  Raises Refused (409): not_finished without a verdict, text_not_stored where the text is
    asked for and gone.
    """
    if submission.status != Submission.Status.DONE:
        raise Refused(409, "not_finished", _("This check has no verdict, so there is nothing to report."))
    if include_text and not submission.text:
        raise Refused(409, "text_not_stored", _("The text of this check was not stored, so no report can show it."))
    said: dict[str, Any] = {
        "object": "report",
        "format": FORMAT,
        "issuer": settings.PUBLIC_URL,
        "issued_at": now.isoformat(timespec="seconds"),
        "live": live,
        "id": str(submission.pk),
        "created_at": submission.accepted_at.isoformat(),
        "finished_at": submission.finished_at.isoformat() if submission.finished_at else None,
        "text_sha256": submission.digest or None,
        **presenting.answer(submission),
        "notice": NOTICE,
    }
    said["content_sha256"] = fingerprint(said)
    return said | ({"text": submission.text} if include_text else {})


def fingerprint(said: dict[str, Any]) -> str:
    """SHA-256 of what does not differ between two reports of the same check: the PDF and each signed report have it."""
    lasting = {name: value for name, value in said.items() if name not in OF_THE_OCCASION}
    return hashlib.sha256(reports.canonical(lasting)).hexdigest()


def signed(said: dict[str, Any]) -> dict[str, Any]:
    """The report that `inkcloak verify` believes; a made-up one it doesn't. Raises Unavailable (no_signing_key)."""
    if not said["live"]:
        return reports.sign(said, MADE_UP_SEED, key_id=MADE_UP_KEY_ID)
    return reports.sign(said, report_keys.signing_seed())


def disposition(submission: Submission, ending: str) -> str:
    """A file whose name says which check it is about, and nothing of the text."""
    return f'attachment; filename="inkcloak-report-{submission.pk}.{ending}"'

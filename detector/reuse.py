"""Repeats: a text whose owner had it checked before gets the same verdict again, to the digit and at no cost.

Only the owner's own checks answer, each while it exists: a fast answer must never tell that somebody else had the
text, and what was deleted is gone. No cache beside the rows: forgetting a row forgets its answer.
"""

from collections.abc import Collection
from copy import copy
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform

from billing.accounts import Owner
from detector import verdicts
from detector.models import Submission, Verdict
from gpujobs import registry
from gpujobs.pod.shared.normalise import NORMALISER_VERSION

# Of the model that judged, as its manifest has it today.
CALIBRATION = KeyTextTransform("calibration_version", "verdict__model_version__manifest")


def earlier(asked: Submission, *, now: datetime) -> Submission | None:
    """The owner's check whose verdict is also the answer to `asked`, which need not be stored yet; None: score it.

    Needs a transaction: the row found stays locked until its end, so that whoever deletes it waits for the copy.
    """
    if not settings.REUSE_DAYS:
        return None
    in_service = Q(verdict__model_version=asked.model_version)
    if not asked.pinned:
        # The CPU's own model answers too, where it was not a makeshift for the one that was out of reach.
        in_service |= Q(verdict__model_version__aliases__name=registry.CHAMPION_CPU, verdict__degraded=False)
    same = Submission.objects.filter(
        in_service,
        account=asked.account,
        visitor=asked.visitor,
        digest=asked.digest,
        status=Submission.Status.DONE,
        # How language and words are found has no version of its own, and thresholds hang on both.
        language=asked.language,
        words=asked.words,
        verdict__calibration_version=CALIBRATION,
        verdict__normaliser_version=NORMALISER_VERSION,
        verdict__max_fpr=verdicts.cap_of(asked.model_version.manifest, asked.max_fpr),
        verdict__probability__isnull=False,
        verdict__created_at__gt=now - timedelta(days=settings.REUSE_DAYS),
    )
    # A copy is as old as its verdict: the check that was scored comes before its repeats.
    newest = same.select_related("verdict", "model_version").order_by("-verdict__created_at", "accepted_at")
    return newest.select_for_update(of=("self",), no_key=True).first()


def seen(owner: Owner, digests: Collection[str]) -> set[str]:
    """Of many texts, in one query: those of which the owner has a finished check, so that `earlier` may find it."""
    if not settings.REUSE_DAYS:
        return set()
    mine = Submission.objects.filter(account=owner.account, visitor=owner.visitor, status=Submission.Status.DONE)
    return set(mine.filter(digest__in=digests).values_list("digest", flat=True))


def repeat(verdict: Verdict, submission: Submission) -> Verdict:
    """Writes `verdict` once more, as that of `submission`. It keeps its date, so repeats don't put off its expiry."""
    again = copy(verdict)
    again.submission = submission
    again.save(force_insert=True)
    return again

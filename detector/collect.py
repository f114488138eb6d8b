"""A finished run -> verdicts. Guarded by the submission's status, so a run may be collected any number of times."""

import logging
from datetime import datetime

from django.db import transaction

from billing import quota
from detector import verdicts, wakeups
from detector.models import Submission
from gpujobs import backends, scoring
from gpujobs.models import GpuRun
from gpujobs.pod.contract import ScoreResponse, TextOut
from inkcloak.lifecycle import advance

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3


def collect(run: GpuRun, *, now: datetime) -> None:
    """Stores a verdict for each text of a succeeded run; gives the texts of a failed one another try, or up."""
    waiting = run.submissions.filter(status=Submission.Status.SCORING).select_related("reservation", "model_version")
    if run.status == GpuRun.Status.FAILED:
        for submission in waiting:
            _try_again(submission, run, now=now)
        return
    response = scoring.response_of(run)
    answers = {text.id: text for text in response.texts}
    tier = backends.get(run.backend).tier
    for submission in waiting:
        _finish(submission, answers[str(submission.pk)], response, run=run, tier=tier, now=now)


def _finish(
    submission: Submission, answer: TextOut, response: ScoreResponse, *, run: GpuRun, tier: str, now: datetime
) -> None:
    if answer.error:
        log.warning("submission %s: %s", submission.pk, answer.error)
        give_up(submission, answer.error, now=now)
        return
    with transaction.atomic():
        mine = Submission.objects.filter(pk=submission.pk, run=run)
        if not advance(mine, Submission.Status.DONE, finished_at=now):
            return  # deleted, overdue, or collected by somebody else
        verdicts.record(submission, answer, response, tier=tier, now=now)
        if submission.reservation is not None:
            quota.settle(submission.reservation)
    wakeups.announce(submission.pk)


def _try_again(submission: Submission, run: GpuRun, *, now: datetime) -> None:
    if submission.attempts >= MAX_ATTEMPTS:
        give_up(submission, run.failure_code, now=now)
        return
    mine = Submission.objects.filter(pk=submission.pk, run=run)
    if advance(mine, Submission.Status.QUEUED, run=None):
        wakeups.queue_has_work()


def give_up(submission: Submission, code: str, *, now: datetime) -> None:
    """Ends a submission without a verdict; what was reserved for it is free again."""
    with transaction.atomic():
        mine = Submission.objects.filter(pk=submission.pk)
        if not advance(mine, Submission.Status.FAILED, failure_code=code, finished_at=now):
            return
        if submission.reservation is not None:
            quota.release(submission.reservation)
    wakeups.announce(submission.pk)

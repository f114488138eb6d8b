"""A finished run -> verdicts. Guarded by the submission's status, so a run may be collected any number of times."""

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import F

from billing import quota
from detector import verdicts, wakeups
from detector.models import Submission
from gpujobs import backends, scoring
from gpujobs.models import GpuRun
from gpujobs.pod.contract import ContractError, ScoreResponse, TextOut
from inkcloak.lifecycle import advance

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
NO_VERDICT = "no_verdict"  # scores came, but no verdict could be made of them


def collect(run: GpuRun, *, now: datetime) -> None:
    """Stores a verdict for each text of a succeeded run; gives the texts of a failed one another try, or up."""
    waiting = run.submissions.filter(status=Submission.Status.SCORING).select_related("reservation", "model_version")
    response = _response(run)
    if response is None:
        for submission in waiting:
            _try_again(submission, run, now=now)
        return
    answers = {text.id: text for text in response.texts}
    tier = backends.get(run.backend).tier
    for submission in waiting:
        try:
            _finish(submission, answers[str(submission.pk)], response, run=run, tier=tier, now=now)
        except (KeyError, ValueError) as error:  # no verdict for one text must not hold up the others, or the sweep
            log.error("submission %s: no verdict: %s", submission.pk, type(error).__name__)
            give_up(submission, NO_VERDICT, now=now)


def _response(run: GpuRun) -> ScoreResponse | None:
    """The scores of a run; None of a failed one, and of one whose answer a release with another contract kept."""
    if run.status == GpuRun.Status.FAILED:
        return None
    try:
        return scoring.response_of(run)
    except ContractError as error:
        log.error("run %s: %s", run.pk, error)
        return None


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
        verdicts.record(submission, answer, response, tier=tier, degraded=run.degraded, now=now)
        if submission.reservation is not None:
            quota.settle(submission.reservation)
    wakeups.announce(submission.pk)


def _try_again(submission: Submission, run: GpuRun, *, now: datetime) -> None:
    if submission.attempts >= MAX_ATTEMPTS and run.failure_code not in backends.NOT_TRIED:
        give_up(submission, run.failure_code or NO_VERDICT, now=now)
        return
    mine = Submission.objects.filter(pk=submission.pk, run=run)
    uncounted = {"attempts": F("attempts") - 1} if run.failure_code in backends.NOT_TRIED else {}
    if advance(mine, Submission.Status.QUEUED, run=None, **uncounted):
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

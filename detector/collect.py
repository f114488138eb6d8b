"""A finished run -> verdicts. Guarded by the submission's status, so a run may be collected any number of times."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django.db import DataError, IntegrityError, transaction
from django.db.models import F

from billing import ledger, quota
from billing.models import IdempotentCall
from detector import batches, verdicts, wakeups, webhooks
from detector.models import Submission, Verdict
from gpujobs import backends, scoring
from gpujobs.models import GpuRun
from gpujobs.pod.contract import ContractError, ScoreResponse, TextOut
from inkcloak.lifecycle import advance

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
NO_VERDICT = "no_verdict"  # scores came, but no verdict could be made of them


def collect(run: GpuRun, *, now: datetime) -> None:
    """Stores a verdict for each text of a succeeded run; gives the texts of a failed one another try, or up."""
    # One model version for all, fetched once: its manifest is tens of kilobytes.
    rows = run.submissions.filter(status=Submission.Status.SCORING)
    waiting = list(rows.select_related("reservation").prefetch_related("model_version"))
    response = _response(run)
    if response is None:
        for submission in waiting:
            _try_again(submission, run, now=now)
        return
    answers = {text.id: text for text in response.texts}
    tier = backends.get(run.backend).tier
    found = [_judge(submission, answers, response, run=run, tier=tier, now=now) for submission in waiting]
    _store([verdict for verdict in found if verdict is not None], run, now=now)


def _response(run: GpuRun) -> ScoreResponse | None:
    """The scores of a run; None of a failed one, and of one whose answer a release with another contract kept."""
    if run.status == GpuRun.Status.FAILED:
        return None
    try:
        return scoring.response_of(run)
    except ContractError as error:
        log.error("run %s: %s", run.pk, error)
        return None


def _judge(
    submission: Submission,
    answers: Mapping[str, TextOut],
    response: ScoreResponse,
    *,
    run: GpuRun,
    tier: str,
    now: datetime,
) -> Verdict | None:
    """The verdict; None where there is none: the text is given up then, and does not hold up the others."""
    code = NO_VERDICT
    try:
        answer = answers[str(submission.pk)]
        if not answer.error:
            return verdicts.of(submission, answer, response, tier=tier, degraded=run.degraded, now=now)
        code = answer.error
        log.warning("submission %s: %s", submission.pk, code)
    except (KeyError, ValueError) as error:
        log.error("submission %s: no verdict: %s", submission.pk, type(error).__name__)
    give_up(submission, code, now=now)
    return None


def _store(found: Sequence[Verdict], run: GpuRun, *, now: datetime) -> None:
    """A run's verdicts in one transaction; if the database refuses one of them, one by one, so that it fails alone."""
    try:
        _store_together(found, run, now=now)
        return
    except (IntegrityError, DataError) as error:
        log.error("run %s: verdicts not stored together: %s", run.pk, type(error).__name__)
    for verdict in found:
        try:
            _store_together([verdict], run, now=now)
        except (IntegrityError, DataError) as error:
            log.error("submission %s: no verdict: %s", verdict.submission_id, type(error).__name__)
            give_up(verdict.submission, NO_VERDICT, now=now)


def _store_together(found: Sequence[Verdict], run: GpuRun, *, now: datetime) -> None:
    """Verdicts of those that still wait for this run, each charged. Locks submissions before reservations before
    meters, as whoever deletes or gives up does."""
    with transaction.atomic():
        # In one order: two that collect the same run don't wait for each other in a circle.
        scoring_ = Submission.objects.filter(run=run, status=Submission.Status.SCORING).order_by("pk")
        named = scoring_.filter(pk__in=[verdict.submission_id for verdict in found])
        mine = set(named.select_for_update().values_list("pk", flat=True))
        ours = [verdict for verdict in found if verdict.submission_id in mine]  # not deleted, overdue or collected
        if not ours:
            return
        advance(Submission.objects.filter(pk__in=mine), Submission.Status.DONE, finished_at=now)
        Verdict.objects.bulk_create(ours)
        quota.settle(*(v.submission.reservation for v in ours if v.submission.reservation is not None))
        _forget_text(v.submission for v in ours)
        ledger.note_many(_charged(v.submission) for v in ours)
        webhooks.detections_finished(mine, now=now)
    wakeups.announce(*mine)
    batches.look((v.submission.batch_id for v in ours), now=now)


def _charged(submission: Submission) -> ledger.Line:
    words = submission.reservation.amount if submission.reservation is not None else 0
    return ledger.Line(submission.account_id, submission.pk, ledger.Kind.CHARGED, words)


def _forget_text(ended: Iterable[Submission]) -> None:
    """Of those whose owner wants it kept no longer than the check takes."""
    named = [submission.pk for submission in ended if not submission.store]
    if named:
        Submission.objects.filter(pk__in=named).update(text="")


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
        _forget_text([submission])
        # Whoever sends the same request again means another try, not the same failure.
        IdempotentCall.objects.filter(resource=f"check:{submission.pk}").delete()
        ledger.note(submission.account, submission.pk, ledger.Kind.FAILED)
        webhooks.detections_finished([submission.pk], now=now)
    wakeups.announce(submission.pk)
    batches.look([submission.batch_id], now=now)

"""One check: its page, the wait for its verdict, deleting it, checking its text again."""

import uuid
from collections import Counter
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from billing import accounts
from billing.throttling import check_burst
from detector import highlighting, history, intake, retention, sharing, wakeups
from detector.forms import nonce_of
from detector.models import Share, Submission
from detector.views import errors, story
from detector.views.check import to_result
from gpujobs import budget_gate, routing
from inkcloak.errors import DomainError

LONG_POLL_SECONDS = 20.0
SLOW_SECONDS = 10  # from here on the page says that it takes longer than usual


@require_safe
def result(request: HttpRequest, submission_id: uuid.UUID) -> HttpResponse:
    submission = find(request, submission_id)
    if submission is None:
        return errors.not_found(request)
    return _render(request, "detector/result.html", submission)


async def status(request: HttpRequest, submission_id: uuid.UUID) -> HttpResponse:
    """A fragment for the page that waits: the verdict as soon as there is one, else the progress so far."""
    if not request.headers.get("HX-Request"):
        return redirect("detector:result", submission_id)
    if not await sync_to_async(_is_finished)(request, submission_id):
        await wakeups.wait_until_finished(submission_id, seconds=LONG_POLL_SECONDS)
    return await sync_to_async(_fragment)(request, submission_id)


def delete(request: HttpRequest, submission_id: uuid.UUID) -> HttpResponse:
    """GET asks, POST deletes."""
    submission = find(request, submission_id)
    if submission is None:
        return errors.not_found(request)
    if request.method != "POST":
        context = {"submission": submission, "title": history.title(submission)}
        return render(request, "detector/delete.html", context)
    retention.delete(submission)
    messages.success(request, _("Deleted. The text and its verdict are gone."))
    return redirect("detector:history")


@require_POST
async def recheck(request: HttpRequest, submission_id: uuid.UUID) -> HttpResponse:
    """The same text once more, by the model that is in service now."""
    again = await sync_to_async(_again)(request, submission_id)
    return again if isinstance(again, HttpResponse) else await to_result(again)


def find(request: HttpRequest, submission_id: uuid.UUID) -> Submission | None:
    """The asker's own check. A stranger's and a deleted one are the same None."""
    try:
        return history.get(accounts.reader_of(request), submission_id)
    except Submission.DoesNotExist:
        return None


def _again(request: HttpRequest, submission_id: uuid.UUID) -> Submission | HttpResponse:
    check_burst(request)
    before = find(request, submission_id)
    if before is None:
        return errors.not_found(request)
    return intake.accept(
        owner=accounts.owner_of(request),
        text=before.text,
        source=Submission.Source.PAGE,
        now=timezone.now(),
        nonce=nonce_of(request),
        recheck_of=before,
        asked=intake.Asked(max_fpr=before.max_fpr, file_name=before.file_name),
    )


def _is_finished(request: HttpRequest, submission_id: uuid.UUID) -> bool:
    submission = find(request, submission_id)
    return submission is None or submission.is_finished


def _fragment(request: HttpRequest, submission_id: uuid.UUID) -> HttpResponse:
    submission = find(request, submission_id)
    if submission is None:  # deleted meanwhile: loading the page again says so
        return HttpResponse(headers={"HX-Refresh": "true"})
    return _render(request, "detector/partials/check.html", submission)


def _render(request: HttpRequest, template: str, submission: Submission) -> HttpResponse:
    context: dict[str, Any] = {
        "submission": submission,
        "headline": story.headline(submission),
        "title": history.title(submission),
        "nonce": uuid.uuid4(),
        "swapped": template.startswith("detector/partials"),
    }
    if submission.status == Submission.Status.DONE:
        context |= about(submission) | _links(request, submission)
    elif submission.status == Submission.Status.FAILED:
        context["failure"] = story.failure(submission)
    else:
        elapsed = max(0, int((timezone.now() - submission.accepted_at).total_seconds()))
        slow = elapsed >= SLOW_SECONDS
        context |= {"elapsed": elapsed, "slow": slow, "shut": _shut(submission) if slow else None}
    response = render(request, template, context)
    response["Cache-Control"] = "no-store, private"  # somebody's text: not for the next person at this browser
    return response


def _shut(submission: Submission) -> DomainError | None:
    """Why no GPU may take it, where only a GPU would."""
    now = timezone.now()
    if submission.status != Submission.Status.QUEUED or routing.current_policy(now) != routing.GPU:
        return None
    return budget_gate.shut(now, [submission.account_id] if submission.account_id else ())


def about(submission: Submission) -> dict[str, Any]:
    """What the page says of a verdict, to its owner and to whoever has a link."""
    verdict = submission.verdict
    left_out: Counter[str] = Counter()
    for part in verdict.left_out:
        left_out[part["kind"]] += part["end"] - part["start"]
    return {
        "verdict": verdict,
        "runs": highlighting.runs(submission.text, verdict.segments, verdict.left_out),
        "left_out": [{"kind": kind, "characters": count} for kind, count in left_out.most_common()],
        "min_words": submission.model_version.manifest["min_words"],
    }


def _links(request: HttpRequest, submission: Submission) -> dict[str, Any]:
    """What an account may share. A visitor's check lives for a day; what is shown to the world has an owner."""
    if submission.account_id is None:
        return {}
    now = timezone.now()
    return {
        "shares": [_link(request, share) for share in sharing.of(submission, now=now)],
        "share_lifetimes": sharing.LIFETIMES_DAYS,
        "share_days": sharing.DEFAULT_DAYS,
        "forgotten_at": sharing.forgotten_at(submission),
    }


def _link(request: HttpRequest, share: Share) -> dict[str, Any]:
    token = sharing.link_token(share)
    return {
        "id": share.pk,
        "url": token and request.build_absolute_uri(reverse("detector:shared", args=[token])),
        "with_text": share.with_text,
        "expires_at": share.expires_at,
    }

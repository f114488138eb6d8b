"""Share links: made and revoked by a check's owner, read by whoever has one.

The public page is the same for everybody who asks: no account, no session, no form. Its address is a secret, so no
referrer takes it elsewhere, no cache keeps the page, and no search engine lists it. That is why the language is changed
by a link here: forms of a page without referrer come from nowhere, and are refused as forged.
"""

import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from detector import sharing
from detector.models import Share, Submission
from detector.views import errors, result, story
from inkcloak.errors import Conflict, Invalid

HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
}
LANGUAGE_PARAMETER = "lang"

View = Callable[[HttpRequest, str], HttpResponse]


def kept_quiet(view: View) -> View:
    """In the language that the address names, else the reader's; with the headers that a secret address needs."""

    @wraps(view)
    def quietly(request: HttpRequest, token: str) -> HttpResponse:
        named = request.GET.get(LANGUAGE_PARAMETER, "")
        language = named if named in dict(settings.LANGUAGES) else translation.get_language() or settings.LANGUAGE_CODE
        with translation.override(language):
            response = view(request, token)
        for name, value in HEADERS.items():
            response[name] = value
        response["Content-Language"] = language
        return response

    return quietly


@require_safe
@kept_quiet
def show(request: HttpRequest, token: str) -> HttpResponse:
    """The verdict. Expired, revoked, deleted and never made are one and the same page."""
    share = sharing.read(token, now=timezone.now())
    if share is None:
        return render(request, "detector/share_gone.html", status=404)
    return render(request, "detector/share.html", _context(share))


@require_POST
def make(request: HttpRequest, submission_id: uuid.UUID) -> HttpResponse:
    submission = _mine(request, submission_id)
    if submission is None:
        return errors.not_found(request)
    try:
        sharing.create(
            submission, now=timezone.now(), days=_days(request), with_text=request.POST.get("with_text") == "1"
        )
    except Submission.DoesNotExist:  # deleted at this moment
        return errors.not_found(request)
    except (Invalid, Conflict) as error:
        messages.error(request, str(error.message))
    else:
        messages.success(request, _("The link is made. Copy it under “Share this verdict”."))
    return _back_to(submission)


@require_POST
def revoke(request: HttpRequest, submission_id: uuid.UUID, share_id: uuid.UUID) -> HttpResponse:
    submission = _mine(request, submission_id)
    if submission is None or not sharing.revoke(submission, share_id):
        return errors.not_found(request)
    messages.success(request, _("The link is revoked: it leads nowhere now."))
    return _back_to(submission)


def _back_to(submission: Submission) -> HttpResponse:
    return redirect(reverse("detector:result", args=[submission.pk]) + "#share")


def _mine(request: HttpRequest, submission_id: uuid.UUID) -> Submission | None:
    """The asker's own check, of an account."""
    submission = result.find(request, submission_id)
    return submission if submission is not None and submission.account_id is not None else None


def _days(request: HttpRequest) -> int:
    """0, which is no lifetime, for nonsense."""
    written = request.POST.get("days", "")
    return int(written) if written.isascii() and written.isdigit() and len(written) < 4 else 0


def _context(share: Share) -> dict[str, Any]:
    submission = share.submission
    return result.about(submission) | {
        "share": share,
        "submission": submission,
        "headline": story.headline(submission),
        "shared": True,
        "shows_text": share.with_text and bool(submission.text),
    }

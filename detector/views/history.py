"""The list of one's checks: an account's, or this visit's."""

import uuid
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing import accounts
from detector import history
from detector.forms import filters_of
from detector.models import Submission
from detector.views import story


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """Searched and filtered by the address, so that a page can be kept and the back button works."""
    filters = filters_of(request)
    page = history.page(accounts.reader_of(request), filters, request.GET.get("page", 1))
    kept = {name: value for name, value in (("q", filters.query), ("label", filters.label)) if value}
    context = {
        "page": page,
        "rows": [_row(submission) for submission in page],
        "filters": filters,
        "labels": story.LABELS.items(),
        "kept": urlencode(kept) + "&" if kept else "",
        "filtered": bool(kept),
    }
    response = render(request, "detector/history.html", context)
    response["Cache-Control"] = "no-store, private"
    return response


def _row(submission: Submission) -> dict[str, Any]:
    done = submission.status == Submission.Status.DONE
    return {
        "submission": submission,
        "title": history.title(submission),
        "nonce": uuid.uuid4(),
        "label": story.label(submission),
        "mark": submission.verdict.label if done else submission.status,
        "probability": submission.verdict.probability if done else None,
        "ai_fraction": submission.verdict.ai_fraction if done else None,
    }

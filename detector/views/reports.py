"""What an owner takes along: a check's report, signed or as PDF; the history as a file; and the keys of signatures."""

import hashlib
import json
import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from billing import accounts
from billing.throttling import check_burst
from detector import exports, history
from detector.forms import filters_of
from detector.models import Submission
from detector.reports import contents, document
from detector.views import errors
from detector.views.result import find
from inkcloak import report_keys
from inkcloak.streaming import streamed

KEYS_MAX_AGE_SECONDS = 300  # a new key is known that soon to whoever fetched before
PRIVATE = "no-store, private"


@require_safe
def signed(request: HttpRequest, submission_id: uuid.UUID) -> HttpResponse:
    """The signed report, as a file."""
    found = _said(request, submission_id)
    if isinstance(found, HttpResponse):
        return found
    submission, said = found
    content = json.dumps(contents.signed(said), ensure_ascii=False, indent=1)
    return _file(content.encode(), "application/json", submission, "json")


@require_safe
def pdf(request: HttpRequest, submission_id: uuid.UUID) -> HttpResponse:
    """The report for people, in the page's language."""
    found = _said(request, submission_id)
    if isinstance(found, HttpResponse):
        return found
    submission, said = found
    return _file(document.pdf(submission, said), "application/pdf", submission, "pdf")


@require_safe
def export(request: HttpRequest) -> HttpResponseBase:
    """The history as it is searched and filtered; a wrong form of it is CSV."""
    check_burst(request)
    kind = exports.JSONL if request.GET.get("format") == exports.JSONL else exports.CSV
    rows = history.matching(accounts.reader_of(request), filters_of(request))
    response = streamed(
        request,
        exports.chunks(rows, kind, include_text=_with_text(request)),
        content_type=exports.CONTENT_TYPES[kind],
        headers={"Content-Disposition": exports.disposition(kind, timezone.now())},
    )
    response["Cache-Control"] = PRIVATE
    return response


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """`/.well-known/inkcloak-keys.json`: whoever holds a report can check it, from any page and without us later."""
    content = json.dumps({"keys": [key.as_json() for key in report_keys.published()]}, indent=1).encode()
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=304)
    else:
        response = HttpResponse(content, content_type="application/json")
    response["ETag"] = tag
    response["Cache-Control"] = f"public, max-age={KEYS_MAX_AGE_SECONDS}"
    response["Access-Control-Allow-Origin"] = "*"
    return response


def _said(request: HttpRequest, submission_id: uuid.UUID) -> tuple[Submission, dict[str, Any]] | HttpResponse:
    """The asker's check and what its report says; where there is none, the page that says why."""
    submission = find(request, submission_id)
    if submission is None:
        return errors.not_found(request)
    if submission.status != Submission.Status.DONE:
        return redirect("detector:result", submission_id)
    check_burst(request)
    with_text = _with_text(request) and bool(submission.text)
    return submission, contents.contents(submission, now=timezone.now(), include_text=with_text)


def _with_text(request: HttpRequest) -> bool:
    return request.GET.get("include_text") == "true"


def _file(content: bytes, kind: str, submission: Submission, ending: str) -> HttpResponse:
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = contents.disposition(submission, ending)
    response["Cache-Control"] = PRIVATE
    return response

"""What test keys get: the answers of detector.api.fixtures, with statuses and headers as real ones have them.

Nothing is queued, stored or charged; each check leaves a line of kind `test` in the account's ledger. What a test key
lists are all fixtures, whatever was posted before.
"""

import uuid
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response

from billing import idempotency, ledger
from billing.api.base import account_of
from detector import presenting
from detector.api import fixtures, showing, waiting
from detector.api.serializers import DetectionRequest
from detector.batches import Progress
from detector.models import Batch, Submission
from inkcloak.api import Refused, problem_of
from inkcloak.errors import DomainError

BATCH = uuid.UUID(int=fixtures.MARK << 80 | 0x8FFF << 64 | 1 << 63)


def created(request: Request, said: Mapping[str, Any]) -> Response:
    """Raises Refused for a made-up error, Invalid for what a live key is refused too."""
    fixture = fixtures.chosen(said["text"])
    if said.get("dry_run"):
        return Response(_quote(fixture))
    made = fixtures.row(fixture, fixtures.number_of(fixture, said["text"]), said.get("metadata"))
    return idempotency.run_once(request, lambda: _made(request, made))


def rerun(request: Request, written: str) -> Response:
    """A made-up check run again is itself. Raises Http404 for one that is not made up."""
    made = fixtures.found(written)
    return idempotency.run_once(request, lambda: _made(request, made))


def shown(written: str) -> Response:
    """Raises Http404 for an id that is not made up: a test key sees nothing that is real."""
    return Response(_detection(fixtures.found(written)))


def listed(request: Request) -> list[dict[str, Any]]:
    """One check of each kind, as many as the page holds."""
    limit = int(request.query_params.get("limit", len(fixtures.FIXTURES)))
    return [_summary(fixtures.row(fixture, fixtures.number_of(fixture, ""))) for fixture in fixtures.FIXTURES[:limit]]


def batch_created(request: Request, texts: Sequence[Any], *, dry_run: bool) -> Response:
    """Each text's own fixture, or its problem."""
    chosen = [_chosen(request, text) for text in texts]
    if dry_run:
        items = [
            {
                "place": place,
                "quote": _quote(found) if isinstance(found, fixtures.Fixture) else None,
                "problem": problem,
            }
            for place, (found, problem, _text) in enumerate(chosen)
        ]
        return Response(showing.batch_quote(items, words=0, balance=fixtures.BALANCE))
    return idempotency.run_once(request, lambda: _batch_made(request, chosen), kind="batch")


def batch_shown(written: str) -> Response:
    """The one made-up batch: a text of each kind. Raises Http404 for any other."""
    if written.lower() != str(BATCH):
        raise Http404
    rows = [fixtures.row(fixture, fixtures.number_of(fixture, "")) for fixture in fixtures.FIXTURES]
    return Response(_batch([(row, None) for row in rows]))


Chosen = tuple[fixtures.Fixture | None, dict[str, Any] | None, str]


def _chosen(request: Request, said: Any) -> Chosen:
    """The fixture or the problem, and the text."""
    try:
        asked = DetectionRequest(data=said)
        asked.is_valid(raise_exception=True)
        text: str = asked.validated_data["text"]
        return fixtures.chosen(text), None, text
    except (DomainError, APIException) as error:
        problem = problem_of(error)
        if problem is None:
            raise
        return None, problem.body(request._request), ""


def _batch_made(request: Request, chosen: Sequence[Chosen]) -> Response:
    ledger.note_many(
        ledger.Line(account_of(request).pk, uuid.uuid4(), ledger.Kind.TEST) for found, *_rest in chosen if found
    )
    rows = [
        (fixtures.row(found, fixtures.number_of(found, text)) if found else None, problem)
        for found, problem, text in chosen
    ]
    response = Response(_batch(rows), HTTPStatus.ACCEPTED)
    response["Location"] = request.build_absolute_uri(reverse("detector_api:batch", args=[str(BATCH)]))
    return response


def _batch(rows: Sequence[tuple[Submission | None, dict[str, Any] | None]]) -> dict[str, Any]:
    statuses = [row.status for row, _problem in rows if row is not None]
    progress = Progress(
        done=statuses.count(Submission.Status.DONE),
        failed=statuses.count(Submission.Status.FAILED),
        in_flight=statuses.count(Submission.Status.QUEUED),
    )
    batch = Batch(
        pk=BATCH,
        created_at=fixtures.MOMENT,
        finished_at=None if progress.in_flight else fixtures.MOMENT + fixtures.TOOK,
        texts=len(rows),
        refused=len(rows) - len(statuses),
    )
    items = [
        {"place": place, "detection": _summary(row) if row else None, "problem": problem}
        for place, (row, problem) in enumerate(rows)
    ]
    return showing.batch(batch, progress) | {"live": False, "items": items}


def _made(request: Request, submission: Submission) -> Response:
    ledger.note(account_of(request), uuid.uuid4(), ledger.Kind.TEST)
    if submission.status == Submission.Status.FAILED:
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "check_failed", _("This error is made up: the text names it."))
    status = HTTPStatus.CREATED if submission.is_finished else HTTPStatus.ACCEPTED
    response = Response(_detection(submission), status)
    address = reverse("detector_api:detection", args=[str(submission.pk)])
    response["Location"] = request.build_absolute_uri(address)
    if not submission.is_finished:
        response["Retry-After"] = str(waiting.RETRY_SECONDS)
    return response


def _detection(submission: Submission) -> dict[str, Any]:
    return presenting.detection(submission, fixtures.BALANCE) | {"live": False}


def _summary(submission: Submission) -> dict[str, Any]:
    return presenting.summary(submission) | {"live": False}


def _quote(fixture: fixtures.Fixture) -> dict[str, Any]:
    reason = fixture.verdict.get("reason")
    return {
        "object": "quote",
        "sufficient": reason is None,
        "reason": reason,
        "cached": fixture.cached,
        "language": "en",
        "words": 0 if reason else fixtures.WORDS,
        "characters": fixtures.LENGTH,
        "words_to_charge": 0,
        "affordable": True,
        "balance": presenting.left(fixtures.BALANCE),
    }

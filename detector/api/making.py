"""Steps that the views share: find a check, make one once for an Idempotency-Key, answer when it is ready.

What is stored for a key is a reference: replaying it reads the detection anew, so that no verdict lies beside the row
that its owner can delete, and a replay is as good as the first answer.
"""

import uuid
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from billing import accounts, idempotency, quota, throttling
from billing.api.base import key_of, owner_of
from detector import history, intake, pinning, presenting
from detector.api import showing, waiting
from detector.models import Submission
from detector.views import story
from gpujobs.models import ModelVersion
from inkcloak import problems

CHECK_FAILED = "check_failed"
# Lists leave out what only a single check shows: segments of a hundred long texts are megabytes.
LONG_COLUMNS = ("text", *(f"verdict__{name}" for name in presenting.LONG), "model_version__manifest")


def is_live(request: Request) -> bool:
    """False: a test key, which gets what is made up and sees nothing else."""
    key = key_of(request)
    return key is not None and key.live


def identifier(written: str) -> uuid.UUID:
    """An id as it stands in an address. What is none names nothing, as a stranger's does."""
    try:
        return uuid.UUID(written)
    except ValueError:
        raise Http404 from None


def find(owner: accounts.Owner, written: str) -> Submission:
    """One of the account's own checks. Raises Http404 for a stranger's, a deleted one and nonsense, alike."""
    found = _rows(owner).filter(pk=identifier(written)).first()
    if found is None:
        raise Http404
    return found


def _rows(owner: accounts.Owner) -> "QuerySet[Submission]":
    """The owner's checks, as one is shown: without its text, and without what its model's folder says of itself."""
    return history.of(owner).select_related("reservation").defer("text", "model_version__manifest")


def asked_for(
    request: Request, said: Mapping[str, Any], *, known: dict[str, ModelVersion] | None = None
) -> intake.Asked:
    """What the caller said about a text. Raises Invalid or Conflict for a model version that can't be called.

    known: versions that were looked up before; filled.
    """
    known = {} if known is None else known
    name = said.get("model")
    if name and name not in known:
        known[name] = pinning.named(name, now=timezone.now())
    return intake.Asked(
        language=said.get("language", ""),
        pinned=known[name] if name else None,
        max_fpr=said.get("max_fpr", ""),
        store=said.get("store", True),
        metadata=said.get("metadata", {}),
        api_key=key_of(request),
    )


def price(request: Request, said: Mapping[str, Any]) -> dict[str, Any]:
    """What a check would cost; what it would refuse is refused. Stores nothing."""
    now, owner = timezone.now(), owner_of(request)
    ready = intake.read(said["text"], asked=asked_for(request, said))
    cached = intake.is_repeat(ready, owner=owner, now=now)
    return showing.quote(ready, cached=cached, balance=balance_of(owner))


def balance_of(owner: accounts.Owner) -> quota.Balance:
    return quota.balance(accounts.allowance_of(owner, timezone.now()))


def once(
    request: Request,
    make: Callable[[uuid.UUID | None], uuid.UUID],
    *,
    kind: str = "check",
    also: dict[str, Any] | None = None,
) -> Response:
    """Has something made, once for an Idempotency-Key: `{"id": …}`, and under `also` what `make` left there.

    make: gets a number that is the same for whoever takes over from a process that died; gives the id of what it made.
    """
    call = idempotency.begin(request)
    if isinstance(call, Response):
        return call
    try:
        made = make(call.nonce if call is not None else None)
    except BaseException:
        if call is not None:
            call.abandon()
        raise
    response = Response({"id": str(made), "also": also or {}}, HTTPStatus.ACCEPTED)
    if call is not None:
        call.keep(response, f"{kind}:{made}")
    return response


def made(request: Request, submission: Submission) -> uuid.UUID:
    """The id of what was just stored; the first answer tells of the row as it was stored, without reading it again."""
    request._request.made = submission  # type: ignore[attr-defined]
    return submission.pk


def answer_when_ready(request: Request, reference: Response) -> Response:
    """The detection that `reference` names: finished, or as it stands when the client's patience ends."""
    submission_id = uuid.UUID(reference.data["id"])
    again = partial(_made, request, owner_of(request), submission_id)
    response, finished = again()
    seconds = waiting.seconds_of(request, default=waiting.CREATE_WAIT_SECONDS)
    if "Prefer" in request.headers:
        response["Preference-Applied"] = f"wait={seconds}"
    if idempotency.REPLAYED_HEADER in reference:
        response[idempotency.REPLAYED_HEADER] = reference[idempotency.REPLAYED_HEADER]
    if finished or not seconds:
        return response
    return waiting.wait_for(response, waiting.Pending(submission_id, seconds, lambda: again()[0]))


def _made(request: Request, owner: accounts.Owner, submission_id: uuid.UUID) -> tuple[Response, bool]:
    """201 with the verdict, 202 while there is none, a problem where it failed; and whether that is the end of it."""
    submission = _just_made(request, submission_id) or _rows(owner).filter(pk=submission_id).first()
    if submission is None:  # deleted meanwhile
        return problem(request, problems.of_status(HTTPStatus.NOT_FOUND)), True
    if submission.status == Submission.Status.FAILED:
        failure = problems.Problem(HTTPStatus.SERVICE_UNAVAILABLE, CHECK_FAILED, str(story.failure(submission)))
        response = problem(request, failure)
    else:
        status = HTTPStatus.CREATED if submission.is_finished else HTTPStatus.ACCEPTED
        balance = throttling.said(request, balance_of(owner))
        response = Response(presenting.detection(submission, balance), status)
    response["Location"] = address(request, submission.pk)
    if not submission.is_finished:
        response["Retry-After"] = str(waiting.RETRY_SECONDS)
    return response, submission.is_finished


def _just_made(request: Request, submission_id: uuid.UUID) -> Submission | None:
    """Once: whoever waits asks for the row. One that is finished has a verdict to read beside it."""
    found: Submission | None = request._request.__dict__.pop("made", None)
    return found if found is not None and found.pk == submission_id and not found.is_finished else None


def shown(request: Request, submission_id: uuid.UUID) -> Response:
    """The detection as it stands."""
    owner = owner_of(request)
    submission = _rows(owner).filter(pk=submission_id).first()
    if submission is None:  # deleted meanwhile
        return problem(request, problems.of_status(HTTPStatus.NOT_FOUND))
    return Response(presenting.detection(submission, balance_of(owner)))


def address(request: Request, submission_id: uuid.UUID) -> str:
    return request.build_absolute_uri(reverse("detector_api:detection", args=[str(submission_id)]))


def problem(request: Request, found: problems.Problem) -> Response:
    """Where no exception can be raised any more: after the view."""
    return Response(found.body(request._request), found.status, content_type=problems.CONTENT_TYPE)

"""/detections: create, list, read, delete, run again."""

import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing.api.base import ApiView, key_of, owner_of
from billing.models import Scope
from billing.permissions import HasScope
from detector import history, intake, pinning, presenting, retention
from detector.api import answers, fixtures, made_up, making, waiting
from detector.api.serializers import DetectionRequest
from detector.models import Submission
from inkcloak.api import Refused
from inkcloak.cursors import CursorPages
from inkcloak.errors import Invalid

READ = HasScope.of(Scope.CHECKS_READ)
WRITE = HasScope.of(Scope.CHECKS_WRITE)
CREATE = (
    "Answers 201 with the verdict, or 202 with `Location` when it is not there within the time of `Prefer: wait=N` (10 "
    "seconds unless named). A text with too little evidence gets the verdict `insufficient`; that, a repeat of the "
    "account's own text and a failed check cost nothing.\n\nA test key gets made-up answers at no cost: a text that "
    f"contains `inkcloak-test:NAME` the one of that name ({', '.join(fixtures.BY_NAME)}, or any error's code), any "
    f"other text `{fixtures.DEFAULT}`."
)


class ByMethod(ApiView):
    """Reading needs one scope, everything else another."""

    def get_permissions(self) -> list[Any]:
        return [READ()] if self.request.method in ("GET", "HEAD", "OPTIONS") else [WRITE()]


class Detections(ByMethod):
    """The account's checks, those of its pages too."""

    newest_by = "accepted_at"
    pagination_class = CursorPages  # for the schema

    @extend_schema(
        operation_id="list_detections",
        summary="The account's checks, newest first",
        description="Whatever way they came in by: page, API or command. Rows leave out segments, rate card and what "
        "was cleaned or left out; `GET /detections/{id}` has them.",
        parameters=[answers.BATCH_PARAMETER],
        responses=answers.ok(answers.DetectionSummary(many=True)) | answers.problems(400),
    )
    def get(self, request: Request) -> Response:
        rows = history.of(owner_of(request)).select_related("reservation").defer(*making.LONG_COLUMNS)
        if (batch := request.query_params.get("batch")) is not None:
            rows = rows.filter(batch=_batch_named(batch))
        pages = CursorPages()
        found = pages.paginate_queryset(rows if making.is_live(request) else rows.none(), request, self) or []
        listed = [presenting.summary(row) for row in found] if making.is_live(request) else made_up.listed(request)
        return pages.get_paginated_response(listed)

    @extend_schema(
        operation_id="create_detection",
        summary="Check one text",
        description=CREATE,
        parameters=[answers.PREFER, answers.IDEMPOTENCY_KEY, answers.LOCATION, answers.REPLAYED],
        request=DetectionRequest,
        responses=answers.ok(answers.Quote)
        | answers.ok(answers.Detection, 201, 202)
        | answers.problems(400, 409, 413, 415, 422, 503),
    )
    def post(self, request: Request) -> Response:
        asked = DetectionRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        if not making.is_live(request):
            return made_up.created(request, said)
        if said.get("dry_run"):
            return Response(making.price(request, said))
        return making.answer_when_ready(request, making.once(request, partial(_accept, request, said)))


class Detection(ByMethod):
    """One check."""

    @extend_schema(
        operation_id="get_detection",
        summary="One check and its verdict",
        description="With `Prefer: wait=N` the answer comes as soon as there is a verdict, or after N seconds as it "
        "stands then. A stranger's check, a deleted one and one that never was are the same 404.",
        parameters=[answers.DETECTION_ID, answers.PREFER],
        responses=answers.ok(answers.Detection) | answers.problems(404),
    )
    def get(self, request: Request, detection_id: str) -> Response:
        if not making.is_live(request):
            return made_up.shown(detection_id)
        submission = making.find(owner_of(request), detection_id)
        response = Response(presenting.detection(submission, making.balance_of(owner_of(request))))
        seconds = waiting.seconds_of(request, default=0)
        if submission.is_finished or not seconds:
            return response
        again = partial(making.shown, request, submission.pk)
        return waiting.wait_for(response, waiting.Pending(submission.pk, seconds, again))

    @extend_schema(
        operation_id="delete_detection",
        summary="Delete a check: its text, verdict and offsets",
        description="At once and for good, with stored answers about it, its share links and what webhooks had still to"
        " tell. One that is being checked costs nothing then; words that were charged stay charged.",
        parameters=[answers.DETECTION_ID],
        request=None,
        responses={204: None} | answers.problems(404),
    )
    def delete(self, request: Request, detection_id: str) -> Response:
        if not making.is_live(request):
            made_up.shown(detection_id)
        else:
            retention.delete(making.find(owner_of(request), detection_id))
        return Response(status=204)


class Rerun(ApiView):
    """The same text once more, by the model version that judged it."""

    permission_classes = [WRITE]

    @extend_schema(
        operation_id="rerun_detection",
        summary="Check the same text again by the same model version",
        description="A new check, charged like any other: it shows whether the same version still says the same.",
        parameters=[answers.DETECTION_ID, answers.PREFER, answers.IDEMPOTENCY_KEY, answers.LOCATION, answers.REPLAYED],
        request=None,
        responses=answers.ok(answers.Detection, 201, 202) | answers.problems(400, 404, 409, 422, 503),
    )
    def post(self, request: Request, detection_id: str) -> Response:
        if not making.is_live(request):
            return made_up.rerun(request, detection_id)
        before = making.find(owner_of(request), detection_id)
        return making.answer_when_ready(request, making.once(request, partial(_rerun, request, before)))


def _batch_named(written: str) -> uuid.UUID:
    """The parameter of a list, whose address exists. Raises Invalid for what is no id, unlike an id in an address."""
    try:
        return uuid.UUID(written)
    except ValueError:
        raise Invalid("bad_id", _("batch must be the id of a batch.")) from None


def _accept(request: Request, said: Mapping[str, Any], nonce: uuid.UUID | None) -> uuid.UUID:
    submission = intake.accept(
        owner=owner_of(request),
        text=said["text"],
        source=Submission.Source.API,
        now=timezone.now(),
        nonce=nonce,
        asked=making.asked_for(request, said),
    )
    return making.made(request, submission)


def _rerun(request: Request, before: Submission, nonce: uuid.UUID | None) -> uuid.UUID:
    """Raises Refused (409) or Conflict where the same text can't be given to the same version any more."""
    now = timezone.now()
    if before.status != Submission.Status.DONE:
        raise Refused(409, "not_finished", _("This check has no verdict, so there is no version to run it on again."))
    if not before.text:
        raise Refused(409, "text_not_stored", _("The text of this check was not stored, so it can't be checked again."))
    version = before.verdict.model_version
    pinning.check_callable(version.pk, now=now)
    submission = intake.accept(
        owner=owner_of(request),
        text=before.text,
        source=Submission.Source.API,
        now=now,
        nonce=nonce,
        recheck_of=before,
        reuse=False,
        asked=intake.Asked(
            language=before.language if before.verdict.probability is not None else "",
            pinned=version,
            max_fpr=before.verdict.max_fpr,
            metadata=before.metadata,
            api_key=key_of(request),
            file_name=before.file_name,
        ),
    )
    return making.made(request, submission)

"""Up to a thousand texts in one request: each is a check of its own and fails alone; nobody waits for it.

Texts are read first and stored chunk by chunk, so that no transaction holds the account's meter while a text is read.
"""

import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from billing import accounts, idempotency
from billing.api.base import ApiView, account_of, owner_of
from billing.models import Scope
from billing.permissions import HasScope
from detector import batches, history, intake, presenting
from detector.api import answers, made_up, making, showing, waiting
from detector.api.serializers import MAX_BATCH_CHARACTERS, BatchRequest, DetectionRequest
from detector.intake import Asked, Ready
from detector.models import Batch, Submission
from gpujobs import registry
from gpujobs.models import ModelVersion
from inkcloak.api import problem_of
from inkcloak.errors import DomainError, Invalid

# Five million characters of four bytes, with room for escapes of a few.
MAX_BODY_BYTES = 24 * 1024 * 1024
CHUNK_TEXTS = 50  # stored in one transaction

Outcome = Ready | Exception
Problems = dict[str, dict[str, Any]]


class CreateBatch(ApiView):
    """Texts to check together."""

    permission_classes = [HasScope.of(Scope.CHECKS_WRITE)]
    max_body_bytes = MAX_BODY_BYTES

    @extend_schema(
        operation_id="create_batch",
        summary="Check up to 1,000 texts",
        description=f"Each text is accepted or refused alone. The body may have {MAX_BODY_BYTES} bytes, its texts "
        f"{MAX_BATCH_CHARACTERS} characters together.",
        parameters=[answers.IDEMPOTENCY_KEY, answers.LOCATION, answers.REPLAYED],
        request=BatchRequest,
        responses=answers.ok(answers.BatchQuote)
        | answers.ok(answers.Batch, 202)
        | answers.problems(400, 409, 413, 415, 422, 503),
    )
    def post(self, request: Request) -> Response:
        asked = BatchRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        texts, dry_run = asked.validated_data["texts"], asked.validated_data.get("dry_run", False)
        _check_together(texts)
        if not making.is_live(request):
            return made_up.batch_created(request, texts, dry_run=dry_run)
        if dry_run:
            return Response(_prices(request, texts))
        refusals: Problems = {}
        reference = making.once(request, partial(_accept, request, texts, refusals), kind="batch", also=refusals)
        return _answer(request, reference)


class ReadBatch(ApiView):
    """A batch and its checks."""

    permission_classes = [HasScope.of(Scope.CHECKS_READ)]

    @extend_schema(
        operation_id="get_batch",
        summary="How far a batch is, and its checks",
        description="`items` holds, in the order of the request, each text's check or the problem that kept it from "
        "being one. Nothing of a text is in it: ask for each check by its id.",
        parameters=[answers.BATCH_ID],
        responses=answers.ok(answers.Batch) | answers.problems(404),
    )
    def get(self, request: Request, batch_id: str) -> Response:
        if not making.is_live(request):
            return made_up.batch_shown(batch_id)
        batch = Batch.objects.filter(account=account_of(request), pk=making.identifier(batch_id)).first()
        if batch is None:
            raise Http404
        return Response(_shown(batch, owner_of(request), {}))


def _check_together(texts: Sequence[Any]) -> None:
    """Raises Invalid for more characters than a request may have."""
    said = (text.get("text") for text in texts if isinstance(text, dict))
    characters = sum(len(text) for text in said if isinstance(text, str))
    if characters > MAX_BATCH_CHARACTERS:
        message = _("The texts have %(length)d characters together; the limit is %(limit)d. Nothing was checked.")
        raise Invalid("batch_too_long", message % {"length": characters, "limit": MAX_BATCH_CHARACTERS})


def _accept(request: Request, texts: Sequence[Any], refusals: Problems, nonce: uuid.UUID | None) -> uuid.UUID:
    """Stores what can be checked and fills `refusals` with the rest, by place."""
    owner, now = owner_of(request), timezone.now()
    batch = batches.create(account_of(request), texts=len(texts), now=now, number=nonce)
    reader = _Reader(request)
    for first in range(0, len(texts), CHUNK_TEXTS):
        outcomes = [reader.read(text) for text in texts[first : first + CHUNK_TEXTS]]
        ready = {first + at: found for at, found in enumerate(outcomes) if isinstance(found, Ready)}
        taken = intake.accept_all(owner=owner, texts=ready, batch=batch, source=Submission.Source.API, now=now)
        failed = {first + at: found for at, found in enumerate(outcomes) if isinstance(found, Exception)}
        failed |= {place: found for place, found in taken.items() if isinstance(found, DomainError)}
        refusals |= {str(place): _problem(request, error) for place, error in sorted(failed.items())}
    batches.close(batch, refused=len(refusals), now=timezone.now())
    return batch.pk


def _answer(request: Request, reference: Response) -> Response:
    batch = Batch.objects.filter(pk=reference.data["id"]).first()
    if batch is None:  # past its retention, replayed
        raise Http404
    shown = _shown(batch, owner_of(request), reference.data["also"])
    response = Response(shown, reference.status_code)
    response["Location"] = request.build_absolute_uri(reverse("detector_api:batch", args=[str(batch.pk)]))
    if idempotency.REPLAYED_HEADER in reference:
        response[idempotency.REPLAYED_HEADER] = reference[idempotency.REPLAYED_HEADER]
    if batch.finished_at is None:
        response["Retry-After"] = str(waiting.RETRY_SECONDS)
    return response


def _shown(batch: Batch, owner: accounts.Owner, refusals: Problems) -> dict[str, Any]:
    rows = history.of(owner).filter(batch=batch).select_related("reservation").defer(*making.LONG_COLUMNS)
    found = {row.place or 0: {"detection": presenting.summary(row), "problem": None} for row in rows}
    found |= {int(place): {"detection": None, "problem": refusal} for place, refusal in refusals.items()}
    items = [{"place": place} | found[place] for place in sorted(found)]
    return showing.batch(batch, batches.progress(batch)) | {"items": items}


def _prices(request: Request, texts: Sequence[Any]) -> dict[str, Any]:
    items = list(_quotes(request, texts))
    words = sum(item["quote"]["words_to_charge"] for item in items if item["quote"])
    return showing.batch_quote(items, words=words, balance=making.balance_of(owner_of(request)))


def _quotes(request: Request, texts: Sequence[Any]) -> Iterator[dict[str, Any]]:
    owner, now, reader = owner_of(request), timezone.now(), _Reader(request)
    balance = making.balance_of(owner)
    for place, text in enumerate(texts):
        outcome = reader.read(text)
        if isinstance(outcome, Exception):
            yield {"place": place, "quote": None, "problem": _problem(request, outcome)}
            continue
        cached = intake.is_repeat(outcome, owner=owner, now=now)
        yield {"place": place, "quote": showing.quote(outcome, cached=cached, balance=balance), "problem": None}


class _Reader:
    """Reads one text after the other; a model version that many of them name is looked up once."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.versions: dict[str, ModelVersion] = {}
        self._in_service: ModelVersion | None = None

    def read(self, said: Any) -> Outcome:
        """The text, ready to store, or why it can't be checked."""
        try:
            asked = DetectionRequest(data=said)
            asked.is_valid(raise_exception=True)
            if asked.validated_data.get("dry_run"):
                raise Invalid("dry_run_of_one", _("dry_run is said once, for the whole batch."))
            said = asked.validated_data
            return intake.read(said["text"], asked=self._asked(said), champion=self._champion(said))
        except (DomainError, ValidationError) as error:
            return error

    def _champion(self, said: dict[str, Any]) -> ModelVersion | None:
        if self._in_service is None and not said.get("model"):
            self._in_service = registry.resolve()
        return self._in_service

    def _asked(self, said: dict[str, Any]) -> Asked:
        return making.asked_for(self.request, said, known=self.versions)


def _problem(request: Request, error: Exception) -> dict[str, Any]:
    found = problem_of(error)
    if found is None:
        raise error
    return found.body(request._request)

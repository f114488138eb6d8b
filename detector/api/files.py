"""POST /detections/files: multipart/form-data. The files are one batch; each of them, and each text, fails alone.

Form fields are strings, so the few options are turned into what JSON would have said and then validated like any other.
What is stored for an Idempotency-Key are places and problems: names come from the request, which holds them again.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from billing import idempotency
from billing.api.base import ApiView, account_of, owner_of
from billing.authentication import refuse_key_in_form
from billing.models import Scope
from billing.permissions import HasScope
from detector import batches, history, intake, presenting
from detector.api import answers, made_up, making, showing, waiting
from detector.api.file_shapes import FileBatch, FileBatchQuote, FilesRequest
from detector.files import names, reading
from detector.files.limits import MAX_FILE_BYTES, MAX_FILES, MAX_TEXTS, MAX_UPLOAD_BYTES
from detector.intake import Asked, Ready
from detector.models import Batch, Submission
from inkcloak import strict_json
from inkcloak.api import Refused, problem_of
from inkcloak.errors import DomainError, Invalid

MAX_BODY_BYTES = MAX_UPLOAD_BYTES + 256 * 1024  # the files and the form around them; settings hold a little more
MAX_CHARACTERS = 5_000_000  # of all texts together, as in a batch
CHUNK_TEXTS = 50  # stored in one transaction
FIELD = "files"
MEBIBYTE = 1024 * 1024


# --- The address --------------------------------------------------------------------------------------------


class CreateFromFiles(ApiView):
    """Files to check together."""

    permission_classes = [HasScope.of(Scope.CHECKS_WRITE)]
    parser_classes = [MultiPartParser]
    max_body_bytes = MAX_BODY_BYTES

    @extend_schema(
        operation_id="create_from_files",
        summary="Check files",
        description=f"Parts named `{FIELD}`, {MAX_FILES} at most, of {MAX_FILE_BYTES // MEBIBYTE} MB at most, "
        f"{MAX_UPLOAD_BYTES // MEBIBYTE} MB together, with {MAX_TEXTS} texts and {MAX_CHARACTERS} characters together. "
        "What a file is, is told by its content. Hidden text is left out and counted; each file, and each row of a "
        "table, is accepted or refused alone. The answer is a batch.",
        parameters=[answers.IDEMPOTENCY_KEY, answers.LOCATION, answers.REPLAYED],
        request={"multipart/form-data": FilesRequest},
        responses=answers.ok(FileBatchQuote)
        | answers.ok(FileBatch, 202)
        | answers.problems(400, 409, 413, 415, 422, 503),
    )
    def post(self, request: Request) -> Response:
        said = _said(request)
        sent: list[UploadedFile[Any]] = said.pop(FIELD)
        dry_run = said.pop("dry_run", False)
        if not making.is_live(request):
            return _made_up(request, sent, said, dry_run=dry_run)
        if dry_run:
            return Response(_prices(request, sent, said))
        notes: dict[str, Any] = {}
        reference = making.once(request, partial(_accept, request, sent, said, notes), kind="batch", also=notes)
        return _answer(request, sent, reference)


def _said(request: Request) -> dict[str, Any]:
    """The validated fields. Raises Refused (413, 415), Invalid, ValidationError."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
        message = _("The body has more than %(limit)d bytes, which is the limit here.")
        raise Refused(413, "too_large", message % {"limit": MAX_BODY_BYTES})
    try:
        data = request.data
    except exceptions.UnsupportedMediaType:
        message = _("Send multipart/form-data with one or more parts named files.")
        raise Refused(415, "unsupported_media_type", message) from None
    # Of a form, each name has a list; of no body at all, the framework makes a plain dict.
    fields: dict[str, list[Any]] = dict(data.lists()) if isinstance(data, QueryDict) else {}
    refuse_key_in_form(fields)
    asked = FilesRequest(data={name: _as_json(name, values) for name, values in fields.items()})
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def _as_json(name: str, values: Sequence[Any]) -> Any:
    """What the form's strings would be in JSON; what they can't be stays as it is, for the field to refuse."""
    if name == FIELD:
        return list(values)
    value = values[0] if len(values) == 1 else list(values)
    if not isinstance(value, str):
        return value
    if name in ("store", "dry_run"):
        return {"true": True, "false": False}.get(value, value)
    if name == "metadata":
        return strict_json.loads(value.encode("utf-8", "surrogatepass"))
    if name == "max_fpr":
        try:
            return float(value)
        except ValueError:
            return value
    return value


# --- Steps --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """One place of the batch. file: which, from 0.  found: the text, or why there is none."""

    file: int
    row: int | None
    found: reading.FileText | DomainError


def _read(sent: Sequence["UploadedFile[Any]"]) -> tuple[list[reading.File], list[Place]]:
    """Raises Invalid for more than one request may hold."""
    files = reading.read_all(reading.uploads_of(sent))
    count, characters = sum(len(f.texts) for f in files), sum(len(t.text) for f in files for t in f.texts)
    if count > MAX_TEXTS:
        message = _("These files hold %(count)d texts; the limit is %(limit)d in one request.")
        raise Invalid("too_many_texts", message % {"count": count, "limit": MAX_TEXTS})
    if characters > MAX_CHARACTERS:
        message = _("These files hold %(count)d characters together; the limit is %(limit)d in one request.")
        raise Invalid("too_long_together", message % {"count": characters, "limit": MAX_CHARACTERS})
    places: list[Place] = []
    for number, file in enumerate(files):
        if file.error is not None:
            places.append(Place(number, None, file.error))
        places += [Place(number, text.row, text) for text in file.texts]
    return files, places


def _ready(place: Place, asked: Asked) -> Ready | DomainError:
    if isinstance(place.found, DomainError):
        return place.found
    named = Asked(
        language=asked.language,
        pinned=asked.pinned,
        max_fpr=asked.max_fpr,
        store=asked.store,
        metadata=asked.metadata,
        api_key=asked.api_key,
        file_name=place.found.name,
    )
    try:
        return intake.read(place.found.text, asked=named)
    except DomainError as error:
        return error


def _accept(
    request: Request,
    sent: Sequence["UploadedFile[Any]"],
    said: Mapping[str, Any],
    notes: dict[str, Any],
    nonce: uuid.UUID | None,
) -> uuid.UUID:
    """Stores what can be checked; `notes` gets what the answer says beside the batch."""
    owner, now, asked = owner_of(request), timezone.now(), making.asked_for(request, said)
    files, places = _read(sent)
    batch = batches.create(account_of(request), texts=len(places), now=now, number=nonce)
    failed: dict[int, DomainError] = {}
    for first in range(0, len(places), CHUNK_TEXTS):
        outcomes = {first + at: _ready(place, asked) for at, place in enumerate(places[first : first + CHUNK_TEXTS])}
        ready = {at: found for at, found in outcomes.items() if isinstance(found, Ready)}
        failed |= {at: found for at, found in outcomes.items() if isinstance(found, DomainError)}
        taken = intake.accept_all(owner=owner, texts=ready, batch=batch, source=Submission.Source.API, now=now)
        failed |= {at: found for at, found in taken.items() if isinstance(found, DomainError)}
    batches.close(batch, refused=len(failed), now=timezone.now())
    notes |= _notes(request, files, places)
    notes["problems"] = {str(at): _problem(request, error) for at, error in sorted(failed.items())}
    return batch.pk


def _notes(request: Request, files: Sequence[reading.File], places: Sequence[Place]) -> dict[str, Any]:
    return {
        "files": [
            {
                "kind": file.kind or None,
                "texts": len(file.texts),
                "hidden": file.hidden,
                "notes": list(file.notes),
                "encoding": file.encoding or None,
                "problem": None if file.error is None else _problem(request, file.error),
            }
            for file in files
        ],
        "places": [[place.file, place.row] for place in places],
    }


def _answer(request: Request, sent: Sequence["UploadedFile[Any]"], reference: Response) -> Response:
    batch = Batch.objects.filter(account=account_of(request), pk=reference.data["id"]).first()
    if batch is None:  # past its retention, replayed
        raise exceptions.NotFound
    notes = reference.data["also"]
    rows = history.of(owner_of(request)).filter(batch=batch).select_related("reservation").defer(*making.LONG_COLUMNS)
    found: dict[int, dict[str, Any]] = {
        row.place or 0: {"detection": presenting.summary(row), "problem": None} for row in rows
    }
    found |= {int(at): {"detection": None, "problem": problem} for at, problem in notes["problems"].items()}
    items = [
        {"place": at, "file": file, "row": row} | found[at]
        for at, (file, row) in enumerate(notes["places"])
        if at in found  # a text deleted meanwhile is not
    ]
    shown = showing.batch(batch, batches.progress(batch)) | {"items": items, "files": _named(sent, notes["files"])}
    response = Response(shown, reference.status_code)
    response["Location"] = request.build_absolute_uri(reverse("detector_api:batch", args=[str(batch.pk)]))
    if idempotency.REPLAYED_HEADER in reference:
        response[idempotency.REPLAYED_HEADER] = reference[idempotency.REPLAYED_HEADER]
    if batch.finished_at is None:
        response["Retry-After"] = str(waiting.RETRY_SECONDS)
    return response


def _prices(request: Request, sent: Sequence["UploadedFile[Any]"], said: Mapping[str, Any]) -> dict[str, Any]:
    files, places = _read(sent)
    items = list(_quotes(request, places, making.asked_for(request, said)))
    words = sum(item["quote"]["words_to_charge"] for item in items if item["quote"])
    quote = showing.batch_quote(items, words=words, balance=making.balance_of(owner_of(request)))
    return quote | {"files": _named(sent, _notes(request, files, places)["files"])}


def _quotes(request: Request, places: Sequence[Place], asked: Asked) -> Iterator[dict[str, Any]]:
    owner, now = owner_of(request), timezone.now()
    balance = making.balance_of(owner)
    for at, place in enumerate(places):
        about = {"place": at, "file": place.file, "row": place.row}
        outcome = _ready(place, asked)
        if isinstance(outcome, DomainError):
            yield about | {"quote": None, "problem": _problem(request, outcome)}
            continue
        cached = intake.is_repeat(outcome, owner=owner, now=now)
        yield about | {"quote": showing.quote(outcome, cached=cached, balance=balance), "problem": None}


def _made_up(
    request: Request, sent: Sequence["UploadedFile[Any]"], said: Mapping[str, Any], *, dry_run: bool
) -> Response:
    """Files are really read for a test key, too; their texts then get the fixtures that they name."""
    files, places = _read(sent)
    texts = {at: place.found.text for at, place in enumerate(places) if isinstance(place.found, reading.FileText)}
    options = {name: said[name] for name in ("metadata",) if name in said}
    response = made_up.batch_created(request, [{"text": text} | options for text in texts.values()], dry_run=dry_run)
    refused = {at: place.found for at, place in enumerate(places) if isinstance(place.found, DomainError)}
    empty = {"quote" if dry_run else "detection": None}
    items = {at: item | {"place": at} for at, item in zip(texts, response.data["items"], strict=True)}
    items |= {at: {"place": at, "problem": _problem(request, error)} | empty for at, error in refused.items()}
    response.data |= {
        "items": [items[at] | {"file": place.file, "row": place.row} for at, place in enumerate(places)],
        "files": _named(sent, _notes(request, files, places)["files"]),
    }
    if not dry_run:
        response.data |= {"texts": len(places), "refused": response.data["refused"] + len(refused)}
    return response


def _named(sent: Sequence["UploadedFile[Any]"], files: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    chosen = [file for file in sent if file.name]
    return [{"name": names.clean(one.name or "")} | dict(about) for one, about in zip(chosen, files, strict=True)]


def _problem(request: Request, error: DomainError) -> dict[str, Any]:
    found = problem_of(error)
    if found is None:  # never: each DomainError has one
        raise error
    return found.body(request._request)

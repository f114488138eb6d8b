"""What people send: a text or files to check, and what they look for in their history."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from detector import history
from detector.files import names, reading
from detector.models import Verdict

QUERY_CHARACTERS = 200
MAX_PAGE_TEXTS = 200  # of one upload on the page; the API takes more


@dataclass(frozen=True, slots=True)
class CheckForm:
    """One posted form, whatever it holds: what cannot be checked, `files.reading` and `intake` refuse by name.

    box: the text of the box, LF line ends.  sent: the chosen files, unread; they go before the box.
    lost_files: files came with the request but were too large to hold.
    """

    box: str
    sent: "tuple[UploadedFile[Any], ...]"
    lost_files: bool
    max_fpr: str
    nonce: uuid.UUID

    @classmethod
    def of(cls, request: HttpRequest) -> "CheckForm":
        sent = tuple(file for file in request.FILES.getlist("file") if file.name)
        box = as_pasted(request.POST.get("text", ""))
        return cls(
            box=box,
            sent=sent,
            lost_files=not sent and not box.strip() and _is_large(request),
            max_fpr=request.POST.get("max_fpr", ""),
            nonce=nonce_of(request),
        )

    def uploads(self) -> tuple[reading.Upload, ...]:
        """The files with their bytes. Raises Invalid for too many, or too much."""
        if self.lost_files:
            raise reading.too_large()
        return reading.uploads_of(self.sent)


@dataclass(frozen=True, slots=True)
class Checked:
    """One text of the page that shows what files hold. place: its number on that page, from 0."""

    place: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class UploadForm:
    """The page that shows what files hold, sent on: the texts to check come back from it, so that none is kept here."""

    texts: tuple[Checked, ...]
    max_fpr: str
    nonce: uuid.UUID

    @classmethod
    def of(cls, request: HttpRequest) -> "UploadForm":
        places = [place for place in range(MAX_PAGE_TEXTS) if f"text-{place}" in request.POST]
        texts = (
            Checked(place, names.clean(request.POST.get(f"name-{place}", "")), as_pasted(request.POST[f"text-{place}"]))
            for place in places
        )
        return cls(tuple(texts), request.POST.get("max_fpr", ""), nonce_of(request))


def as_pasted(text: str) -> str:
    """Browsers send each line end of a text box as CR LF; the text that was pasted had LF."""
    return text.replace("\r\n", "\n")


def nonce_of(request: HttpRequest) -> uuid.UUID:
    """The form's own number. A mangled one cannot tell a second post, and so is no reason to refuse the first."""
    try:
        return uuid.UUID(request.POST.get("nonce", ""))
    except ValueError:
        return uuid.uuid4()


def filters_of(request: HttpRequest) -> history.Filters:
    """The filters of an address. Nonsense there means no filter, never an error."""
    label = request.GET.get("label", "")
    query = request.GET.get("q", "").strip()[:QUERY_CHARACTERS]
    return history.Filters(query, label if label in Verdict.Label.values else "")


def _is_large(request: HttpRequest) -> bool:
    """Django's upload handler leaves out the files of a request over this size without a word."""
    return int(request.META.get("CONTENT_LENGTH") or 0) > settings.FILE_UPLOAD_MAX_MEMORY_SIZE

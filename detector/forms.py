"""What people send: a text to check, and what they look for in their history."""

import uuid
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from detector import history, intake
from detector.models import Verdict
from inkcloak.errors import Invalid

QUERY_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class CheckForm:
    """One posted form, whatever it holds: what cannot be checked, `text` and `intake` refuse by name.

    box: the text of the box, LF line ends.  file: bytes of a chosen file, at most one more than allowed, or None.
    lost_file: a file came with the request but was too large to hold.
    """

    box: str
    file: bytes | None
    lost_file: bool
    max_fpr: str
    nonce: uuid.UUID

    @classmethod
    def of(cls, request: HttpRequest) -> "CheckForm":
        upload = request.FILES.get("file")
        box = as_pasted(request.POST.get("text", ""))
        return cls(
            box=box,
            file=upload.read(intake.MAX_BYTES + 1) if upload and upload.name else None,
            lost_file=upload is None and not box.strip() and _is_large(request),
            max_fpr=request.POST.get("max_fpr", ""),
            nonce=nonce_of(request),
        )

    def text(self) -> str:
        """The text to check: of the file where one was chosen, else of the box. Raises Invalid for a bad file."""
        if self.lost_file:
            message = _("The file is too large: a text may have up to %(limit)d characters. Nothing was charged.")
            raise Invalid("too_long", message % {"limit": intake.MAX_CHARACTERS})
        return self.box if self.file is None else as_pasted(intake.decode(self.file))


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

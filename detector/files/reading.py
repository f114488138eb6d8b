"""read_all(): uploads -> files with their texts. Each is read by a process of its own, and fails alone.

Nothing is stored or logged here: bytes come in, texts go out.
"""

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from detector import intake
from detector.files import messages, names, runner
from detector.files.limits import (
    CHILDREN_AT_ONCE,
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_UPLOAD_BYTES,
    UPLOAD_SECONDS,
    WALL_SECONDS,
    Refused,
)
from inkcloak.errors import DomainError, Invalid, Unavailable

BUSY_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it came. data: its bytes, at most one more than the limit."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class FileText:
    """One text. name: the file's, with the row of a table behind it.  row: counted from 1, None outside tables."""

    name: str
    text: str = field(repr=False)
    row: int | None = None


@dataclass(frozen=True, slots=True)
class File:
    """What is known of one upload: texts, or the error why there are none.

    hidden: kind -> characters left out because nobody sees them.  notes: what else was left out.
    encoding: how its bytes were read, where that was guessed; else empty.
    """

    name: str
    kind: str = ""
    texts: tuple[FileText, ...] = ()
    hidden: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    encoding: str = ""
    error: DomainError | None = None

    @property
    def is_plain(self) -> bool:
        """One text and nothing to say about it."""
        return self.error is None and len(self.texts) == 1 and not (self.hidden or self.notes or self.encoding)


def uploads_of(sent: "Iterable[UploadedFile[Any]]") -> tuple[Upload, ...]:
    """The files of a request, without the empty field of a form. Raises Invalid for too many, or too much."""
    chosen = [file for file in sent if file.name]
    if len(chosen) > MAX_FILES:
        message = _("There are %(count)d files; the limit is %(limit)d in one upload.")
        raise Invalid("too_many_files", message % {"count": len(chosen), "limit": MAX_FILES})
    if sum(file.size or 0 for file in chosen) > MAX_UPLOAD_BYTES:
        raise too_large()
    return tuple(Upload(names.clean(file.name or ""), file.read(MAX_FILE_BYTES + 1)) for file in chosen)


def too_large() -> Invalid:
    message = _("All files together may have up to %(limit)d MB. Nothing was checked or charged.")
    return Invalid("upload_size", message % {"limit": MAX_UPLOAD_BYTES // (1024 * 1024)})


def read_all(uploads: Sequence[Upload]) -> list[File]:
    """Every file, in its order; a few at a time."""
    run = partial(_run, deadline=time.monotonic() + UPLOAD_SECONDS)
    with ThreadPoolExecutor(CHILDREN_AT_ONCE, thread_name_prefix="files") as pool:
        outcomes = list(pool.map(run, uploads))
    # Here, not in the pool: its threads don't know the reader's language.
    return [_file(upload, outcome) for upload, outcome in zip(uploads, outcomes, strict=True)]


def _run(upload: Upload, *, deadline: float) -> dict[str, Any] | Exception:
    seconds = min(WALL_SECONDS, deadline - time.monotonic())
    if seconds <= 0:
        return Refused("upload_too_slow", limit=int(UPLOAD_SECONDS))
    try:
        return runner.run(upload.data, names.extension(upload.name), intake.MAX_CHARACTERS, seconds=seconds)
    except (Refused, runner.Busy, OSError) as error:
        return error


def _file(upload: Upload, outcome: dict[str, Any] | Exception) -> File:
    if isinstance(outcome, Refused):
        return File(upload.name, error=Invalid(outcome.code, messages.message(outcome)))
    if isinstance(outcome, Exception):
        message = _("Too many files are being read right now. Please try again in a moment.")
        return File(upload.name, error=Unavailable("files_busy", message, retry_after=BUSY_SECONDS))
    texts = tuple(
        FileText(upload.name if row is None else names.of_row(upload.name, row), intake.storable(text), row)
        for text, row in outcome["parts"]
    )
    return File(upload.name, outcome["kind"], texts, outcome["hidden"], tuple(outcome["notes"]), outcome["encoding"])

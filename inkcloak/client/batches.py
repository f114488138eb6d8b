"""Many texts or files as requests of the right size. Pure but for reading files, one request's worth at a time.

Limits are the service's (detector.api.batches, detector.files.limits), less some room; a file that no request can
carry is refused here, by the same name.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inkcloak.client.errors import Problem

MAX_TEXTS = 1_000
MAX_CHARACTERS = 5_000_000
MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_FILES = 100
MAX_FILES_BYTES = 30 * 1024 * 1024  # of one request
MAX_FILE_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is not on a disk. name: tells kinds of text that look alike apart, by its ending."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the texts, as a request's body. first: the place of its first text among all."""

    first: int
    count: int
    body: bytes


@dataclass(frozen=True, slots=True)
class FilePart:
    """Some of the files: those that a request can carry, by their place among all, and those that none can."""

    uploads: Mapping[int, Upload]
    refused: Mapping[int, Problem]


def as_json(value: Any) -> bytes:
    """UTF-8 JSON; texts with lone surrogates, which UTF-8 can't say, in ASCII."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def parts_of(texts: Iterable[str], options: Mapping[str, Any]) -> Iterator[Part]:
    """Requests that hold all texts in their order."""
    bodies: list[bytes] = []
    first = characters = size = 0
    for text in texts:
        body = as_json({"text": text, **options})
        over = characters + len(text) > MAX_CHARACTERS or size + len(body) > MAX_BODY_BYTES
        if bodies and (over or len(bodies) == MAX_TEXTS):
            yield _part(first, bodies)
            first, bodies, characters, size = first + len(bodies), [], 0, 0
        bodies.append(body)
        characters, size = characters + len(text), size + len(body) + 1
    if bodies:
        yield _part(first, bodies)


def _part(first: int, bodies: Sequence[bytes]) -> Part:
    return Part(first, len(bodies), b'{"texts":[' + b",".join(bodies) + b"]}")


def file_parts_of(files: Sequence[str | Path | Upload]) -> Iterator[FilePart]:
    """Requests that hold all files in their order. Raises OSError for one that can't be read, before any is sent."""
    sizes = [_size(file) for file in files]
    return _file_parts(files, sizes)


def _file_parts(files: Sequence[str | Path | Upload], sizes: Sequence[int]) -> Iterator[FilePart]:
    uploads: dict[int, Upload] = {}
    refused: dict[int, Problem] = {}
    total = 0
    for place, (file, size) in enumerate(zip(files, sizes, strict=True)):
        if size > MAX_FILE_BYTES:
            refused[place] = _too_large()
            continue
        if uploads and (total + size > MAX_FILES_BYTES or len(uploads) == MAX_FILES):
            yield FilePart(uploads, refused)
            uploads, refused, total = {}, {}, 0
        uploads[place] = file if isinstance(file, Upload) else Upload(name_of(file), Path(file).read_bytes())
        total += size
    if uploads or refused:
        yield FilePart(uploads, refused)


def name_of(file: str | Path | Upload) -> str:
    """A file's own name: folders stay at home."""
    return file.name if isinstance(file, Upload | Path) else Path(file).name


def _size(file: str | Path | Upload) -> int:
    return len(file.content) if isinstance(file, Upload) else Path(file).stat().st_size


def _too_large() -> Problem:
    return Problem(
        400, "file_size", f"The file is larger than {MAX_FILE_BYTES // 1024 // 1024} MB, which is the limit."
    )

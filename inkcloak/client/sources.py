"""What the command checks: standard input, files, folders and patterns, as a list; and what is in each.

Plain text goes as text, everything else as the file that it is: the service reads those. No text is read before its
turn, and none longer than the service would take.
"""

import glob
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inkcloak.client.batches import MAX_FILE_BYTES, Upload

STDIN = "-"
PLAIN = frozenset({".txt", ".text", ".md", ".markdown"})
KINDS = PLAIN | {".html", ".htm", ".pdf", ".docx", ".csv"}
BINARY = (b"%PDF-", b"PK\x03\x04")  # how PDF and DOCX begin


class NothingThere(Exception):
    """A name that leads to nothing that can be checked."""


@dataclass(frozen=True, slots=True)
class Source:
    """Something to check. path: None for standard input."""

    path: Path | None

    @property
    def name(self) -> str:
        return "standard input" if self.path is None else str(self.path)

    def content(self) -> str | Upload | Path:
        """Text as it is, anything else as a file. Raises OSError."""
        if self.path is None:
            # One byte more than a file may have: enough for the service to say that it is too much.
            return _text_or_file(sys.stdin.buffer.read(MAX_FILE_BYTES + 1), "standard-input")
        if self.path.suffix.lower() not in PLAIN or self.path.stat().st_size > MAX_FILE_BYTES:
            return self.path
        return _text_or_file(self.path.read_bytes(), self.path.name)


def _text_or_file(data: bytes, name: str) -> str | Upload:
    """Bytes that are no UTF-8 have an encoding that the service finds out."""
    if data.startswith(BINARY) or len(data) > MAX_FILE_BYTES:
        return Upload(name, data)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return Upload(name, data)


def gather(names: Sequence[str]) -> list[Source]:
    """Everything that these names lead to, each once, folders in the order of their names.

    Folders give files of kinds that can be read, hidden ones and links to other folders left out. A file that is named
    is taken whatever its kind. Raises NothingThere for a name without any.
    """
    found: dict[object, Source] = {}
    for name in names:
        sources = [Source(None)] if name == STDIN else [Source(path) for path in _paths(name)]
        if not sources:
            raise NothingThere(name)
        for source in sources:
            found.setdefault(None if source.path is None else source.path.resolve(), source)
    return list(found.values())


def _paths(name: str) -> list[Path]:
    path = Path(name)
    if path.is_dir():
        return list(_below(path))
    if path.exists():
        return [path]
    if glob.has_magic(name):
        found = glob.glob(name, recursive=True)  # noqa: PTH207 - absolute ones too, and hidden files left out
        return [Path(match) for match in sorted(found) if Path(match).is_file()]
    return []


def _below(folder: Path) -> Iterator[Path]:
    for path in _sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)
        elif path.is_file() and path.suffix.lower() in KINDS:
            yield path


def _sorted(paths: Iterable[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: path.name)

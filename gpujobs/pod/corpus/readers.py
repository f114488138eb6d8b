"""The files of one source -> documents, by the reader that the source names.

    documents()   source + opened archive -> documents in order of path

Imports: documents, html, plain, sources; pysword only inside the reader that needs it.
"""

import csv
import gzip
import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from gpujobs.pod.corpus.documents import Document
from gpujobs.pod.corpus.html import read_html, read_xml
from gpujobs.pod.corpus.plain import read_dict, read_mail, read_records, read_text
from gpujobs.pod.corpus.sources import LAST_HUMAN_YEAR, Source, SourceError

Reader = Callable[[Source, str, bytes], Iterator[Document]]
VERSES_A_PARAGRAPH = 6

_CROSS_REFERENCE_MARKS = dict.fromkeys(map(ord, "{}"))


def documents(source: Source, folder: Path) -> Iterator[Document]:
    """Documents of the source. Raises SourceError when a glob finds no file: the list and the archive disagree."""
    if source.reader == "sword":
        yield from _sword(folder)
        return
    if source.reader not in READERS:
        raise SourceError(f"{source.key}: no reader is called {source.reader!r}")
    for path in _paths(source, folder):
        data = _opened(path)
        if source.reader == "dict" or _old_enough(source, data.decode(source.encoding, "replace")):
            for document in READERS[source.reader](source, str(path.relative_to(folder)), data):
                yield _without(source.drop_pattern, document)


def _opened(path: Path) -> bytes:
    if path.suffix in (".gz", ".dz"):
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as packed:
            (member,) = packed.namelist()
            return packed.read(member)
    return path.read_bytes()


def _without(pattern: str, document: Document) -> Document:
    if not pattern:
        return document
    drop = re.compile(pattern)
    return Document(document.name, tuple(tuple(drop.sub("", p) for p in section) for section in document.sections))


def _paths(source: Source, folder: Path) -> list[Path]:
    found: set[Path] = set()
    for glob in source.files:
        matches = {path for path in folder.glob(glob) if path.is_file() and not path.is_symlink()}
        if not matches:
            raise SourceError(f"{source.key}: no file matches {glob}")
        found |= matches
    for glob in source.exclude:
        found -= set(folder.glob(glob))
    return sorted(found)


def _old_enough(source: Source, text: str) -> bool:
    if not source.year_pattern:
        return True
    years = re.findall(source.year_pattern, text)
    return bool(years) and max(map(int, years)) <= LAST_HUMAN_YEAR


def _html(source: Source, name: str, data: bytes) -> Iterator[Document]:
    yield Document(name, read_html(data, source.encoding))


def _xml(source: Source, name: str, data: bytes) -> Iterator[Document]:
    yield Document(name, read_xml(data))


def _text(source: Source, name: str, data: bytes) -> Iterator[Document]:
    yield Document(name, read_text(data.decode(source.encoding, "replace")))


def _mail(source: Source, name: str, data: bytes) -> Iterator[Document]:
    yield Document(name, read_mail(data.decode(source.encoding, "replace")))


def _records(source: Source, name: str, data: bytes) -> Iterator[Document]:
    for number, section in enumerate(read_records(data.decode(source.encoding, "replace"))):
        yield Document(f"{name}#{number}", (section,))


def _dict(source: Source, name: str, data: bytes) -> Iterator[Document]:
    for word, paragraphs in read_dict(data.decode(source.encoding, "replace").translate(_CROSS_REFERENCE_MARKS)):
        if _old_enough(source, "\n".join(paragraphs)):
            yield Document(f"{name}#{word}", (paragraphs,))


def _table(source: Source, name: str, data: bytes) -> Iterator[Document]:
    """Rows with one value of the group columns make one document, a section each."""
    text = data.decode(source.encoding, "replace")
    if ".tab" in name:  # Orange's tables: two more header lines, tabs
        head, _, _, *lines = text.splitlines()
        rows = csv.DictReader([head, *lines], delimiter="\t")
    else:
        rows = csv.DictReader(io.StringIO(text))
    groups: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for row in rows:
        groups["|".join(row[column] for column in source.group_columns)].append((row[source.text_column] or "",))
    for group, sections in groups.items():
        yield Document(f"{name}#{group}", tuple(sections))


def _licence(source: Source, name: str, data: bytes) -> Iterator[Document]:
    yield Document(name, read_text(str(json.loads(data)["licenseText"])))


def _sword(folder: Path) -> Iterator[Document]:
    from pysword.modules import SwordModules

    modules = SwordModules(str(folder / "usr" / "share" / "sword"))
    (name,) = modules.parse_modules()
    bible = modules.get_bible_from_module(name)
    for books in bible.get_structure().get_books().values():
        for book in books:
            for chapter in range(1, book.num_chapters + 1):
                verses = bible.get_iter(books=[book.name], chapters=[chapter], clean=True)
                yield Document(f"{book.name} {chapter}", (_in_paragraphs(list(verses)),))


def _in_paragraphs(verses: list[str]) -> tuple[str, ...]:
    step = VERSES_A_PARAGRAPH
    return tuple(" ".join(verses[i : i + step]) for i in range(0, len(verses), step))


READERS: dict[str, Reader] = {
    "html": _html,
    "xml": _xml,
    "text": _text,
    "mail": _mail,
    "records": _records,
    "dict": _dict,
    "table": _table,
    "licence": _licence,
}

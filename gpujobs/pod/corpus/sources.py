"""The list of sources, `sources.toml`, as checked records.

A source is some files of one archive in one language and genre. Whatever it lacks to be used with a clear
conscience (a licence that allows commercial training, a year before machines wrote, a pinned archive) makes the
whole list refuse to load. Pure but for reading the file. Imports: nothing.
"""

import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

SOURCES_FILE = Path(__file__).with_name("sources.toml")
MANAGERS = ("apt", "npm", "pip")
LANGUAGES = ("en", "es")
LAST_HUMAN_YEAR = 2021  # later text may have been written by a machine
CANON = "canon"  # the domain of famous texts: measured on, never trained on
LICENCES = (  # each allows use in a commercial product; see docs/corpus.md for what each asks in return
    "public domain",
    "CC0-1.0",
    "CC-BY-SA-3.0",
    "MIT",
    "BSD-2-Clause",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0-or-later",
    "GFDL-1.1-or-later without invariant sections",
    "NGPL",
)

_SHA256 = re.compile(r"[0-9a-f]{64}")


class SourceError(ValueError):
    """A source that must not be used as it is listed. Names the source and the field."""


@dataclass(frozen=True, slots=True)
class Source:
    """key: short id of the source.  name: as the rows say it.  files, exclude: globs inside the archive.

    licence_stated: the file in the archive (or the words) that states the licence.  written: the years of the text.
    cap: passages at most.  translated: whether people translated it from another language.
    year_pattern: a file counts only if the last year this finds in it is no later than LAST_HUMAN_YEAR.
    text_column, group_columns: of a table.  drop_pattern: what is no part of the text (stage directions and the like).
    """

    key: str
    name: str
    manager: str
    package: str
    version: str
    sha256: str
    files: tuple[str, ...]
    reader: str
    licence: str
    licence_stated: str
    written: str
    language: str
    domain: str
    cap: int
    exclude: tuple[str, ...] = ()
    encoding: str = "utf-8"
    translated: bool = False
    year_pattern: str = ""
    text_column: str = ""
    group_columns: tuple[str, ...] = ()
    drop_pattern: str = ""

    @property
    def canon(self) -> bool:
        """Whether the source is for evaluation only."""
        return self.domain == CANON

    @property
    def last_year(self) -> int:
        """The last year in `written`."""
        return max(int(year) for year in re.findall(r"\d{4}", self.written))


def read_sources(path: Path = SOURCES_FILE) -> list[Source]:
    """All sources, in the order of the file. Raises SourceError for the first that must not be used."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["source"]
    sources = [_source(table) for table in tables]
    keys = [source.key for source in sources]
    for key in keys:
        if keys.count(key) > 1:
            raise SourceError(f"{key}: listed twice")
    return sources


def _source(table: dict[str, Any]) -> Source:
    key = str(table.get("key", "a source without a key"))
    known = {field.name for field in fields(Source)}
    if unknown := set(table) - known:
        raise SourceError(f"{key}: unknown fields {', '.join(sorted(unknown))}")
    lists: dict[str, Any] = {
        name: tuple(table[name]) for name in ("files", "exclude", "group_columns") if name in table
    }
    try:
        source = Source(**{**table, **lists})
    except TypeError as error:
        raise SourceError(f"{key}: {error}") from None
    _check(source)
    return source


def _check(source: Source) -> None:
    allowed = {"manager": MANAGERS, "licence": LICENCES, "language": LANGUAGES}
    for field, values in allowed.items():
        if getattr(source, field) not in values:
            raise SourceError(f"{source.key}: {field} {getattr(source, field)!r} is not one of {', '.join(values)}")
    if not _SHA256.fullmatch(source.sha256):
        raise SourceError(f"{source.key}: sha256 is not 64 hex digits")
    if not re.search(r"\d{4}", source.written) or source.last_year > LAST_HUMAN_YEAR:
        raise SourceError(f"{source.key}: written {source.written!r} does not end by {LAST_HUMAN_YEAR}")
    if not source.licence_stated or not source.files or source.cap < 1:
        raise SourceError(f"{source.key}: licence_stated, files and cap must say something")

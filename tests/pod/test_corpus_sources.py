"""The list of sources: pinned, licensed, and written before machines wrote."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from gpujobs.pod.corpus.readers import READERS
from gpujobs.pod.corpus.sources import LAST_HUMAN_YEAR, SOURCES_FILE, SourceError, read_sources

GOOD: dict[str, Any] = {
    "key": "tales",
    "name": "Tales",
    "manager": "apt",
    "package": "tales-doc",
    "version": "1.0-1",
    "sha256": "0" * 64,
    "files": ["usr/share/doc/tales/*.html"],
    "reader": "html",
    "licence": "GPL-2.0-or-later",
    "licence_stated": "usr/share/doc/tales/copyright",
    "written": "1999-2004",
    "language": "en",
    "domain": "story",
    "cap": 10,
}


def listed(folder: Path, *tables: dict[str, Any]) -> Path:
    def value(item: Any) -> str:
        return str(item) if isinstance(item, int) else repr(item)

    path = folder / "sources.toml"
    lines = [["[[source]]", *(f"{name} = {value(item)}" for name, item in table.items())] for table in tables]
    path.write_text("\n".join("\n".join(table) for table in lines))
    return path


def test_it_reads_a_table_as_a_source(tmp_path: Path) -> None:
    (source,) = read_sources(listed(tmp_path, GOOD))
    assert (source.key, source.files, source.last_year, source.canon) == ("tales", tuple(GOOD["files"]), 2004, False)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("licence", "CC-BY-NC-4.0"),
        ("licence_stated", ""),
        ("written", "1999-2022"),
        ("written", "long ago"),
        ("sha256", "abc"),
        ("manager", "curl"),
        ("language", "fr"),
        ("cap", 0),
        ("files", []),
        ("colour", "blue"),
    ],
)
def test_it_refuses_what_must_not_be_used(tmp_path: Path, field: str, value: Any) -> None:
    with pytest.raises(SourceError, match="tales"):
        read_sources(listed(tmp_path, {**GOOD, field: value}))


def test_it_refuses_a_table_that_lacks_a_field(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="sha256"):
        read_sources(listed(tmp_path, {name: value for name, value in GOOD.items() if name != "sha256"}))


def test_it_refuses_a_key_that_is_listed_twice(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="twice"):
        read_sources(listed(tmp_path, GOOD, GOOD))


def test_it_ships_a_list_that_loads() -> None:
    sources = read_sources()
    assert len(sources) == len(tomllib.loads(SOURCES_FILE.read_text(encoding="utf-8"))["source"])
    assert all(source.last_year <= LAST_HUMAN_YEAR for source in sources)
    assert {source.reader for source in sources} <= {*READERS, "sword"}
    assert {source.language for source in sources if source.canon} == {"en", "es"}

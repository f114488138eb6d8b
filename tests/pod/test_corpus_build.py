"""The command: a list and archives become the same rows every time, famous texts apart."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from test_corpus_sources import GOOD, listed

from gpujobs.pod.corpus.build import main, write
from gpujobs.pod.corpus.fetch import sha256
from gpujobs.pod.dataset import Row, read_jsonl

FIELDS = set(Row.__dataclass_fields__) - {"part"}


def story(number: int) -> str:
    names = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jan", "Kim", "Lee", "May", "Ned", "Oda")
    parts = (
        f"In the year {1800 + number} {name} left house number {number * 7 + i} and went to market {i * 3 + number}."
        for i, name in enumerate(names)
    )
    return " ".join(parts)


@pytest.fixture
def listing(tmp_path: Path) -> Path:
    made = tmp_path / "made.tgz"
    with tarfile.open(made, "w:gz") as tar:
        pages = {f"tales/{n}.html": f"<h1>T</h1><p>{story(n)}</p><p>Mail a@b.org.</p>" for n in range(12)}
        pages["canon/old.html"] = f"<p>{story(50)}</p>"
        for name, text in pages.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    (tmp_path / "cache").mkdir()
    kept = made.rename(tmp_path / "cache" / sha256(made))
    tales = {**GOOD, "sha256": kept.name, "files": ["tales/*.html"]}
    canon = {**tales, "key": "old", "files": ["canon/*.html"], "domain": "canon"}
    return listed(tmp_path, tales, canon)


def build(listing: Path, name: str, *more: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    out, report = listing.parent / name / "packages.jsonl.zst", listing.parent / "report.json"
    options = ["--out", str(out), "--cache", str(listing.parent / "cache"), "--sources", str(listing)]
    assert main([*options, "--report", str(report), *more]) == 0
    canon = out.with_name("canon.jsonl.zst")
    return list(read_jsonl(out)), list(read_jsonl(canon)), json.loads(report.read_text())


def test_it_builds_rows_like_those_of_the_corpora(listing: Path) -> None:
    rows, canon, report = build(listing, "one")
    assert len(rows) == GOOD["cap"] == report["training"]["rows"]
    assert len({row["id"] for row in rows}) == len(rows)
    assert all(set(row) >= FIELDS and row["label"] == row["generator"] == "human" for row in rows)
    assert {row["licence"] for row in rows} == {"GPL-2.0-or-later"}
    assert [row["domain"] for row in canon] == ["canon"]
    assert [row["split"] for row in canon] == ["val"]
    tales = report["sources"]["tales"]
    assert tales["over_cap"] == tales["cut"] - GOOD["cap"]


def test_it_builds_the_same_bytes_again(listing: Path) -> None:
    first, second = (build(listing, name) for name in ("one", "two"))
    assert first == second
    files = [(listing.parent / name / "packages.jsonl.zst").read_bytes() for name in ("one", "two")]
    assert files[0] == files[1]


def test_it_repeats_no_text_of_the_corpora(listing: Path) -> None:
    known = listing.parent / "known"
    write([{"text": story(3) + " One more sentence."}, {"text": story(4)}], known / "known.jsonl.zst")
    rows, _, report = build(listing, "one", "--against", str(known))
    assert report["sources"]["tales"]["repeated"] >= 1
    assert not [row for row in rows if story(3) in row["text"] or story(4) in row["text"]]


def test_it_keeps_a_document_on_one_side_of_the_split(listing: Path) -> None:
    rows, _, _ = build(listing, "one")
    assert {row["split"] for row in rows} <= {"train", "val"}
    assert len({(row["group"], row["split"]) for row in rows}) == len({row["group"] for row in rows})

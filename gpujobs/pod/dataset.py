"""The corpora as rows, and which row belongs to which part of the frozen split.

A folder of corpora holds `NAME.jsonl.zst` files. Training for weights that ship reads the cleared files
only, and refuses any other name and any row whose licence isn't on the list. The frozen split
(`splits/heldout.tsv`, built once by split.py) lists what no training may see; whatever isn't listed there is
training material. May be imported by: training, evaluation and export. Imports: shared rules, zstandard.
"""

import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import zstandard

from gpujobs.pod.shared.prose import read

CLEARED_FILES = ("open", "wide", "written", "series", "packages")  # every source states a licence that allows training
SERIES = "series"  # written for the project and kept in the repository: every file of corpus/written
PACKAGES = "packages"  # human text that gpujobs.pod.corpus.build rebuilds from packages
CLEARED_LICENCES = (
    "CC-BY-3.0",
    "CC-BY-4.0",
    "MIT",
    "Apache-2.0",
    "public domain",
    "CC0-1.0",
    "ANC open licence",
    "project",
    "CC-BY-SA-3.0",
    "BSD-2-Clause",
    "NGPL",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GFDL-1.1-or-later without invariant sections",
)
SERIES_FOLDER = Path(__file__).parent / "corpus" / "written"
HELDOUT_FILE = Path(__file__).parent / "splits" / "heldout.tsv"
CORPORA_VARIABLE = "INKCLOAK_CORPORA"
SHARED_RULES = Path(__file__).parent / "shared"
REPOSITORY = Path(__file__).resolve().parents[2]
BUILT_CORPORA = REPOSITORY / "var" / "corpora"  # where the builder's files are looked for beside the corpora


class UnclearedError(ValueError):
    """A file or a row that shipped weights must not see. Names the file or the licence, never a text."""


@dataclass(frozen=True, slots=True)
class Row:
    """One text of a corpus. `label` is 1 for AI and 0 for human; `part` is empty for training material."""

    id: str
    text: str
    label: int
    generator: str
    domain: str
    language: str
    attack: str
    source: str
    licence: str
    group: str
    split: str
    part: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the text as the corpus has it, hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def corpora_folder(given: str | None = None) -> Path:
    """Where the corpora lie: the argument, INKCLOAK_CORPORA, or `../shared/corpora` beside the checkout."""
    folder = given or os.environ.get(CORPORA_VARIABLE) or str(REPOSITORY.parent / "shared" / "corpora")
    path = Path(folder)
    if not path.is_dir():
        raise FileNotFoundError(f"no corpora at {path}: give --corpora or set {CORPORA_VARIABLE}")
    return path


def read_rows(folder: Path, files: Iterable[str] = CLEARED_FILES) -> list[Row]:
    """All rows of the cleared files. Raises UnclearedError for any other file and for an unknown licence."""
    rows: list[Row] = []
    for name in files:
        if name not in CLEARED_FILES:
            raise UnclearedError(f"{name}: not cleared for weights that ship; cleared are {', '.join(CLEARED_FILES)}")
        rows += [as_row(record) for path in _paths(folder, name) for record in read_jsonl(path)]
    for row in rows:
        if not row.licence.startswith(CLEARED_LICENCES):
            raise UnclearedError(f"licence {row.licence!r} of {row.source!r} is not cleared for weights that ship")
    return rows


def _paths(folder: Path, name: str) -> list[Path]:
    if name == SERIES:
        return sorted(SERIES_FOLDER.glob("*.jsonl"))
    file = f"{name}.jsonl.zst"
    if name != PACKAGES or (folder / file).exists():
        return [folder / file]
    if not (BUILT_CORPORA / file).exists():
        raise FileNotFoundError(
            f"no {file} in {folder} or {BUILT_CORPORA}: build it with "
            f"`python -m gpujobs.pod.corpus.build --out {BUILT_CORPORA / file}` (docs/corpus.md)"
        )
    return [BUILT_CORPORA / file]


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Records of a `.jsonl` or `.jsonl.zst` file, one a line."""
    with path.open("rb") as raw:
        stream = zstandard.ZstdDecompressor().stream_reader(raw) if path.suffix == ".zst" else raw
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            if line.strip():
                yield json.loads(line)


def as_row(record: dict[str, Any]) -> Row:
    """A record of a corpus file as a row. Raises KeyError for a missing field."""
    fields = {key: str(record[key]) for key in Row.__dataclass_fields__ if key not in ("label", "part")}
    return Row(label=int(record["label"] == "ai"), **fields)


def read_heldout(path: Path = HELDOUT_FILE) -> dict[str, tuple[str, str]]:
    """id -> (part, first 16 hex digits of the text's SHA-256) of every row that training must not see."""
    listed: dict[str, tuple[str, str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            part, digest, row_id = line.split("\t")
            listed[row_id] = (part, digest)
    return listed


def with_parts(rows: Iterable[Row], heldout: dict[str, tuple[str, str]]) -> list[Row]:
    """Rows with their part of the split. Raises ValueError when a listed text has changed since it was
    frozen.
    """
    placed: list[Row] = []
    for row in rows:
        part, digest = heldout.get(row.id, ("", ""))
        if part and not row.digest.startswith(digest):
            raise ValueError(f"{row.id}: the text is not the one that the split was frozen with")
        placed.append(replace(row, part=part))
    return placed


def as_read(rows: Iterable[Row]) -> list[Row]:
    """Rows whose text is what the model reads (normalised prose), as in service; rows without prose fall
    away.
    """
    readings = ((row, read(row.text).text) for row in rows)
    return [replace(row, text=text) for row, text in readings if text.strip()]


def cached_as_read(rows: list[Row], cache: Path) -> list[Row]:
    """`as_read`, kept in a file per data and reading rules, since reading 30,000 texts takes a while."""
    rules = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(SHARED_RULES.glob("*.py")))).hexdigest()
    path = cache / f"read-{data_hash(rows)[:12]}-{rules[:12]}.jsonl"
    if path.exists():
        with path.open(encoding="utf-8") as lines:
            texts: dict[str, str] = dict(json.loads(line) for line in lines)
        return [replace(row, text=texts[row.id]) for row in rows if row.id in texts]
    read_now = as_read(rows)
    cache.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".part")
    scratch.write_text("".join(json.dumps([row.id, row.text]) + "\n" for row in read_now), encoding="utf-8")
    scratch.replace(path)
    return read_now


def data_hash(rows: Iterable[Row]) -> str:
    """SHA-256 over id, label and text of the rows, in order of id: names a training list exactly."""
    total = hashlib.sha256()
    for row in sorted(rows, key=lambda row: row.id):
        total.update(f"{row.id}\t{row.label}\t{row.digest}\n".encode())
    return total.hexdigest()

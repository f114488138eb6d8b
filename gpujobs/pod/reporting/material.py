"""Which texts each section measures: the frozen split's report halves, and what of them, chosen by hash.

May be imported by: the report's command and sections. Imports: dataset, genres.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpujobs.pod.dataset import (
    BUILT_CORPORA,
    CLEARED_FILES,
    HELDOUT_FILE,
    PACKAGES,
    Row,
    as_row,
    read_heldout,
    read_jsonl,
    read_rows,
    with_parts,
)
from gpujobs.pod.manifest import sha256

CANON = "canon"
DOMAINS = {"ood": "out-of-domain", "val": "in-domain"}  # of a part's name


@dataclass(frozen=True, slots=True)
class Material:
    """held_out: rows of every part but `excluded`.  packages: those of them from packages, None without the file.
    canon: None without the file.  files: name -> rows.  missing: names of files that aren't there.
    """

    held_out: list[Row]
    packages: list[Row] | None
    canon: list[Row] | None
    files: dict[str, int]
    missing: list[str]

    @property
    def report(self) -> list[Row]:
        """Rows that neither training nor any choice has seen."""
        return [row for row in self.held_out if row.part.endswith("_report")]

    def data(self) -> dict[str, Any]:
        """The report's `data` block."""
        files = {name: {"texts": count} for name, count in self.files.items()}
        return {
            "split_sha256": sha256(HELDOUT_FILE),
            "texts": len(self.report),
            "files": files,
            "missing": self.missing,
        }


def load(folder: Path) -> Material:
    """All rows there are. Raises ValueError when a held-out text isn't the one that was frozen."""
    listed = read_heldout()
    found: dict[str, list[Row]] = {}
    missing: list[str] = []
    for name in CLEARED_FILES:
        try:
            rows = with_parts(read_rows(folder, (name,)), listed)
        except FileNotFoundError:
            missing.append(name)
        else:
            found[name] = rows
    canon = _canon(folder)
    if canon is None:
        missing.append(CANON)
    counts = {name: len(rows) for name, rows in found.items()} | ({CANON: len(canon)} if canon is not None else {})
    kept = {name: [row for row in rows if row.part and row.part != "excluded"] for name, rows in found.items()}
    held_out = [row for rows in kept.values() for row in rows]
    return Material(held_out, kept.get(PACKAGES), canon, counts, missing)


def _canon(folder: Path) -> list[Row] | None:
    for place in (folder, BUILT_CORPORA):
        path = place / f"{CANON}.jsonl.zst"
        if path.exists():
            return [as_row(record) for record in read_jsonl(path)]
    return None


def key_of(row: Row) -> str:
    """`en out-of-domain` and the like: the group whose headline a row counts in."""
    return f"{row.language} {DOMAINS[row.part[:3]]}"


def keys(languages: Iterable[str]) -> list[str]:
    """Every group, English first, out-of-domain before in-domain: the order of all tables."""
    ordered = sorted(languages, key=lambda language: (language != "en", language))
    return [f"{language} {name}" for language in ordered for name in DOMAINS.values()]


def by_hash(rows: Iterable[Row], most: int | None, salt: str = "") -> list[Row]:
    """Up to `most` rows in an order that has nothing to do with what they say. None: all of them."""
    ordered = sorted(rows, key=lambda row: hashlib.sha256(f"{salt}{row.id}".encode()).digest())
    return ordered if most is None else ordered[:most]


def sampled(rows: Sequence[Row], most: int | None) -> list[Row]:
    """Up to `most` rows of each group and class."""
    taken: Counter[tuple[str, int]] = Counter()
    kept: list[Row] = []
    for row in by_hash(rows, None):
        place = key_of(row), row.label
        if most is None or taken[place] < most:
            taken[place] += 1
            kept.append(row)
    return kept


def seed_of(name: str, row_id: str) -> int:
    """A seed of its own for each text and what is done to it."""
    return int.from_bytes(hashlib.sha256(f"{name} {row_id}".encode()).digest()[:8])

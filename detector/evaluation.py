"""Score a labelled file exactly as the product would: same evidence rule, reader, windows, model and verdict.

Only the queue is left out (rows of customers are no place for a corpus); the scorer is the worker's own.
"""

import io
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from detector import intake, verdicts
from detector.models import Verdict
from gpujobs import backends
from gpujobs.backends import Answer
from gpujobs.models import ModelVersion
from gpujobs.pod.contract import ScoreRequest, TextIn, TextOut
from inkcloak.errors import DomainError

LABELS = ("human", "ai")
BATCH_TEXTS = 64
ARCHIVE = ".zst"


class BadRecord(ValueError):
    """A line of the file is no record. Names the line, never its text."""


@dataclass(frozen=True, slots=True)
class Record:
    """One labelled text; `fields` are the others of its line, to slice by."""

    text: str
    label: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scored:
    """A row for `gpujobs.pod.evaluate`: probability is None where the product gave no verdict."""

    label: str
    verdict: str
    probability: float | None
    fields: dict[str, Any]

    def row(self) -> dict[str, Any]:
        return self.fields | {"label": self.label, "verdict": self.verdict, "probability": self.probability}


def read_records(path: Path, *, limit: int | None = None) -> Iterator[Record]:
    """The records of a .jsonl or .jsonl.zst file. Raises BadRecord, OSError."""
    try:
        with _open(path) as lines:
            written = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
            for number, line in islice(written, limit):
                yield _record(line, number)
    except _archive_errors(path):
        raise BadRecord("is no zstd file") from None


def score(records: Iterator[Record], version: ModelVersion) -> Iterator[list[Scored]]:
    """Verdicts batch by batch, in the order of the records."""
    while batch := list(islice(records, BATCH_TEXTS)):
        yield _score_batch(batch, version)


@dataclass(slots=True)
class Stopwatch:
    """Texts and the seconds spent scoring them."""

    texts: int = 0
    seconds: float = 0.0

    def timed(self, batches: Iterator[list[Scored]]) -> Iterator[list[Scored]]:
        while True:
            begin = time.perf_counter()
            batch = next(batches, None)
            self.seconds += time.perf_counter() - begin
            if batch is None:
                return
            self.texts += len(batch)
            yield batch

    @property
    def texts_per_second(self) -> float:
        return self.texts / self.seconds if self.seconds else 0.0


def _score_batch(batch: Sequence[Record], version: ModelVersion) -> list[Scored]:
    found = [_evidence(record.text, version) for record in batch]
    texts = [
        TextIn(str(place), evidence.reading.text, evidence.language)
        for place, evidence in enumerate(found)
        if evidence is not None and not evidence.reason
    ]
    answers = {int(answer.id): answer for answer in _answers(texts, version)}
    return [
        _scored(record, evidence, answers.get(place), version)
        for place, (record, evidence) in enumerate(zip(batch, found, strict=True))
    ]


def _evidence(text: str, version: ModelVersion) -> intake.Evidence | None:
    """None for what the product refuses outright (empty, over the limit)."""
    text = intake.storable(text)
    try:
        intake.check_limits(text)
    except DomainError:
        return None
    return intake.evidence(text, version.manifest)


def _answers(texts: list[TextIn], version: ModelVersion) -> Sequence[TextOut]:
    if not texts:
        return ()
    request = ScoreRequest("evaluation", 1, version.pk, tuple(texts))
    outcome = backends.get("local").start(request)
    return outcome.response.texts if isinstance(outcome, Answer) else ()


def _scored(record: Record, evidence: intake.Evidence | None, answer: TextOut | None, version: ModelVersion) -> Scored:
    if evidence is None or answer is None or answer.error:
        return Scored(record.label, Verdict.Label.INSUFFICIENT.value, None, record.fields)
    judged = verdicts.judge(evidence.reading, answer, version.manifest, language=evidence.language)
    return Scored(record.label, judged.label, judged.probability, record.fields)


def _record(line: str, number: int) -> Record:
    try:
        data = json.loads(line)
    except ValueError:
        raise BadRecord(f"line {number} is not JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise BadRecord(f"line {number} has no `text`")
    if data.get("label") not in LABELS:
        raise BadRecord(f"line {number}: `label` must be human or ai")
    return Record(data.pop("text"), data.pop("label"), data)


def _open(path: Path) -> IO[str]:
    if path.suffix != ARCHIVE:
        return path.open(encoding="utf-8-sig")
    import zstandard  # only this command needs it

    return io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(path.open("rb")), encoding="utf-8-sig")


def _archive_errors(path: Path) -> tuple[type[Exception], ...]:
    if path.suffix != ARCHIVE:
        return ()
    import zstandard

    return (zstandard.ZstdError,)

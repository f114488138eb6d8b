"""An owner's checks as a file: CSV for spreadsheets, JSON Lines for programs. Read side.

Rows come in chunks, each from where the last one ended, so that the millionth costs what the first does and memory
stays what one chunk needs. Text is in it only where its owner asks.

CSV is UTF-8 with a byte order mark: without it Excel reads "ñ" as "Ã±", and every reader that matters skips it. Texts
are quoted and numbers are not; a text that a spreadsheet would run as a formula gets an apostrophe in front.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from rest_framework.utils.encoders import JSONEncoder

from detector import presenting
from detector.models import Submission

CSV, JSONL = "csv", "jsonl"
CONTENT_TYPES = {CSV: "text/csv; charset=utf-8", JSONL: "application/x-ndjson"}
CHUNK_ROWS = 500
CHUNK_ROWS_WITH_TEXT = 50  # 5 million characters at most
BOM = "\ufeff"
# A spreadsheet takes a cell with one of these in front for a formula; the last four are their full-width forms.
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
COLUMNS = (
    "id", "created_at", "finished_at", "status", "failure", "source", "file_name", "batch", "rerun_of", "cached",
    "pinned", "language", "words", "characters", "verdict", "reason", "confidence", "probability", "ai_fraction",
    "max_fpr", "scored_characters", "tier", "degraded", "model", "model_version", "normaliser_version",
    "calibration_version", "words_charged", "metadata",
)  # fmt: skip
TEXT_COLUMN = "text"

Write = Callable[[Iterable[dict[str, Any]]], str]


def chunks(rows: "QuerySet[Submission]", kind: str, *, include_text: bool = False) -> Iterator[bytes]:
    """The file, piece by piece. rows: an owner's, as detector.history gives them; kind: CSV or JSONL."""
    write = _csv_lines(include_text) if kind == CSV else _json_lines
    size = CHUNK_ROWS_WITH_TEXT if include_text else CHUNK_ROWS
    begin = BOM + write([]) if kind == CSV else ""
    for found in _by_chunk(_light(rows, include_text), size):
        yield (begin + write(_presented(found, include_text))).encode()
        begin = ""
    if begin:
        yield begin.encode()


def made_up(rows: Iterable[Submission], kind: str, *, include_text: bool = False) -> Iterator[bytes]:
    """The same of checks that are not stored: what a test key exports."""
    write = _csv_lines(include_text) if kind == CSV else _json_lines
    begin = BOM + write([]) if kind == CSV else ""
    yield (begin + write(row | {"live": False} for row in _presented(rows, include_text))).encode()


def disposition(kind: str, now: datetime) -> str:
    """A file's name that says what it is and when it was made."""
    return f'attachment; filename="inkcloak-checks-{now:%Y-%m-%d}.{kind}"'


def _light(rows: "QuerySet[Submission]", include_text: bool) -> "QuerySet[Submission]":
    """Without the columns that no file shows."""
    long = [f"verdict__{name}" for name in presenting.LONG]
    text = () if include_text else (TEXT_COLUMN,)
    return rows.select_related("reservation").defer(*long, "model_version__manifest", *text)


def _by_chunk(rows: "QuerySet[Submission]", size: int) -> Iterator[list[Submission]]:
    """Newest first, as the index of the history has them. Lets go of the connection in between: the reader is slow."""
    rows = rows.order_by("-accepted_at", "id")
    found = list(rows[:size])
    while found:
        if not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
        yield found
        last = found[-1]
        older = Q(accepted_at__lt=last.accepted_at) | Q(pk__gt=last.pk)
        found = list(rows.filter(Q(accepted_at__lte=last.accepted_at) & older)[:size]) if len(found) == size else []


def _presented(rows: Iterable[Submission], include_text: bool) -> Iterator[dict[str, Any]]:
    for row in rows:
        shown = presenting.summary(row) | ({TEXT_COLUMN: row.text} if include_text else {})
        if row.visitor is not None:  # who pays by the check, not by the word
            shown["usage"] = presenting.usage()
        yield shown


# --- JSON Lines ----------------------------------------------------------------------------------------------


def _json_lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, cls=JSONEncoder, ensure_ascii=False) + "\n" for row in rows)


# --- CSV -----------------------------------------------------------------------------------------------------


def _csv_lines(include_text: bool) -> Write:
    """A writer of lines; of no rows it writes the head."""
    columns = (*COLUMNS, TEXT_COLUMN) if include_text else COLUMNS

    def write(rows: Iterable[dict[str, Any]]) -> str:
        out = io.StringIO(newline="")
        lines = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
        for row in rows:
            flat = row | {"words_charged": row["usage"]["words_charged"]}
            lines.writerow([cell(flat[name]) for name in columns])
        if not out.tell():
            lines.writerow(columns)
        return out.getvalue()

    return write


def cell(value: Any) -> Any:
    """A value as a cell: numbers as they are, everything else as text that no spreadsheet runs."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False) if value else ""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text

"""CSV with one text a row: the column named text, content … or the only one there is."""

import csv
import io
from collections.abc import Iterator

from detector.files.decoding import decode
from detector.files.limits import MAX_CSV_ROWS, MAX_FILE_BYTES, Found, Part, Refused

COLUMNS = (
    "text", "content", "body", "essay", "answer", "response", "document", "message",
    "texto", "contenido", "ensayo", "redacción", "respuesta", "documento", "mensaje",
)  # fmt: skip
_DELIMITERS = ",;\t|"
_SAMPLE_CHARACTERS = 64 * 1024


def read(data: bytes) -> Found:
    """Raises Refused for too many rows, no column of texts, and what csv cannot read."""
    text, encoding = decode(data)
    csv.field_size_limit(MAX_FILE_BYTES)
    try:
        rows = list(_rows(text, _delimiter(text)))
    except csv.Error:
        raise Refused("file_broken") from None
    if not rows:
        raise Refused("file_empty")
    column, has_header = _column(rows[0], max(map(len, rows)))
    found = Found("csv", encoding=encoding)
    for number, row in enumerate(rows, start=1):
        if number == 1 and has_header:
            continue
        if has_header and len(row) > len(rows[0]):  # a text without quotes: its second half must not go missing
            raise Refused("csv_ragged", row=number)
        cell = row[column] if column < len(row) else ""
        if cell.strip():
            found.parts.append(Part(cell, number))
    if not found.parts:
        raise Refused("file_empty")
    return found


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Raises Refused at the first row too many: a million rows cost no more than the limit."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for number, row in enumerate(reader):
        if number > MAX_CSV_ROWS:  # the header does not count
            raise Refused("csv_rows", limit=MAX_CSV_ROWS)
        yield row


def _delimiter(text: str) -> str:
    """Of the first line alone: texts are full of commas, headers are not."""
    sample = io.StringIO(text[:_SAMPLE_CHARACTERS], newline="")
    header = next(csv.reader(sample, delimiter="\x1f"), [""])[0]
    for delimiter in _DELIMITERS:
        if _name_at(next(csv.reader([header], delimiter=delimiter), [])) is not None:
            return delimiter
    counts = {delimiter: header.count(delimiter) for delimiter in _DELIMITERS}
    return "," if not any(counts.values()) else max(counts, key=lambda delimiter: counts[delimiter])


def _column(header: list[str], width: int) -> tuple[int, bool]:
    """(index of the texts' column, whether the first row is a header)."""
    named = _name_at(header)
    if named is not None:
        return named, True
    if width == 1:
        return 0, False
    raise Refused("csv_column", names=", ".join(COLUMNS[:3]))


def _name_at(header: list[str]) -> int | None:
    names = [cell.strip().strip('"').casefold() for cell in header]
    return next((names.index(wanted) for wanted in COLUMNS if wanted in names), None)

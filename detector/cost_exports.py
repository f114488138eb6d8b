"""What was spent as CSV: sums by day, or the ledger's lines. Nothing in it that a spreadsheet would run.

Amounts stand in whole nano-dollars and, beside it, in dollars with a point: exact in both.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from detector.exports import BOM, cell
from gpujobs import ledger_lines
from gpujobs.ledger_lines import Choice
from gpujobs.models import CostEntry
from gpujobs.spending import Cell
from inkcloak import money

CONTENT_TYPE = "text/csv; charset=utf-8"
DAY_COLUMNS = (
    "day", "kind", "service", "provider", "gpu_type", "model_version", "lines", "milliseconds", "amount_nanousd",
    "amount_usd",
)  # fmt: skip
LINE_COLUMNS = (
    "at", "posted_at", "kind", "service", "provider", "gpu_type", "model_version", "account_id", "batch_id", "run_id",
    "attempt", "worker_id", "milliseconds", "amount_nanousd", "amount_usd", "price_id", "corrects_id", "source_ref",
    "note",
)  # fmt: skip


def days(found: Iterable[Cell]) -> bytes:
    """One line for each day, kind, service, provider, card and version."""
    rows = [
        (
            each.day.isoformat(), each.kind, each.service, each.provider, each.gpu_type, each.version, each.entries,
            each.milliseconds, each.nanousd, _dollars(each.nanousd),
        )
        for each in found
    ]  # fmt: skip
    return (BOM + _written([DAY_COLUMNS, *rows])).encode()


def lines(choice: Choice) -> Iterator[bytes]:
    """The file, piece by piece."""
    yield (BOM + _written([LINE_COLUMNS])).encode()
    for chunk in ledger_lines.chunks(choice):
        yield _written(map(_line, chunk)).encode()


def _line(entry: CostEntry) -> list[Any]:
    return [_dollars(entry.amount_nanousd) if name == "amount_usd" else getattr(entry, name) for name in LINE_COLUMNS]


def _dollars(nanousd: int) -> str:
    return f"{money.dollars(nanousd):f}"


def _written(rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerows([_safe(value) for value in row] for row in rows)
    return out.getvalue()


def _safe(value: Any) -> Any:
    """A negative amount in dollars is a number, though it begins with a minus."""
    if isinstance(value, str) and value[:1] == "-" and value[1:].replace(".", "", 1).isdigit():
        return value
    return cell(value)

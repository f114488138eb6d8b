"""Tables: lines in a row that have the same columns, by pipes, tabs, commas, or spaces that stand below each other.

table_runs()   lines -> ranges of lines. Pure; imports line_forms alone.
"""

from collections.abc import Callable, Iterator

import regex

from gpujobs.pod.shared.line_forms import bullet, ends_sentence

TABLE_MIN_LINES = 3  # for columns made of spaces or commas
PAIRS_MIN_LINES = 5  # for two columns with one comma between them
TAB_TABLE_MIN_LINES = PIPE_TABLE_MIN_LINES = 2
TABLE_MAX_WORDS_PER_FIELD = 5  # with tabs
COLUMNS_MAX_WORDS_PER_FIELD = 3  # with spaces: justified prose has gaps, too
TABLE_MAX_FIELD_CHARS = 20  # with commas, on average

_PIPE_RULE = regex.compile(r"\s*\|?(?=[^\n]*-)[\s|:+\-]{3,}$")


def table_runs(lines: list[str], free: list[bool]) -> Iterator[range]:
    """Lines that are tables together; only those that are `free` to be one. Ranges may overlap."""
    yield from _pipe_run(lines, free)
    yield from _column_run(lines, free)
    yield from _comma_run(lines, free)


def _runs(count: int, joins: Callable[[int], bool], starts: Callable[[int], bool]) -> Iterator[range]:
    """Longest runs in which the first line `starts` and each further one `joins` the line before."""
    i = 0
    while i < count:
        j = i + 1
        if starts(i):
            while j < count and joins(j):
                j += 1
            yield range(i, j)
        i = j


def _pipe_run(lines: list[str], free: list[bool]) -> Iterator[range]:
    """Rows of a Markdown table: pipes in each line, and a rule among them or a pipe at each start."""

    def row(i: int) -> bool:
        return free[i] and "|" in lines[i]

    for run in _runs(len(lines), row, row):
        rows = [lines[i].strip() for i in run]
        ruled = any(_PIPE_RULE.match(line) for line in rows)
        framed = all(line.startswith("|") for line in rows)
        columns = len(rows) >= TABLE_MIN_LINES and all(line.count("|") > 1 for line in rows)
        if len(rows) >= PIPE_TABLE_MIN_LINES and (ruled or framed or columns):
            yield run


_GAP = regex.compile(r"(?<=\S)(?:\t+[ \t]*| {2,})(?=\S)")


def _column_run(lines: list[str], free: list[bool]) -> Iterator[range]:
    """Columns by tabs, or by spaces when the columns of neighbouring lines stand exactly below each other."""
    gaps = [_gaps(line) if free[i] and not bullet(line) else () for i, line in enumerate(lines)]

    def joins(i: int) -> bool:
        one, two = gaps[i - 1], gaps[i]
        if len(one) != len(two) or not two:
            return False
        if all("\t" in lines[i][b:e] for b, e in two):
            return True
        return all(
            a[1] == b[1] or _right(lines[i - 1], a[1]) == _right(lines[i], b[1]) for a, b in zip(one, two, strict=True)
        )

    for run in _runs(len(lines), joins, lambda i: bool(gaps[i])):
        tabs = all("\t" in lines[i] for i in run)
        fields = [field for i in run for field in _GAP.split(lines[i].strip())]
        words = sum(len(field.split()) for field in fields)
        ends = sum(ends_sentence(lines[i]) for i in run)
        enough = len(run) >= (TAB_TABLE_MIN_LINES if tabs else TABLE_MIN_LINES)
        most = TABLE_MAX_WORDS_PER_FIELD if tabs else COLUMNS_MAX_WORDS_PER_FIELD
        wide = tabs or any(end - begin > 2 for i in run for begin, end in gaps[i])
        if enough and wide and words <= most * len(fields) and ends * 2 <= len(run):
            yield run


def _gaps(line: str) -> tuple[tuple[int, int], ...]:
    """Where columns are divided; double spaces after a sentence divide none."""
    if "  " not in line and "\t" not in line:
        return ()
    return tuple(m.span() for m in _GAP.finditer(line) if "\t" in m[0] or line[m.start() - 1] not in ".!?:")


def _right(line: str, begin: int) -> int:
    """Where the field ends that begins at `begin`."""
    match = _GAP.search(line, begin)
    return match.start() if match else len(line.rstrip())


_NUMERIC = regex.compile(r"[\s\"']*(?:0x[0-9A-Fa-f]+|[-+$\u20ac\u00a3]?\d[\d.,:/% -]*)[\s\"']*$")


def _comma_run(lines: list[str], free: list[bool]) -> Iterator[range]:
    """Comma-separated values: as many fields in each line, short, and numbers or no space after the comma."""
    for mark in ",;":
        counts = [line.count(mark) if free[i] and not ends_sentence(line) else 0 for i, line in enumerate(lines)]

        def joins(i: int, counts: list[int] = counts) -> bool:
            return counts[i] == counts[i - 1]

        def starts(i: int, counts: list[int] = counts) -> bool:
            return counts[i] >= 1

        for run in _runs(len(lines), joins, starts):
            fields = [field for i in run for field in lines[i].strip().split(mark)]
            short = sum(map(len, fields)) <= TABLE_MAX_FIELD_CHARS * len(fields)
            tight = sum(not field.startswith(" ") for field in fields) == len(fields)
            numbers = sum(bool(_NUMERIC.match(field)) for field in fields)
            if len(fields) == 2 * len(run) and (len(run) < PAIRS_MIN_LINES or numbers * 2 < len(fields)):
                continue
            if len(run) >= TABLE_MIN_LINES and short and (tight or numbers * 3 >= len(fields)):
                yield run

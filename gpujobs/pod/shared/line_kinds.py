"""Which lines are no prose by their form: code, tables, quotes, headings, rules, link definitions.

    mark_lines()   lines -> for each the kind that it is left out as, or None where it may be prose

Pure; imports code_lines, tables, line_forms. Runs count more than lines: one odd line inside prose stays prose.
"""

import regex

from gpujobs.pod.shared.code_lines import code_runs
from gpujobs.pod.shared.line_forms import bullet, ends_sentence
from gpujobs.pod.shared.tables import table_runs

HEADING_LINE_CHARS = 120  # a longer line behind "##" is a paragraph that lost its line ends
QUOTE_LINE_CHARS = 1000  # a longer line behind ">", or one with further ">" in it, is a letter that lost its line ends
RULE_MAX_CHARS = 160

_FENCE = regex.compile(r"\s{0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_QUOTE = regex.compile(r"\s{0,3}>")
_QUOTE_INSIDE = regex.compile(r"[^\s>]\s+>\s")
_ATX = regex.compile(r"\s{0,3}#{1,6}\s+\S")
_RULE = regex.compile(r"\s*(?:[-*_=~+#]\s*){3,}$")
_DEFINITION = regex.compile(r"\s{0,3}\[[^\]\n]{1,80}\]:\s+<?(?:https?:|www\.|mailto:|[./#])\S+.{0,200}$")


def mark_lines(lines: list[str]) -> list[str | None]:
    """For each line "code", "table", "quote", "heading", "url" or "other"; None where it may be prose."""
    marks: list[str | None] = [None] * len(lines)
    _mark_fences(lines, marks)
    _mark_setext(lines, marks)
    for i, line in enumerate(lines):
        if marks[i] is None:
            marks[i] = _by_form(line, lines[i - 1] if i else "")
    for run in table_runs(lines, [mark in (None, "other") for mark in marks]):
        marks[run.start : run.stop] = ["table"] * len(run)
    for run in code_runs(lines, [mark is None for mark in marks]):
        marks[run.start : run.stop] = ["code"] * len(run)
    return marks


def _by_form(line: str, before: str) -> str | None:
    """`before`: the line before. A ">" that wrapping brought to a line's start quotes nothing."""
    if _is_quote(line) and (not before.strip() or _QUOTE.match(before) or ends_sentence(before, ":,")):
        return "quote"
    if len(line) <= HEADING_LINE_CHARS and _ATX.match(line):
        return "heading"
    if _DEFINITION.match(line):
        return "url"
    if line.strip() and not any(c.isalpha() for c in line[:RULE_MAX_CHARS]) and _RULE.match(line[:RULE_MAX_CHARS]):
        return "other"
    return None


def _is_quote(line: str) -> bool:
    return bool(_QUOTE.match(line)) and len(line) <= QUOTE_LINE_CHARS and not _QUOTE_INSIDE.search(line)


def _mark_fences(lines: list[str], marks: list[str | None]) -> None:
    """Fenced code, and the header that generators put between two rules at the very top."""
    opened: int | None = None
    closing = ""
    for i, line in enumerate(lines):
        match = _FENCE.match(line) if ("```" in line or "~~~" in line) else None
        if not match:
            continue
        if opened is None:
            opened, closing = i, match["fence"]
        elif match["fence"].startswith(closing) and not match["info"].strip():
            marks[opened : i + 1] = ["code"] * (i + 1 - opened)
            opened = None
    if opened is not None:  # never closed: only the mark itself goes
        marks[opened] = "code"
    if lines and lines[0].rstrip() == "---":
        end = next((i for i in range(1, min(len(lines), 40)) if lines[i].rstrip() == "---"), 0)
        if end and all(":" in line or line.startswith((" ", "-")) for line in lines[1:end]):
            marks[: end + 1] = ["other"] * (end + 1)


def _mark_setext(lines: list[str], marks: list[str | None]) -> None:
    """A line underlined by "====" or "----"."""
    for i in range(1, len(lines)):
        rule = lines[i].strip()
        if len(rule) < 3 or (rule.strip("=") and rule.strip("-")):
            continue
        title = lines[i - 1].strip()
        apart = i < 2 or not lines[i - 2].strip()
        if (
            title
            and apart
            and len(title) <= 100
            and marks[i - 1] is None
            and not bullet(lines[i - 1])
            and "|" not in title
        ):
            marks[i - 1] = marks[i] = "heading"

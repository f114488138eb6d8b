"""What single lines are by their form: code, tables, quotes, headings, rules, list items, entries of a bibliography.

    mark_lines()   lines -> for each the kind that it is left out as, or None where it may be prose

Pure, standard library and regex. Runs count more than lines: one odd line inside prose stays prose.
"""

from collections.abc import Callable, Iterator

import regex

HEADING_LINE_CHARS = 120  # a longer line behind "##" is a paragraph that lost its line ends
CODE_MIN_SHARE = 0.6  # of the lines of a run of weak and strong code lines
PROSE_LINE_CHARS = 160  # longer lines are paragraphs: never code by weak signs
TABLE_MIN_LINES = 3  # for columns made of spaces or commas
TAB_TABLE_MIN_LINES = 2
TABLE_MAX_WORDS_PER_FIELD = 5  # with tabs
COLUMNS_MAX_WORDS_PER_FIELD = 3  # with spaces: justified prose has gaps, too
CODE_MAX_FUNCTION_WORDS = 1
TABLE_MAX_FIELD_CHARS = 40
REFERENCE_MIN_ENTRIES = 2  # of a list of sources without a heading

_FENCE = regex.compile(r"\s{0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_QUOTE = regex.compile(r"\s{0,3}>")
_ATX = regex.compile(r"\s{0,3}#{1,6}\s+\S")
_RULE = regex.compile(r"\s*(?:[-*_=~+#]\s*){3,}$")
_DEFINITION = regex.compile(r"\s{0,3}\[[^\]\n]{1,80}\]:\s+<?(?:https?:|www\.|mailto:|[./#])\S+.{0,200}$")
_PIPES = regex.compile(r"[^|]*(?:\|[^|]*){2,}$")
_PIPE_RULE = regex.compile(r"\s*\|?(?=[^\n]*-)[\s|:+\-]{3,}$")
_BULLET = regex.compile(
    r"\s*(?:[-+*\u2022\u2023\u25aa\u25cf\u25cb\u25e6\u25a0\u25a1\u2219\u00b7\u27a2\u2713\u2714\u2013]"
    r"|\d{1,3}[.)]|\(?(?:[a-z]|[ivx]{1,4}|\d{1,3})\)|\#{1,6})[ \t]+(?=\S)"
)
_CHECKBOX = regex.compile(r"\[[ xX]\][ \t]+")
_SENTENCE_END = regex.compile(r"[.!?\u3002]['\"*_)\]]*(?:\[\d{1,3}\])?\s*$")


def bullet(line: str) -> int:
    """Length of the list mark that opens a line, with the space after it; 0 without one."""
    match = _BULLET.match(line)
    if not match:
        return 0
    box = _CHECKBOX.match(line, match.end())
    return box.end() if box else match.end()


def ends_sentence(text: str, also: str = "") -> bool:
    """Whether a text ends as sentences do, or with one of the characters in `also`."""
    tail = text[-40:].rstrip()
    return bool(_SENTENCE_END.search(tail)) or (bool(also) and tail.rstrip("*_")[-1:] in set(also))


def mark_lines(lines: list[str]) -> list[str | None]:
    """For each line "code", "table", "quote", "heading", "url" or "other"; None where it may be prose."""
    marks: list[str | None] = [None] * len(lines)
    _mark_fences(lines, marks)
    _mark_setext(lines, marks)
    for i, line in enumerate(lines):
        if marks[i] is None:
            marks[i] = _by_form(line, lines[i - 1] if i else "")
    _mark_runs(lines, marks, "table", _pipe_run)
    _mark_runs(lines, marks, "table", _column_run)
    _mark_runs(lines, marks, "table", _comma_run)
    _mark_code(lines, marks)
    return marks


def _by_form(line: str, before: str) -> str | None:
    """`before`: the line before. A ">" that wrapping brought to a line's start quotes nothing."""
    if _QUOTE.match(line) and (not before.strip() or _QUOTE.match(before) or ends_sentence(before, ":,")):
        return "quote"
    if len(line) <= HEADING_LINE_CHARS and _ATX.match(line):
        return "heading"
    if _DEFINITION.match(line):
        return "url"
    if line.strip() and not any(c.isalpha() for c in line[:PROSE_LINE_CHARS]) and _RULE.match(line[:PROSE_LINE_CHARS]):
        return "other"
    return None


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
        if len(rule) < 3 or rule.strip("=") and rule.strip("-"):
            continue
        title = lines[i - 1].strip()
        apart = i < 2 or not lines[i - 2].strip()
        if title and apart and len(title) <= 100 and marks[i - 1] is None and not bullet(lines[i - 1]) and "|" not in title:
            marks[i - 1] = marks[i] = "heading"


# --- tables ------------------------------------------------------------------------------------------------------


def _mark_runs(
    lines: list[str], marks: list[str | None], kind: str, runs: Callable[[list[str], list[str | None]], Iterator[range]]
) -> None:
    for run in runs(lines, marks):
        for i in run:
            marks[i] = kind


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


def _pipe_run(lines: list[str], marks: list[str | None]) -> Iterator[range]:
    """Rows of a Markdown table: pipes in each line, and a rule among them or a pipe at each start."""

    def row(i: int) -> bool:
        line = lines[i]
        return marks[i] in (None, "other") and "|" in line and (bool(_PIPES.match(line)) or bool(_PIPE_RULE.match(line)))

    for run in _runs(len(lines), row, row):
        rows = [lines[i].strip() for i in run]
        ruled = any(_PIPE_RULE.match(line) for line in rows)
        framed = all(line.startswith("|") for line in rows)
        if len(rows) >= TAB_TABLE_MIN_LINES and (ruled or framed or len(rows) >= TABLE_MIN_LINES):
            yield run


_GAP = regex.compile(r"(?<=\S)(?:\t+[ \t]*| {2,})(?=\S)")


def _column_run(lines: list[str], marks: list[str | None]) -> Iterator[range]:
    """Columns by tabs, or by spaces when the columns of neighbouring lines stand exactly below each other."""
    gaps = [_gaps(line) if marks[i] is None and not bullet(line) else () for i, line in enumerate(lines)]

    def joins(i: int) -> bool:
        one, two = gaps[i - 1], gaps[i]
        if len(one) != len(two) or not two:
            return False
        if all("\t" in lines[i][b:e] for b, e in two):
            return True
        return all(a[1] == b[1] or _right(lines[i - 1], a[1]) == _right(lines[i], b[1]) for a, b in zip(one, two, strict=True))

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


_NUMERIC = regex.compile(r"[\s\"']*[-+$\u20ac\u00a3]?\d[\d.,:/% -]*[\s\"']*$")


def _comma_run(lines: list[str], marks: list[str | None]) -> Iterator[range]:
    """Comma-separated values: the same number of fields in each line, short, and numbers or no space after the comma."""
    for mark in ",;":
        counts = [line.count(mark) if marks[i] is None and not ends_sentence(line) else 0 for i, line in enumerate(lines)]

        def joins(i: int, counts: list[int] = counts) -> bool:
            return counts[i] == counts[i - 1]

        def starts(i: int, counts: list[int] = counts) -> bool:
            return counts[i] >= 2

        for run in _runs(len(lines), joins, starts):
            fields = [field for i in run for field in lines[i].strip().split(mark)]
            short = sum(map(len, fields)) <= TABLE_MAX_FIELD_CHARS * len(fields) / 2
            tight = sum(not field.startswith(" ") for field in fields) == len(fields)
            numbers = sum(bool(_NUMERIC.match(field)) for field in fields)
            if len(run) >= TABLE_MIN_LINES and short and (tight or numbers * 3 >= len(fields)):
                yield run


# --- code --------------------------------------------------------------------------------------------------------

_STRONG_CODE = regex.compile(
    r"""\s*(?:
    (?:def|class)\s+\w+\s*(?:\([^)]*\))?\s*(?:->\s*[\w\[\], .|]+)?:\s*(?:\#.*)?$
    | (?:import\s+[\w.{}*,\s]+(?:\s+(?:as\s+\w+|from\s+['"].*))?;?|from\s+[\w.]+\s+import\s+.+)$
    | (?:if|elif|while|for|with|except|switch|catch)\b.*(?:[)\]\w]:|\)\s*\{)\s*$(?<=[)\]=<>\d"'][^\n]*)
    | (?:else|try|finally)\s*[:{]\s*$
    | (?:public|private|protected|static|final|const|let|var|function|fn|func|void|int|float|double|struct|enum|impl|export|async)\s
      [^.!?]*[{;(=][^.!?]*.*[;{)(,]?\s*$
    | \#\s*(?:include|define|ifdef|ifndef|endif|pragma)\b.*$ | \#!\s*/.*$
    | (?:>>>|\.\.\.|\$|C:\\>)\s\S.*$ | (?:sudo|apt-get|pip|npm|git|docker|curl|cd|ls|mkdir)\s+[\w./-]+(?:\s+[-\w./:=]+)*$
    | (?:SELECT|INSERT\s+INTO|UPDATE|DELETE\s+FROM|CREATE\s+TABLE|ALTER\s+TABLE)\s.*
    | (?://|/\*|\*/|--\s).*$ | @\w+(?:\(.*\))?$ | [{}()\[\];,]+\s*$
    | </?(?!(?:b|i|em|strong|a|span|u|s|br|p)\b)[A-Za-z][\w:-]*(?:\s[^<>]*)?/?>(?:.*>)?\s*$ | <!(?:--|DOCTYPE).*
    | (?:[\w.\[\]'"]+(?:\s*,\s*[\w.\[\]'"]+)*)\s*(?:[-+*/%|&^]|<<|>>)?=\s*(?!=)\S.*$
    | [\w.:]+\(.*\)\s*[;{]?\s*$
    | return\b(?:\s+[\w.\[\](){}'"+*/%<>=!&|,:\s-]+)?;?$ | (?:print|printf|echo|console\.log|println!?)\s*[("'].*$
    | [.\#]?[\w\-]+(?:\s*[>+~,]?\s*[.\#]?[\w\-]+)*\s*\{\s*$ | "[\w\-]+"\s*:\s*.*,?$ | [\w-]+\s*:\s*[^\s;][^;]*;\s*$
    )""",
    regex.VERBOSE,
)
_COMMENT = regex.compile(r"\s*(?://|/\*|--\s|\#|>>>|\$\s|</?\w|SELECT\s)")
_FUNCTION_WORD = regex.compile(
    r"\b(?:the|of|and|to|that|is|was|a|an|it|as|he|she|they|you|de|la|que|el|en|los|las|un|una|se|por)\b", regex.IGNORECASE
)
_CODE_SIGN = regex.compile(r"[{}\[\]=<>;_\\$#@&|*+`^~/]|\(\)|::|->|==|!=")


def _mark_code(lines: list[str], marks: list[str | None]) -> None:
    """Runs of lines that look like code, blank lines inside them included; a single line only by two signs."""
    strong = [marks[i] is None and _is_strong(line) for i, line in enumerate(lines)]
    i = 0
    while i < len(lines):
        if not strong[i]:
            i += 1
            continue
        end, hits, j = i + 1, 1, i + 1
        while j < len(lines) and marks[j] is None and (strong[j] or _is_weak(lines[j]) or not lines[j].strip()):
            if strong[j]:
                hits += 1
            if lines[j].strip():
                end = j + 1
            elif j + 1 < len(lines) and not lines[j + 1].strip():
                break
            j += 1
        size = sum(bool(line.strip()) for line in lines[i:end])
        if (size > 1 and hits >= CODE_MIN_SHARE * size) or (hits >= 2 and hits * 2 >= size) or _is_certain(lines[i]):
            marks[i:end] = ["code"] * (end - i)
        i = max(end, i + 1)


def _is_strong(line: str) -> bool:
    if len(line) > PROSE_LINE_CHARS or not line.strip():
        return False
    if line.rstrip()[-1] in ".!?" and line.count(" ") > 4 and "(" not in line:
        return False
    if not _STRONG_CODE.match(line):
        return False
    return bool(_COMMENT.match(line)) or len(_FUNCTION_WORD.findall(line)) <= CODE_MAX_FUNCTION_WORDS


def _is_weak(line: str) -> bool:
    """Indented, or dense with signs: code only beside strong lines."""
    if len(line) > PROSE_LINE_CHARS:
        return False
    stripped = line.strip()
    if line.startswith(("    ", "\t", "  ")) and not ends_sentence(line):
        return True
    return len(_CODE_SIGN.findall(stripped)) * 8 >= len(stripped) > 0


def _is_certain(line: str) -> bool:
    """One line alone is code when it has several signs and no sentence."""
    return len(_CODE_SIGN.findall(line)) >= 3 and not ends_sentence(line) and line.count(" ") <= 12


# --- lists of sources --------------------------------------------------------------------------------------------

_TITLES = (
    r"references?(?: list| cited)?|bibliography|works cited|literature(?: cited)?|sources|further reading|citations|"
    r"referencias(?: bibliogr[aá]ficas)?|bibliograf[ií]a|obras citadas|fuentes(?: consultadas)?|literatura citada"
)
REFERENCE_HEADING = regex.compile(rf"[#*_\s\d.]*(?:{_TITLES})[*_:\s]*", regex.IGNORECASE)
REFERENCE_HEADING_LINE = regex.compile(rf"[#*_\s\d.]*(?:{_TITLES})[*_: ]*\n", regex.IGNORECASE)
_YEAR = regex.compile(r"\b(?:1[6-9]|20)\d\d[a-z]?\b")
_SOURCE_SIGN = regex.compile(
    r"https?://|www\.|\bdoi\b|\bet al\b|\bpp?\.\s?\d|\bvol\.|\(\s*(?:1[6-9]|20)\d\d|\bISBN\b|\bRetrieved\b|\bRecuperado\b"
    r"|^\s*\[\d{1,3}\]|\bPress\b|\bJournal\b|\bRevista\b|\bEditorial\b|\b\d+\s?\(\d+\)",
    regex.IGNORECASE,
)
STRONG_ENTRY = regex.compile(
    r"(?:\[\d{1,3}\]\s+\S.{0,400}|(?:\d{1,3}\.\s+)?[-\p{L}' ]{2,60},\s(?:\p{Lu}\.[\s,&-]*)+.{0,300}?\((?:1[6-9]|20)\d\d[a-z]?(?:,[^)]{0,20})?\)\.?.{0,400})",
    regex.DOTALL,
)


def looks_like_entry(line: str) -> bool:
    """An entry of a bibliography: a year or a link, and something that only sources have."""
    head = line[:400]
    return bool(_SOURCE_SIGN.search(head)) and (bool(_YEAR.search(head)) or "http" in head or "www." in head)

"""What the model reads of a text: its prose, cleaned, with a map to the original and the list of what was left out.

    read()          original -> Reading: clean characters, find blocks, clean inside the prose, put it on one line each
    count_words()   words as people count them

Training, evaluation, pod and site call read() alike. Pure; imports normalise, blocks, inline, line_forms, code_lines.
Whatever of the original is neither in `text` nor white space nor a cleaned character lies in exactly one LeftOut.
Offsets are code points of the original.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import regex

from gpujobs.pod.shared.blocks import PROSE, Block, find_blocks
from gpujobs.pod.shared.code_lines import dense_with_code
from gpujobs.pod.shared.hyphenation import join_hyphenated
from gpujobs.pod.shared.inline import clean_inline
from gpujobs.pod.shared.line_forms import inner_dots, inner_marks, opening_marks
from gpujobs.pod.shared.mapped import Mapped, join
from gpujobs.pod.shared.normalise import Cleaned, clean_characters, layout, tally

LEFT_OUT_KINDS = ("code", "table", "url", "reference", "quote", "list", "heading", "other")
BLOCK_JOINER = "\n\n"

_LINE_ENDS = regex.compile(r"[ \t]*\n\s*")
_TIGHT_DASH = regex.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"')\]]))(?:[\u2013\u2014]+|-{2,3})(?=[^\s\-\u2013\u2014\d])")
_LETTER = regex.compile(r"\p{L}")
_SINGLE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_IN_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_SINGLE}]]"
# The first character of each word: no group repeats, so that one word of millions of characters takes no memory.
_WORD_START = regex.compile(
    rf"[{_SINGLE}]|(?<!{_IN_WORD})(?<!{_IN_WORD}['\u2019\-.,:/@&])[{_IN_WORD}--\p{{M}}]", regex.V1
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A range of the original that is not scored; kind: one of LEFT_OUT_KINDS."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """text: the prose, blocks joined by an empty line.  starts, ends: (len(text),) ranges of the original.

    words: words in `text`.  original_chars: code points of the original.
    """

    text: str
    starts: "array[int]"
    ends: "array[int]"
    cleaned: tuple[Cleaned, ...]
    left_out: tuple[LeftOut, ...]
    words: int
    original_chars: int

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original behind text[start:end]; an empty range stays empty."""
        if start < end:
            return self.starts[start], max(self.starts[start], self.ends[end - 1])
        at = self.starts[start] if start < len(self.starts) else (self.ends[-1] if self.ends else 0)
        return at, at


def read(text: str) -> Reading:
    """The prose of a text. Never raises, whatever the characters; without prose `text` is empty."""
    counts: Counter[str] = Counter()
    mapped = clean_characters(text, counts)
    parts: list[Mapped] = []
    left: list[tuple[str, int, int]] = []
    for block in find_blocks(mapped.text):
        body = mapped.cut(block.begin, block.end)
        if block.kind == PROSE:
            prose, gaps = _read_block(body, block, counts)
            parts.append(prose)
            left += gaps
        else:
            left.append(_whole(block.kind, body))
    prose = join(parts, BLOCK_JOINER)
    return Reading(
        text=prose.text,
        starts=prose.starts,
        ends=prose.ends,
        cleaned=tally(counts),
        left_out=_merged(left, mapped),
        words=count_words(prose.text),
        original_chars=len(text),
    )


def count_words(text: str) -> int:
    """Words as people count them: runs of letters and digits, with marks such as ' - . inside them.

    Scripts without spaces (Chinese, Japanese, Thai …) count by character: such a text is not "too short".
    """
    return len(_WORD_START.findall(text))


def _read_block(body: Mapped, block: Block, counts: "Counter[str]") -> tuple[Mapped, list[tuple[str, int, int]]]:
    """One block of prose on one line, and what was left out of it; all of it when no letter remains."""
    counts["markup"] += sum(not c.isspace() for c in body.text[: block.mark])
    body = body.cut(block.mark, len(body.text))
    cleaned, gaps = clean_inline(body, counts)
    if not _LETTER.search(cleaned.text):
        return cleaned.cut(0, 0), [_whole("other" if not gaps else gaps[0][0], body)] if body.text.strip() else []
    if dense_with_code(cleaned.text):
        return cleaned.cut(0, 0), [_whole("code", body)]
    line = join_hyphenated(_without_marks(cleaned, counts), counts).rewrite(_LINE_ENDS, _line_end)
    return layout(line, counts), gaps


def _line_end(match: "regex.Match[str]") -> str:
    """A space, but none after the hyphen of a compound ("Jean-\\nPaul", "3-\\n4")."""
    text, begin, end = match.string, match.start(), match.end()
    compound = text[begin - 1 : begin] == "-" and text[begin - 2 : begin - 1].isalnum()
    return "" if compound and (text[end : end + 1].isupper() or text[end : end + 1].isdigit()) else " "


def _without_marks(block: Mapped, counts: "Counter[str]") -> Mapped:
    """Without dashes and list marks before a sentence: a bullet and a dialogue read the same on one line or on many."""
    opening = opening_marks(block.text)
    _count_marks(block.text[:opening], counts)
    block = block.cut(opening, len(block.text))
    if "\u2014" in block.text or "\u2013" in block.text or "--" in block.text:
        block = block.rewrite(_TIGHT_DASH, lambda match: _spaced(match[0], counts))
    spans = sorted([*inner_marks(block.text), *inner_dots(block.text)])
    if not spans:
        return block
    for begin, end in spans:
        _count_marks(block.text[begin:end], counts)
    return block.without(spans)


def _spaced(marks: str, counts: "Counter[str]") -> str:
    _count_marks(marks, counts)
    return " "


def _count_marks(marks: str, counts: "Counter[str]") -> None:
    dashes = sum(c in "\u2013\u2014" for c in marks)
    counts["dash"] += dashes
    counts["markup"] += sum(not c.isspace() for c in marks) - dashes


def _whole(kind: str, body: Mapped) -> tuple[str, int, int]:
    body = body.trimmed()
    return kind, body.starts[0], body.ends[-1]


def _merged(left: Iterable[tuple[str, int, int]], mapped: Mapped) -> tuple[LeftOut, ...]:
    """In order, disjoint; neighbours of one kind become one when only white space or cleaned characters divide them."""
    if not left:
        return ()
    visible = array("I", (start for start, char in zip(mapped.starts, mapped.text, strict=True) if not char.isspace()))
    merged: list[LeftOut] = []
    for kind, start, end in sorted(left, key=lambda item: item[1:]):
        last = merged[-1] if merged else None
        start = max(start, last.end) if last else start
        if last and last.kind == kind and not _between(visible, last.end, start):
            merged[-1] = LeftOut(kind, last.start, max(end, last.end))
        elif end > start:
            merged.append(LeftOut(kind, start, end))
    return tuple(merged)


def _between(visible: "array[int]", begin: int, end: int) -> bool:
    """Whether a visible character begins in [begin, end) of the original."""
    at = bisect_left(visible, begin)
    return at < len(visible) and visible[at] < end

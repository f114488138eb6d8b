"""What the model reads of a text: its prose, cleaned, with a map to the original and the list of what was left out.

Pure. Training, evaluation, pod and site call read() alike. Offsets are code points of the original.
"""

from array import array
from collections import Counter
from dataclasses import dataclass

import regex

from gpujobs.pod.shared.mapped import Mapped, join
from gpujobs.pod.shared.normalise import Cleaned, characters, layout, tally

_PARAGRAPH = regex.compile(r"(?:[^\n]|\n(?![ \t]*\n))+")
_LINE_END = regex.compile(r"\n")
_WORD = regex.compile(r"\p{Han}|[\p{Hiragana}\p{Katakana}]|[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|['\-.,](?=[\p{L}\p{N}]))*")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A range of the original that is not scored; kind: code, table, url, reference, quote, list, heading, other."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """text: the prose.  starts, ends: (len(text),) ranges of the original.  words: words in `text`."""

    text: str
    starts: "array[int]"
    ends: "array[int]"
    cleaned: tuple[Cleaned, ...]
    left_out: tuple[LeftOut, ...]
    words: int
    original_chars: int

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original behind text[start:end]; an empty range stays empty."""
        if start >= end:
            at = self.starts[start] if start < len(self.starts) else (self.ends[-1] if self.ends else 0)
            return at, at
        return self.starts[start], max(self.starts[start], self.ends[end - 1])


def read(text: str) -> Reading:
    """The prose of a text. Never raises, whatever the characters; no prose gives an empty `text`."""
    counts: Counter[str] = Counter()
    mapped = characters(Mapped.of(text), counts)
    blocks = (mapped.cut(*match.span()) for match in _PARAGRAPH.finditer(mapped.text))
    prose = join((_one_line(block, counts) for block in blocks), "\n\n")
    return Reading(
        prose.text, prose.starts, prose.ends, tally(counts), (), count_words(prose.text), len(text)
    )


def _one_line(block: Mapped, counts: "Counter[str]") -> Mapped:
    """A block without hyphenation and line ends."""
    block = layout(block, counts)
    return block.rewrite(_LINE_END, lambda _: " ")


def count_words(text: str) -> int:
    """Words as people count them: runs of letters and digits, apostrophes and hyphens inside; Han and kana by character."""
    return sum(1 for _ in _WORD.finditer(text))

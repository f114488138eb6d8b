"""A text that remembers where each of its characters came from: the ground that normaliser and prose finder share.

Pure. Offsets are code points of the original; every character of `text` has a range
[starts[i], ends[i]) of the original, both non-decreasing. Nothing here knows what is cleaned, or why.
"""

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import regex

OFFSET_TYPE = "I"  # unsigned, 4 bytes: texts up to 4 Gi code points


@dataclass(frozen=True, slots=True)
class Mapped:
    """text: n characters.  starts, ends: array('I') of n offsets in code points of the original."""

    text: str
    starts: "array[int]"
    ends: "array[int]"

    @classmethod
    def of(cls, text: str) -> "Mapped":
        """The original itself, each character on its own place."""
        return cls(text, array(OFFSET_TYPE, range(len(text))), array(OFFSET_TYPE, range(1, len(text) + 1)))

    def rewrite(self, pattern: "regex.Pattern[str]", replace: Callable[[Any], str | None]) -> "Mapped":
        """Each match becomes what `replace(match)` says; None or the same string leaves it alone.

        Every character of a replacement is mapped to the whole range of its match. Matches must not be empty.
        """
        texts: list[str] = []
        starts, ends = array(OFFSET_TYPE), array(OFFSET_TYPE)
        last = 0
        for match in pattern.finditer(self.text):
            new = replace(match)
            if new is None or new == match[0]:
                continue
            begin, end = match.span()
            texts += (self.text[last:begin], new)
            starts.extend(self.starts[last:begin])
            ends.extend(self.ends[last:begin])
            if new:
                starts.extend([self.starts[begin]] * len(new))
                ends.extend([self.ends[end - 1]] * len(new))
            last = end
        if not last:
            return self
        texts.append(self.text[last:])
        starts.extend(self.starts[last:])
        ends.extend(self.ends[last:])
        return Mapped("".join(texts), starts, ends)

    def without(self, spans: Iterable[tuple[int, int]]) -> "Mapped":
        """Without the characters of these ranges, which are in order (a later one may begin inside the one before)."""
        texts: list[str] = []
        starts, ends = array(OFFSET_TYPE), array(OFFSET_TYPE)
        last = 0
        for begin, end in [*spans, (len(self.text), len(self.text))]:
            if begin > last:
                texts.append(self.text[last:begin])
                starts.extend(self.starts[last:begin])
                ends.extend(self.ends[last:begin])
            last = max(last, end)
        return Mapped("".join(texts), starts, ends)

    def cut(self, begin: int, end: int) -> "Mapped":
        """The characters [begin, end), with their places."""
        return Mapped(self.text[begin:end], self.starts[begin:end], self.ends[begin:end])

    def trimmed(self) -> "Mapped":
        """Without white space at both ends."""
        begin = len(self.text) - len(self.text.lstrip())
        return self.cut(begin, max(begin, len(self.text.rstrip())))


def join(parts: Iterable[Mapped], joiner: str) -> Mapped:
    """The parts in a row; each joiner character has an empty range at the start of the part that follows."""
    texts: list[str] = []
    starts, ends = array(OFFSET_TYPE), array(OFFSET_TYPE)
    for part in parts:
        if not part.text:
            continue
        if texts:
            texts.append(joiner)
            starts.extend([part.starts[0]] * len(joiner))
            ends.extend([part.starts[0]] * len(joiner))
        texts.append(part.text)
        starts.extend(part.starts)
        ends.extend(part.ends)
    return Mapped("".join(texts), starts, ends)

"""Where sentences end, so that highlights begin and end where readers expect it.

    sentence_spans()   spans over the whole text, without gaps

The rules are those of sentencex (Wikimedia, MIT), which knows abbreviations in many languages and is linear. Here:
spans instead of strings, paragraphs as limits, and a length that no span exceeds: an endless line is no sentence.
Pure; sentencex is imported on first use.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

MAX_SENTENCE_CHARS = 2_000
_FALLBACK = "en"


def sentence_spans(text: str, language: str) -> list[tuple[int, int]]:
    """[(start, end), …] in characters of `text`: in order, touching, together the whole of it; empty for "".

    White space belongs to the sentence before it. language: ISO 639-1; an unknown one is split as English is.
    """
    spans: list[tuple[int, int]] = []
    for start, end in _pieces(text, language or _FALLBACK):
        if (spans and not text[start:end].strip()) or (spans and not text[spans[-1][0] : spans[-1][1]].strip()):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [piece for span in spans for piece in _short_enough(text, *span)]


def _pieces(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Sentences line by line; the library is not asked about line ends, whose text it does not return whole."""
    begin = 0
    for line in text.splitlines(keepends=True):
        at = begin
        for sentence in _segment()(language, line.rstrip("\r\n")):
            if not line.startswith(sentence, at - begin):  # characters it drops or replaces: keep the line whole
                break
            yield at, at + len(sentence)
            at += len(sentence)
        begin += len(line)
        if at < begin:
            yield at, begin


@lru_cache(maxsize=1)
def _segment() -> Any:
    from sentencex import segment

    return segment


def _short_enough(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A span in parts of at most MAX_SENTENCE_CHARS, cut behind a space where there is one."""
    while end - start > MAX_SENTENCE_CHARS:
        limit = start + MAX_SENTENCE_CHARS
        space = text.rfind(" ", start + 1, limit)
        cut = space + 1 if space > start else limit
        yield start, cut
        start = cut
    yield start, end

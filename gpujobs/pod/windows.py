"""Cuts a text into windows that the model can read: whole sentences, balanced, without gaps; and joins their
scores.

Pure: the tokenizer comes in as a function. May be imported by: score.py, training, tests. Imports:
shared.sentences.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpujobs.pod.shared.sentences import sentence_spans

MAX_WINDOW_TOKENS = 254  # the model's 256 less its two special tokens
TINY_TAIL_SHARE = 0.25  # a window smaller than this share of the others' joins its neighbour when it fits

Offsets = Sequence[tuple[int, int]]  # [start, end) of each token in the text
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Window:
    """[start, end) in code points of the text; first, last: its tokens are first .. last - 1 of the
    text's.
    """

    start: int
    end: int
    first: int
    last: int


def cut(text: str, language: str, offsets: Offsets, limit: int = MAX_WINDOW_TOKENS) -> list[Window]:
    """Windows of at most `limit` tokens that cover every character of the text exactly once, in order.

    offsets: token spans of the whole text, as the tokenizer gives them.  An empty text has no windows.
    Sentences are kept whole; one that is too long is cut at a space, or anywhere where there is none.
    """
    if not text:
        return []
    starts = [first_letter(text, start, end) for start, end in offsets]
    pieces = _pieces(text, sentence_spans(text, language), starts, limit)
    groups = _balance([count for _, count in pieces], limit)
    windows: list[Window] = []
    at, token = 0, 0
    for size in groups:
        start, end = pieces[at][0][0], pieces[at + size - 1][0][1]
        tokens = sum(count for _, count in pieces[at : at + size])
        windows.append(Window(start, end, token, token + tokens))
        at, token = at + size, token + tokens
    return windows


def join(scores: Sequence[float], windows: Sequence[Window]) -> float:
    """The document's logit: the mean of its windows' logits, each weighted by its characters."""
    total = sum(w.end - w.start for w in windows)
    return math.fsum(s * (w.end - w.start) for s, w in zip(scores, windows, strict=True)) / total


def first_letter(text: str, start: int, end: int) -> int:
    """Where a token's letters begin: tokenizers count the space before a word to the word, sentences don't."""
    while start < end - 1 and text[start].isspace():
        start += 1
    return start


def _pieces(text: str, sentences: Sequence[Span], starts: Sequence[int], limit: int) -> list[tuple[Span, int]]:
    """Sentences (or their parts) with their token counts. A token belongs to the piece in which it starts."""
    found: list[tuple[Span, int]] = []
    token = 0
    for start, end in sentences:
        first = token
        while token < len(starts) and starts[token] < end:
            token += 1
        found += _parts(text, (start, end), starts[first:token], limit)
    leftover = len(starts) - token
    if leftover and found:  # a tokenizer may place a last token at the very end
        span, count = found[-1]
        found[-1] = (span, count + leftover)
    return found


def _parts(text: str, span: Span, starts: Sequence[int], limit: int) -> list[tuple[Span, int]]:
    if len(starts) <= limit:
        return [(span, len(starts))]
    number = math.ceil(len(starts) / limit)
    size = math.ceil(len(starts) / number)
    found: list[tuple[Span, int]] = []
    start, first = span[0], 0
    while len(starts) - first > limit:
        last = _space_before(text, starts, first + size, first + size // 2)
        found.append(((start, starts[last]), last - first))
        start, first = starts[last], last
    return [*found, ((start, span[1]), len(starts) - first)]


def _space_before(text: str, starts: Sequence[int], wanted: int, lowest: int) -> int:
    """The last token at or before `wanted` that starts a word; `wanted` itself where there is none above
    `lowest`.
    """
    for token in range(wanted, lowest, -1):
        at = starts[token]
        if at > starts[token - 1] and (text[at].isspace() or (at and text[at - 1].isspace())):
            return token
    while wanted > lowest + 1 and starts[wanted] == starts[wanted - 1]:
        wanted -= 1  # never between two tokens of one character
    return wanted


def _balance(counts: Sequence[int], limit: int) -> list[int]:
    """How many pieces go into each window: as few windows as whole pieces allow, of about equal size."""
    total = sum(counts)
    target = total / max(1, math.ceil(total / limit))
    groups, sizes = [0], [0]
    for count in counts:
        full = sizes[-1] + count > limit
        closer_without = sizes[-1] > 0 and sizes[-1] + count - target > target - sizes[-1]
        if groups[-1] and (full or closer_without):
            groups.append(0)
            sizes.append(0)
        groups[-1] += 1
        sizes[-1] += count
    return _join_tiny(groups, sizes, limit, target)


def _join_tiny(groups: list[int], sizes: list[int], limit: int, target: float) -> list[int]:
    kept, tokens = groups[:1], sizes[:1]
    for number, size in zip(groups[1:], sizes[1:], strict=True):
        tiny = size < TINY_TAIL_SHARE * target or tokens[-1] < TINY_TAIL_SHARE * target
        if tiny and tokens[-1] + size <= limit:
            kept[-1] += number
            tokens[-1] += size
        else:
            kept.append(number)
            tokens.append(size)
    return kept

"""How much of a pass is padding: the tokens of nothing that rows carry to be as long as the longest of their batch.

An estimate from answers: a window's tokens are its text's, shared out by characters, and of a text that was read twice
only the second reading shows. Packing is the engine's own rule. Pure. May be imported by: handler.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpujobs.pod.contract import TextOut
from gpujobs.pod.engine import batches
from gpujobs.pod.score import SPECIAL_TOKENS


@dataclass(frozen=True, slots=True)
class Rule:
    """budget: padded tokens of one batch.  step: rows are padded to a multiple of it."""

    budget: int
    step: int


def with_padding(texts: Sequence[TextOut], rule: Rule) -> list[TextOut]:
    """The answers of one pass, each with its padding. Those with an error went through no engine and have none."""
    rows = [(length, place) for place, text in enumerate(texts) if not text.error for length in _rows(text)]
    rows.sort()
    padding = [0] * len(texts)
    padded = [-(-length // rule.step) * rule.step for length, _ in rows]
    for batch in batches(padded, rule.budget):
        longest = padded[batch[-1]]
        for length, place in (rows[i] for i in batch):
            padding[place] += longest - length
    return [text if text.error else replace(text, padding=padding[place]) for place, text in enumerate(texts)]


def _rows(text: TextOut) -> list[int]:
    """Tokens of each of its windows."""
    characters = sum(window.end - window.start for window in text.windows) or 1
    return [round(text.tokens * (w.end - w.start) / characters) + SPECIAL_TOKENS for w in text.windows]

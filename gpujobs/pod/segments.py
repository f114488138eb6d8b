"""Where the writer changes: token logits to sentences, sentences to segments of one writer each.

Two states, human and AI, a cost for every change between them, and the cheapest path (Viterbi 1967): a sentence that
stands alone against its neighbours needs strong evidence, a run of them little. A text without a change has one
segment. Pure. May be imported by: score.py, packaging. Imports: numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

FULL_WEIGHT_TOKENS = 25  # a sentence of so many tokens has its mean logit as evidence; others by the root of length


@dataclass(frozen=True, slots=True)
class Sentence:
    """[start, end) in code points of the text, the mean logit of its tokens, and how many there are."""

    start: int
    end: int
    logit: float
    tokens: int

    @property
    def evidence(self) -> float:
        """Log-odds for AI. Neighbouring tokens say much the same, so they don't simply add up."""
        return self.logit * float(np.sqrt(self.tokens / FULL_WEIGHT_TOKENS))


def measure(spans: Sequence[tuple[int, int]], starts: Sequence[int], logits: Floats) -> list[Sentence]:
    """Sentences with their evidence. A token belongs to the sentence in which it starts; one without tokens has none.

    spans: sentences, without gaps.  starts: (T,) where each token begins, ascending.  logits: (T,).
    """
    edges = np.searchsorted(np.asarray(starts), [end for _, end in spans])
    found, first = [], 0
    for (start, end), last in zip(spans, [*edges[:-1], len(starts)] if spans else [], strict=True):
        mean = float(np.mean(logits[first:last])) if last > first else 0.0
        found.append(Sentence(start, end, mean, int(last - first)))
        first = last
    return found


def states(evidence: Sequence[float], change_cost: float) -> list[int]:
    """The likeliest state (1 = AI) of every sentence when each change costs `change_cost` log-odds."""
    if not evidence:
        return []
    best = np.array([0.0, evidence[0]])
    came_from = []
    for value in evidence[1:]:
        changed = best[::-1] - change_cost
        came_from.append(np.where(changed > best, [1, 0], [0, 1]))
        best = np.maximum(best, changed) + np.array([0.0, value])
    path = [int(best[1] > best[0])]
    for back in reversed(came_from):
        path.append(int(back[path[-1]]))
    return path[::-1]


def segments(sentences: Sequence[Sentence], change_cost: float) -> list[tuple[int, int]]:
    """[start, end) of the runs of sentences with one state; one span where one writer seems to be at work."""
    path = states([s.evidence for s in sentences], change_cost)
    found: list[tuple[int, int]] = []
    for i, sentence in enumerate(sentences):
        if i and path[i] == path[i - 1]:
            found[-1] = (found[-1][0], sentence.end)
        else:
            found.append((sentence.start, sentence.end))
    return found

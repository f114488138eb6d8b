"""Where the writer changes: what each sentence says of its writer, and segments of one writer each.

A sentence's evidence is a weighted sum of the token head's and the n-grams' logits. Two states, human and AI, a cost
for every change between them, and the cheapest path (Viterbi 1967): a sentence that stands alone against its
neighbours needs strong evidence, a run of them little. A text without a change has one segment. Pure. May be imported
by: score.py, packaging. Imports: ngrams, numpy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpujobs.pod.ngrams import NgramModel

Floats = npt.NDArray[np.float32]

FULL_WEIGHT_TOKENS = 25  # a sentence of so many tokens counts once; others by the root of their length
NEIGHBOURS = 1  # sentences on each side whose n-grams are looked at too


@dataclass(frozen=True, slots=True)
class Sentence:
    """[start, end) in code points of the text, how many tokens it has, and what was found in it.

    found: (FEATURES,), the logit of the token head (mean over the sentence), of the n-grams of the sentence, and of
    the n-grams of the sentence with its neighbours.
    """

    start: int
    end: int
    tokens: int
    found: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """weights: (FEATURES,), and a bias, from what was found to log-odds for AI.  change_cost: in these log-odds."""

    weights: tuple[float, ...]
    bias: float
    change_cost: float

    def evidence(self, sentence: Sentence) -> float:
        """Neighbouring words say much the same, so a long sentence counts less than its words."""
        logit = sum(w * x for w, x in zip(self.weights, sentence.found, strict=True)) + self.bias
        return logit * math.sqrt(sentence.tokens / FULL_WEIGHT_TOKENS)

    def states(self, sentences: Sequence[Sentence]) -> list[int]:
        """The likeliest writer (1 = AI) of every sentence."""
        return states([self.evidence(s) for s in sentences], self.change_cost)

    def segments(self, sentences: Sequence[Sentence]) -> list[tuple[int, int]]:
        """[start, end) of the runs of sentences by one writer; one span where one writer seems to be at work."""
        path = self.states(sentences)
        found: list[tuple[int, int]] = []
        for i, sentence in enumerate(sentences):
            if i and path[i] == path[i - 1]:
                found[-1] = (found[-1][0], sentence.end)
            else:
                found.append((sentence.start, sentence.end))
        return found


def measure(
    text: str, spans: Sequence[tuple[int, int]], starts: Sequence[int], logits: Floats, ngrams: NgramModel | None
) -> list[Sentence]:
    """Sentences with what is found in them. A token belongs to the sentence in which it starts.

    spans: sentences, without gaps.  starts: (T,) where each token begins, ascending.  logits: (T,) of the token head.
    """
    if not spans:
        return []
    edges = [0, *np.searchsorted(np.asarray(starts), [end for _, end in spans[:-1]]), len(starts)]
    tallies = [ngrams.tally(text[start:end]) for start, end in spans] if ngrams else []
    found = []
    for i, (start, end) in enumerate(spans):
        first, last = int(edges[i]), int(edges[i + 1])
        token = float(np.mean(logits[first:last])) if last > first else 0.0
        own = near = 0.0
        if ngrams:
            own = ngrams.of_tally(tallies[i])
            near = ngrams.of_tally(np.sum(tallies[max(0, i - NEIGHBOURS) : i + NEIGHBOURS + 1], axis=0))
        found.append(Sentence(start, end, last - first, (token, own, near)))
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

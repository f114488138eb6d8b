"""Fits the rule that finds changes of writer, on mixed documents and on texts by one writer.

May be imported by: packaging. Imports: mixed, segments, score (a Reader comes in), scikit-learn (extra `train`).
"""

from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

from gpujobs.pod.dataset import Row
from gpujobs.pod.mixed import MIN_PURE_WORDS, Mixed, writer
from gpujobs.pod.score import Reader
from gpujobs.pod.segments import Rule, Sentence

CHANGE_COSTS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0)
READ_TOGETHER = 64


def fit_rule(reader: Reader, mixed: Sequence[Mixed], pure: Sequence[Row]) -> Rule:
    """Weights by logistic regression over all sentences, then the cost of a change with the least error.

    Error: the share of characters given the wrong writer in mixed texts, and cut off in pure ones.
    """
    of_mixed = _sentences(reader, [(m.text, m.language) for m in mixed])
    long = [row for row in pure if len(row.text.split()) >= MIN_PURE_WORDS]
    of_pure = _sentences(reader, [(row.text, row.language) for row in long])
    labels = [writer(s, m) for found, m in zip(of_mixed, mixed, strict=True) for s in found]
    labels += [row.label for found, row in zip(of_pure, long, strict=True) for _ in found]
    weights, bias = _fit_weights([s for found in (*of_mixed, *of_pure) for s in found], labels)
    rules = [Rule(weights, bias, cost) for cost in CHANGE_COSTS]
    errors = [
        float(np.mean([_wrong(s, m, rule) for s, m in zip(of_mixed, mixed, strict=True)]))
        + float(np.mean([_parted(s, rule) for s in of_pure]))
        for rule in rules
    ]
    return rules[int(np.argmin(errors))]


def _fit_weights(sentences: Sequence[Sentence], labels: Sequence[int]) -> tuple[tuple[float, ...], float]:
    """Both labels weigh the same, and a sentence as much as its evidence counts."""
    weights = np.sqrt([s.tokens for s in sentences])
    found = np.asarray(labels)
    for label in (0, 1):
        weights[found == label] /= weights[found == label].sum()
    model = LogisticRegression(C=1e3, max_iter=1000)
    model.fit([s.found for s in sentences], found, sample_weight=weights * len(sentences) / 2)
    return tuple(round(float(w), 5) for w in model.coef_[0]), round(float(model.intercept_[0]), 5)


def _sentences(reader: Reader, texts: Sequence[tuple[str, str]]) -> list[list[Sentence]]:
    found: list[list[Sentence]] = []
    for start in range(0, len(texts), READ_TOGETHER):
        found += reader.sentences(texts[start : start + READ_TOGETHER])
    return found


def _wrong(sentences: Sequence[Sentence], mixed: Mixed, rule: Rule) -> float:
    """Share of characters whose sentence has the other writer's state."""
    wrong = 0
    for sentence, state in zip(sentences, rule.states(sentences), strict=True):
        for (start, end), label in zip(mixed.spans, mixed.labels, strict=True):
            if label != state:
                wrong += max(0, min(end, sentence.end) - max(start, sentence.start))
    return wrong / len(mixed.text)


def _parted(sentences: Sequence[Sentence], rule: Rule) -> float:
    """Share of characters outside the larger of the two states: what a change that isn't there would cut off."""
    path = rule.states(sentences)
    sizes = [sum(s.end - s.start for s, state in zip(sentences, path, strict=True) if state == of) for of in (0, 1)]
    return min(sizes) / max(1, sum(sizes))

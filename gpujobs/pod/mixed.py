"""Mixed documents of held-out texts: made for measuring, and the rule that finds changes of writer fitted on them.

May be imported by: packaging, reports. Imports: dataset, splices, segments, score (a Reader comes in).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpujobs.pod.dataset import Row
from gpujobs.pod.genres import genre
from gpujobs.pod.score import Reader
from gpujobs.pod.segments import Rule, Sentence
from gpujobs.pod.splices import draw_plan, joined, splice

WORDS = (120, 600)  # of a document; drawn evenly in the logarithm
SHARES = (0.10, 0.75)  # of AI words
LEAST_WORDS = 80  # documents whose texts ran out before are dropped
SAME_GROUP_SHARE = 0.5  # of documents whose AI text is on the human text's passage or prompt, where there is one
CHANGE_COSTS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0)
READ_TOGETHER = 64
MIN_PURE_WORDS = 100  # shorter texts hold no change worth looking for


@dataclass(frozen=True, slots=True)
class Mixed:
    """A document by two writers. spans: [start, end) of each piece; labels: 1 for AI, 0 for human."""

    text: str
    language: str
    genre: str
    spans: tuple[tuple[int, int], ...]
    labels: tuple[int, ...]

    @property
    def ai_share(self) -> float:
        """Share of the pieces' characters that the AI wrote."""
        sizes = [end - start for start, end in self.spans]
        return sum(size for size, label in zip(sizes, self.labels, strict=True) if label) / sum(sizes)


def documents(rows: Sequence[Row], count: int, seed: int) -> list[Mixed]:
    """Up to `count` documents, each of a human and an AI text of one language and genre. Fewer when texts are short."""
    rng = np.random.default_rng(seed)
    ordered = sorted(rows, key=lambda row: row.id)
    answers: dict[tuple[str, str], list[Row]] = defaultdict(list)
    by_genre: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in ordered:
        if row.label:
            answers[row.language, row.group].append(row)
            by_genre[row.language, genre(row.domain)].append(row)
    human = [row for row in ordered if not row.label and by_genre.get((row.language, genre(row.domain)))]
    found: list[Mixed] = []
    for place in rng.permutation(len(human))[: 2 * count]:
        row = human[int(place)]
        same = answers.get((row.language, row.group))
        chosen = same if same and rng.random() < SAME_GROUP_SHARE else by_genre[row.language, genre(row.domain)]
        words = int(np.exp(rng.uniform(*np.log(WORDS))))
        ai = chosen[int(rng.integers(len(chosen)))]
        pieces = splice(row.text, ai.text, row.language, draw_plan(words, SHARES, rng), rng)
        text, spans = joined(pieces)
        if len({piece.label for piece in pieces}) == 2 and len(text.split()) >= LEAST_WORDS:
            labels = tuple(piece.label for piece in pieces)
            found.append(Mixed(text, row.language, genre(row.domain), tuple(spans), labels))
    return found[:count]


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


def writer(sentence: Sentence, mixed: Mixed) -> int:
    """The label of the piece in which the sentence's middle lies."""
    middle = (sentence.start + sentence.end) // 2
    inside = [label for (_, end), label in zip(mixed.spans, mixed.labels, strict=True) if middle <= end]
    return inside[0] if inside else mixed.labels[-1]


def _fit_weights(sentences: Sequence[Sentence], labels: Sequence[int]) -> tuple[tuple[float, ...], float]:
    """Both labels weigh the same, and a sentence as much as its evidence counts."""
    from sklearn.linear_model import LogisticRegression

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

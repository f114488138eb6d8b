"""Mixed documents of held-out texts: a human and an AI text of one genre, spliced, for fitting and for measuring.

May be imported by: packaging, reports. Imports: dataset, splices, segments.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpujobs.pod.dataset import Row
from gpujobs.pod.genres import genre
from gpujobs.pod.segments import Sentence
from gpujobs.pod.splices import draw_plan, joined, splice

WORDS = (120, 600)  # of a document; drawn evenly in the logarithm
SHARES = (0.10, 0.75)  # of AI words
LEAST_WORDS = 80  # documents whose texts ran out before are dropped
MIN_PURE_WORDS = 100  # shorter texts by one writer hold no change worth looking for
SAME_GROUP_SHARE = 0.5  # of documents whose AI text is on the human text's passage or prompt, where there is one


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


def writer(sentence: Sentence, mixed: Mixed) -> int:
    """The label of the piece in which the sentence's middle lies."""
    middle = (sentence.start + sentence.end) // 2
    inside = [label for (_, end), label in zip(mixed.spans, mixed.labels, strict=True) if middle <= end]
    return inside[0] if inside else mixed.labels[-1]

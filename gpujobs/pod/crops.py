"""What one training step sees: crops at sentence borders, balanced over language, genre, label and source.

A genre is drawn before the label, so that within each genre (where both exist) human and AI are as frequent:
a genre that only one class wrote would otherwise become evidence. A share of the crops are spliced from a human and
an AI text of one genre, of the same passage where there is one; only the token head learns from these.

`CropSource.batches(bucket)` is a pure function of seed and bucket number, so that a resumed run sees what an
uninterrupted one would have. May be imported by: train.py. Imports: dataset, numpy.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gpujobs.pod.attacks import ATTACKS
from gpujobs.pod.dataset import Row
from gpujobs.pod.genres import genre
from gpujobs.pod.recipe import DataKnobs, TrainingKnobs
from gpujobs.pod.shared.sentences import sentence_spans
from gpujobs.pod.splices import Piece, draw_plan, splice

Encode = Callable[[list[str]], list[list[int]]]  # without special tokens
Genre = dict[int, list[list[Row]]]  # label -> strata, the texts of one source and domain each

SINGLE_LABEL_DIVISOR = 20
AUGMENTATIONS = (
    "misspelling",
    "article_deletion",
    "number_swap",
    "upper_lower",
    "lower_case",
    "alternative_spelling",
    "punctuation_spacing",
)
DROP_WORD_SHARE = 0.05
MIXED = -1  # the label of a spliced crop
SPLICE_SHARES = (0.1, 0.9)  # of AI words in a spliced crop
SAME_GROUP_SHARE = 0.5  # of spliced crops whose two texts are on one passage or prompt, where there are such


@dataclass(frozen=True, slots=True)
class Batch:
    """Token ids of the crops with their special tokens, unpadded; labels of crops (MIXED for spliced) and tokens."""

    ids: tuple[tuple[int, ...], ...]
    labels: tuple[int, ...]
    token_labels: tuple[tuple[int, ...], ...]


class CropSource:
    """Draws crops: language, genre, label (even where the genre has both), then a source's texts of that
    domain.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        data: DataKnobs,
        training: TrainingKnobs,
        encode: Encode,
        around: tuple[int, int],
    ) -> None:
        """around: the special tokens before and after a text."""
        self._data, self._training, self._encode, self._around = data, training, encode, around
        self._spans: dict[str, list[tuple[int, int]]] = {}
        self._answers: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in sorted(rows, key=lambda row: row.id):
            if row.label:
                self._answers[row.language, row.group].append(row)
        self._tree = {
            spanish: _genres([row for row in rows if (row.language == "es") == spanish])
            for spanish in (False, True)
            if any((row.language == "es") == spanish for row in rows)
        }

    def batches(self, bucket: int) -> list[Batch]:
        """The batches of one bucket, of crops with similar length each, in a shuffled order."""
        rng = np.random.default_rng([self._training.seed, bucket])
        size, count = self._training.batch_crops, self._training.bucket_batches
        drawn = [self._draw(rng) for _ in range(size * count)]
        ids = iter(self._encode([piece.text for pieces in drawn for piece in pieces]))
        crops = [self._assemble(pieces, [next(ids) for _ in pieces]) for pieces in drawn]
        order = sorted(range(len(drawn)), key=lambda i: len(crops[i][0]))
        batches = []
        for start in range(0, len(order), size):
            chosen = [crops[i] for i in order[start : start + size]]
            batches.append(Batch(*(tuple(column) for column in zip(*chosen, strict=True))))
        return [batches[i] for i in rng.permutation(len(batches))]

    def _assemble(
        self, pieces: Sequence[Piece], ids: Sequence[list[int]]
    ) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
        """Token ids, label and token labels of one crop; a special token has its neighbour's label."""
        first, last = self._around
        labels = [piece.label for piece, tokens in zip(pieces, ids, strict=True) for _ in tokens]
        whole = pieces[0].label if len({piece.label for piece in pieces}) == 1 else MIXED
        tokens = (first, *(token for part in ids for token in part), last)
        return tokens, whole, (pieces[0].label, *labels, pieces[-1].label)

    def _draw(self, rng: np.random.Generator) -> list[Piece]:
        spanish = bool(rng.random() < self._data.spanish_share)
        genres = self._tree.get(spanish) or self._tree[not spanish]
        labels = genres[self._pick([_size(labels) for labels in genres], rng)]
        if rng.random() < self._data.splice_share and len(labels) == 2:
            return self._spliced(labels, rng)
        label = int(rng.random() < 0.5)
        row = self._row(labels.get(label) or labels[1 - label], rng)
        text = self._crop(row, rng)
        if rng.random() < self._data.augment_share:
            text = augment(text, rng, row.language)
        return [Piece(text, row.label)]

    def _row(self, strata: Sequence[list[Row]], rng: np.random.Generator) -> Row:
        stratum = strata[self._pick([len(stratum) for stratum in strata], rng)]
        return stratum[int(rng.integers(len(stratum)))]

    def _spliced(self, labels: Genre, rng: np.random.Generator) -> list[Piece]:
        human = self._row(labels[0], rng)
        answers = self._answers.get((human.language, human.group))
        if answers and rng.random() < SAME_GROUP_SHARE:
            ai = answers[int(rng.integers(len(answers)))]
        else:
            ai = self._row(labels[1], rng)
        plan = draw_plan(_words(self._data.splice_words, rng), SPLICE_SHARES, rng)
        pieces = splice(human.text, ai.text, human.language, plan, rng)
        return pieces or [Piece(self._crop(human, rng), 0)]

    def _pick(self, sizes: Sequence[int], rng: np.random.Generator) -> int:
        weights = np.array(sizes, dtype=float) ** self._data.size_power
        return int(rng.choice(len(sizes), p=weights / weights.sum()))

    def _crop(self, row: Row, rng: np.random.Generator) -> str:
        if row.id not in self._spans:
            self._spans[row.id] = sentence_spans(row.text, row.language)
        return crop(row.text, self._spans[row.id], _words(self._data.crop_words, rng), rng)


def _genres(rows: Sequence[Row]) -> list[Genre]:
    """The rows as genres, in each the labels, in each the strata of one source and domain."""
    found: dict[str, dict[int, dict[tuple[str, str], list[Row]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for row in sorted(rows, key=lambda row: row.id):
        found[genre(row.domain)][row.label][(row.source, row.domain)].append(row)
    return [
        {label: [strata[name] for name in sorted(strata)] for label, strata in sorted(labels.items())}
        for _, labels in sorted(found.items())
    ]


def _size(labels: Genre) -> int:
    """Texts of the rarer label: a genre counts by what it can balance; one that has a single label counts
    little.
    """
    sizes = [sum(len(stratum) for stratum in strata) for strata in labels.values()]
    return min(sizes) if len(sizes) == 2 else max(1, sizes[0] // SINGLE_LABEL_DIVISOR)


def _words(between: tuple[int, int], rng: np.random.Generator) -> int:
    """Even in the logarithm: as many short crops as long ones."""
    return int(np.exp(rng.uniform(*np.log(between))))


def crop(text: str, spans: Sequence[tuple[int, int]], words: int, rng: np.random.Generator) -> str:
    """Whole sentences from a random one on, until `words` words are reached; the whole text when it's
    shorter.
    """
    counts = [len(text[start:end].split()) for start, end in spans]
    if sum(counts) <= words:
        return text
    # A start from which enough words are left.
    remaining = np.cumsum(counts[::-1])[::-1]
    starts = [i for i in range(len(spans)) if remaining[i] >= words]
    first = starts[int(rng.integers(len(starts)))]
    total = 0
    for last in range(first, len(spans)):
        total += counts[last]
        if total >= words:
            break
    return " ".join(text[spans[first][0] : spans[last][1]].split()[: max(words * 2, 80)])


def augment(text: str, rng: np.random.Generator, language: str) -> str:
    """One of the attacks that reading doesn't undo, dropped words, or a first sentence cut in the middle."""
    kind = int(rng.integers(len(AUGMENTATIONS) + 2))
    if kind < len(AUGMENTATIONS):
        return ATTACKS[AUGMENTATIONS[kind]](text, rng, language) or text
    words = text.split()
    if kind == len(AUGMENTATIONS):
        words = [w for w in words if rng.random() >= DROP_WORD_SHARE]
    else:
        words = words[int(rng.integers(1, 8)) :]
    return " ".join(words) or text

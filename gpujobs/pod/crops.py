"""What one training step sees: crops at sentence borders, balanced over language, genre, label and source.

A genre is drawn before the label, so that within each genre (where both exist) human and AI are as frequent:
a genre that only one class wrote would otherwise become evidence.

`CropSource.batches(bucket)` is a pure function of seed and bucket number, so that a resumed run sees what an
uninterrupted one would have. May be imported by: train.py. Imports: dataset, numpy.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gpujobs.pod.dataset import Row
from gpujobs.pod.genres import genre
from gpujobs.pod.recipe import DataKnobs, TrainingKnobs
from gpujobs.pod.shared.sentences import sentence_spans

Encode = Callable[[list[str]], list[list[int]]]
Genre = dict[int, list[list[Row]]]  # label -> strata, the texts of one source and domain each

SINGLE_LABEL_DIVISOR = 20
MISSPELL_WORD_SHARE = 0.03
DROP_WORD_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Batch:
    """Token ids of the crops, unpadded, and their labels."""

    ids: tuple[tuple[int, ...], ...]
    labels: tuple[int, ...]


class CropSource:
    """Draws crops: language, genre, label (even where the genre has both), then a source's texts of that
    domain.
    """

    def __init__(self, rows: Sequence[Row], data: DataKnobs, training: TrainingKnobs, encode: Encode) -> None:
        self._data, self._training, self._encode = data, training, encode
        self._spans: dict[str, list[tuple[int, int]]] = {}
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
        ids = self._encode([text for text, _ in drawn])
        order = sorted(range(len(drawn)), key=lambda i: len(ids[i]))
        batches = []
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            batches.append(Batch(tuple(tuple(ids[i]) for i in chosen), tuple(drawn[i][1] for i in chosen)))
        return [batches[i] for i in rng.permutation(len(batches))]

    def _draw(self, rng: np.random.Generator) -> tuple[str, int]:
        spanish = bool(rng.random() < self._data.spanish_share)
        genres = self._tree.get(spanish) or self._tree[not spanish]
        labels = genres[self._pick([_size(labels) for labels in genres], rng)]
        label = int(rng.random() < 0.5)
        strata = labels.get(label) or labels[1 - label]
        stratum = strata[self._pick([len(stratum) for stratum in strata], rng)]
        row = stratum[int(rng.integers(len(stratum)))]
        text = self._crop(row, rng)
        return (augment(text, rng) if rng.random() < self._data.augment_share else text), row.label

    def _pick(self, sizes: Sequence[int], rng: np.random.Generator) -> int:
        weights = np.array(sizes, dtype=float) ** self._data.size_power
        return int(rng.choice(len(sizes), p=weights / weights.sum()))

    def _crop(self, row: Row, rng: np.random.Generator) -> str:
        if row.id not in self._spans:
            self._spans[row.id] = sentence_spans(row.text, row.language)
        low, high = self._data.crop_words
        return crop(row.text, self._spans[row.id], int(np.exp(rng.uniform(np.log(low), np.log(high)))), rng)


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


def augment(text: str, rng: np.random.Generator) -> str:
    """One of: misspelt words, all lower case, dropped words, a first sentence cut in the middle."""
    words = text.split()
    kind = int(rng.integers(4))
    if kind == 0:
        words = [_misspell(w, rng) if rng.random() < MISSPELL_WORD_SHARE else w for w in words]
    elif kind == 1:
        words = [w.lower() for w in words]
    elif kind == 2:
        words = [w for w in words if rng.random() >= DROP_WORD_SHARE]
    else:
        words = words[int(rng.integers(1, 8)) :]
    return " ".join(words) or text


def _misspell(word: str, rng: np.random.Generator) -> str:
    if len(word) < 4:
        return word
    at = int(rng.integers(1, len(word) - 2))
    kind = int(rng.integers(3))
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + word[at + 1 :] if kind == 1 else word[:at] + word[at] + word[at:]

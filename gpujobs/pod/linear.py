"""Fits the linear models: the n-grams and the genre model that ship, and the plain baseline that a model must beat.

May be imported by: train.py. Imports: scikit-learn, scipy (extra `train`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_union

from gpujobs.pod import genre_model
from gpujobs.pod.crops import augment
from gpujobs.pod.dataset import Row
from gpujobs.pod.genre_model import GenreModel
from gpujobs.pod.genres import genre
from gpujobs.pod.ngrams import WORDS, Counts, NgramModel, count, weigh, words_and_marks
from gpujobs.pod.recipe import NgramKnobs

GENRE_C = 10.0
BASELINE_FEATURES = 300_000  # of each kind, the most frequent ones


def fit_ngrams(rows: Sequence[Row], knobs: NgramKnobs, seed: int) -> NgramModel:
    """The hashed n-gram model on whole training texts and attacked copies of some, both classes weighing the same."""
    frequent = frequent_words(rows, knobs.frequent_words)
    rows = [*rows, *attacked(rows, knobs.augment_share, seed)]
    counts = [count(row.text, knobs.bits, frequent) for row in rows]
    kinds = range(len(counts[0]))
    idf = np.stack([_idf([c[kind] for c in counts], knobs.bits) for kind in kinds])
    x = scipy.sparse.hstack([_matrix([c[kind] for c in counts], idf[kind], knobs.bits) for kind in kinds]).tocsr()
    labels = [row.label for row in rows]
    model = LogisticRegression(
        C=knobs.inverse_regularisation,
        class_weight="balanced",
        solver="liblinear",
        max_iter=60,
        tol=1e-3,
        random_state=seed,
    )
    model.fit(x, labels)
    weights = model.coef_[0].astype(np.float32).reshape(len(kinds), 1 << knobs.bits)
    return NgramModel(knobs.bits, weights, idf, float(model.intercept_[0]), frequent)


def fit_genres(rows: Sequence[Row], seed: int) -> GenreModel:
    """The genre model on texts of both classes, each genre weighing the same."""
    counts = [count(row.text, genre_model.BITS)[WORDS] for row in rows]
    idf = _idf(counts, genre_model.BITS)
    model = LogisticRegression(C=GENRE_C, class_weight="balanced", max_iter=400, random_state=seed)
    model.fit(_matrix(counts, idf, genre_model.BITS), [genre(row.domain) for row in rows])
    names = tuple(str(name) for name in model.classes_)
    weights, bias = model.coef_.astype(np.float32), model.intercept_.astype(np.float32)
    if len(names) == 2:  # scikit-learn keeps one row for two classes
        weights, bias = np.concatenate([-weights, weights]), np.concatenate([-bias, bias])
    return GenreModel(names, weights, bias, idf)


def attacked(rows: Sequence[Row], share: float, seed: int) -> list[Row]:
    """A share of the rows as one of the attacks that reading doesn't undo leaves them."""
    rng = np.random.default_rng(seed)
    chosen = [row for row in sorted(rows, key=lambda row: row.id) if rng.random() < share]
    return [replace(row, text=augment(row.text, rng, row.language)) for row in chosen]


def frequent_words(rows: Sequence[Row], number: int) -> frozenset[str]:
    """The words, in small letters, that the most texts have; ties in the order of the alphabet."""
    found = Counter(word for row in rows for word in {w.lower() for w in words_and_marks(row.text)})
    return frozenset(sorted(found, key=lambda word: (-found[word], word))[:number])


def _idf(counts: Sequence[Counts], bits: int) -> npt.NDArray[np.float32]:
    seen = np.zeros(1 << bits, dtype=np.float32)
    for found in counts:
        seen[found.buckets] += 1
    return (np.log((1 + len(counts)) / (1 + seen)) + 1).astype(np.float32)


def _matrix(counts: Sequence[Counts], idf: npt.NDArray[np.float32], bits: int) -> scipy.sparse.csr_matrix:
    values = np.concatenate([weigh(found, idf) for found in counts])
    columns = np.concatenate([found.buckets for found in counts])
    ends = np.cumsum([0] + [len(found.buckets) for found in counts])
    return scipy.sparse.csr_matrix((values, columns, ends), shape=(len(counts), 1 << bits))


def baseline_scores(training: Sequence[Row], rows: Sequence[Row]) -> list[float]:
    """Logits of the reference baseline for `rows`: words 1-2 and characters 3-4, TF-IDF, logistic
    regression.
    """
    features = make_union(
        TfidfVectorizer(ngram_range=(1, 2), min_df=3, sublinear_tf=True, max_features=BASELINE_FEATURES),
        TfidfVectorizer(
            analyzer="char_wb",
            ngram_range=(3, 4),
            min_df=5,
            sublinear_tf=True,
            max_features=BASELINE_FEATURES,
        ),
    )
    x = features.fit_transform([row.text for row in training])
    model = LogisticRegression(C=10, class_weight="balanced", solver="liblinear", max_iter=200)
    model.fit(x, [row.label for row in training])
    return [float(s) for s in model.decision_function(features.transform([row.text for row in rows]))]


def counts_by_source(rows: Sequence[Row]) -> dict[str, int]:
    """`source (language, class)` -> texts, for the model card."""
    found = Counter(f"{row.source} ({row.language}, {'ai' if row.label else 'human'})" for row in rows)
    return dict(sorted(found.items()))

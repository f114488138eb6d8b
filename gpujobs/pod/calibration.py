"""From logits to the probability that a text is AI: one formula for windows and documents, with the length
in it.

    score = a mean of the encoder's and the n-grams' logits, weighted to predict development texts (Mix)
    p     = sigmoid(slope * score + offset), both linear in the logarithm of the words read (Calibration)

A short text's logit means less than a long one's; a document of one window gets the probability of that
window. The prior is one half: texts of both classes weigh the same in the fit. Fitting needs scikit-learn
(training only); applying is plain arithmetic. Source: Platt 1999, with the length as in the module above.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

FEWEST_WORDS, MOST_WORDS = 20, 1000  # beyond these the length is taken as the border's
REFERENCE_WORDS = 150.0
SMALLEST_SLOPE = 0.05  # more AI-like must never read as less likely, whatever the length


@dataclass(frozen=True, slots=True)
class Mix:
    """Weights of the two logits; the constant stays in the calibration."""

    encoder: float
    ngrams: float

    def __call__(self, encoder: float, ngrams: float) -> float:
        return self.encoder * encoder + self.ngrams * ngrams


@dataclass(frozen=True, slots=True)
class Calibration:
    """slope = slope_0 + slope_1 * L and offset = offset_0 + offset_1 * L, with L = ln(words / 150)."""

    slope_0: float
    slope_1: float
    offset_0: float
    offset_1: float

    def __call__(self, score: float, words: int) -> float:
        """Probability in (0, 1) that a text of `words` words with this logit is AI."""
        length = math.log(min(max(words, FEWEST_WORDS), MOST_WORDS) / REFERENCE_WORDS)
        slope = max(SMALLEST_SLOPE, self.slope_0 + self.slope_1 * length)
        return sigmoid(slope * score + self.offset_0 + self.offset_1 * length)

    def to_json(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, float]) -> "Calibration":
        return cls(**{name: float(data[name]) for name in cls.__dataclass_fields__})


def sigmoid(value: float) -> float:
    """The logistic function, without overflow, kept inside (0, 1)."""
    value = min(max(value, -30.0), 30.0)
    return 1.0 / (1.0 + math.exp(-value))


def fit_mix(encoder: Sequence[float], ngrams: Sequence[float], labels: Sequence[int], weights: Array) -> Mix:
    """The mix that best predicts the labels (logistic regression, no length), scaled so that the weights add
    up to 1.

    A negative weight would reward the worse of the two for being wrong; it is set to 0 and the other to 1.
    """
    from sklearn.linear_model import LogisticRegression

    x = np.column_stack([encoder, ngrams])
    found = LogisticRegression(C=1e3).fit(x, labels, sample_weight=weights).coef_[0]
    kept = np.maximum(found, 0.0)
    if not kept.sum():
        raise ValueError("neither logit tells the classes apart")
    return Mix(*(float(w) for w in kept / kept.sum()))


def fit_calibration(
    scores: Sequence[float], words: Sequence[int], labels: Sequence[int], weights: Array
) -> Calibration:
    """Slope and offset with their length terms by weighted logistic regression."""
    from sklearn.linear_model import LogisticRegression

    length = np.log(np.clip(np.asarray(words, dtype=float), FEWEST_WORDS, MOST_WORDS) / REFERENCE_WORDS)
    s = np.asarray(scores, dtype=float)
    x = np.column_stack([s, s * length, length])
    fitted = LogisticRegression(C=1e2, max_iter=1000).fit(x, labels, sample_weight=weights)
    slope_0, slope_1, offset_1 = (float(v) for v in fitted.coef_[0])
    return Calibration(slope_0, slope_1, float(fitted.intercept_[0]), offset_1)

"""Which language a text is in. The rules are those of py3langid (BSD, 130 languages, 4.5 MB, needs numpy).

    detect()   text -> Guess

The model is loaded on the first call (0.5 s, some 60 MB) and kept. Pure otherwise: the same text gives the same guess.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

UNDETERMINED = "und"
MIN_CONFIDENCE = 0.5
MAX_CHARS = 20_000  # read from each end of longer texts
MIN_LETTERS = 10


@dataclass(frozen=True, slots=True)
class Guess:
    """language: ISO 639-1, or "und" (no language, none with such a code, or none sure).  confidence: in [0, 1]."""

    language: str
    confidence: float


def detect(text: str) -> Guess:
    """The language of a text, best of 50 words and more. Never raises; a text without letters is "und"."""
    sample = text if len(text) <= 2 * MAX_CHARS else text[:MAX_CHARS] + " " + text[-MAX_CHARS:]
    sample = sample.encode("utf-8", "ignore").decode()
    if sum(map(str.isalpha, sample)) < MIN_LETTERS:
        return Guess(UNDETERMINED, 0.0)
    guess = _classify(sample)
    if guess.language == UNDETERMINED:  # capitals look foreign to a model that learnt from running text
        guess = _classify(sample.lower())
    return guess


def _classify(sample: str) -> Guess:
    language, confidence = _identifier().classify(sample)
    known = len(language) == 2 and confidence >= MIN_CONFIDENCE
    return Guess(language if known else UNDETERMINED, min(1.0, float(confidence)))


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

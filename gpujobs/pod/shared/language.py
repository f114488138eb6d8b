"""Which language a text is in. The rules are those of py3langid (BSD, 130 languages, 4.5 MB, needs numpy).

    detect()   text -> Guess
    settle()   the same, where somebody says which language it is

The model is loaded on the first call (0.5 s, some 60 MB) and kept. Pure otherwise: the same text gives the same guess.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

UNDETERMINED = "und"
MIN_CONFIDENCE = 0.5
MAX_CHARS = 20_000  # read from each end of longer texts
MIN_LETTERS = 10
MIN_HINT_SHARE = 0.1  # of the best language's confidence: below that the text is plainly not in the hinted one


@dataclass(frozen=True, slots=True)
class Guess:
    """language: ISO 639-1, or "und" (no language, none with such a code, or none sure).  confidence: in [0, 1]."""

    language: str
    confidence: float


def detect(text: str) -> Guess:
    """The language of a text, best of 50 words and more. Never raises; a text without letters is "und"."""
    sample = _sample(text)
    if not sample:
        return Guess(UNDETERMINED, 0.0)
    guess = _classify(sample)
    if guess.language == UNDETERMINED:  # capitals look foreign to a model that learnt from running text
        guess = _classify(sample.lower())
    return guess


def settle(text: str, hint: str) -> Guess:
    """The language of a text, of which somebody says that it is `hint` (ISO 639-1; "" = nobody says anything).

    What the text itself says counts: a text that is plainly in one language is in that one, whatever is said of it,
    since thresholds of another were not measured on such texts. The hint decides where the text leaves it open, and
    only for a language that the text may be in.
    """
    guess = detect(text)
    sample = _sample(text)
    if not hint or guess.language != UNDETERMINED or not sample:
        return guess
    for cased in (sample, sample.lower()):
        confidences = dict(_identifier().rank(cased))
        confidence = float(confidences.get(hint, 0.0))
        if confidence >= MIN_HINT_SHARE * max(confidences.values()):
            return Guess(hint, confidence)
    return guess


def _sample(text: str) -> str:
    """What is looked at; "" for a text without letters."""
    sample = text if len(text) <= 2 * MAX_CHARS else text[:MAX_CHARS] + " " + text[-MAX_CHARS:]
    sample = sample.encode("utf-8", "ignore").decode()
    return sample if sum(map(str.isalpha, sample)) >= MIN_LETTERS else ""


def _classify(sample: str) -> Guess:
    language, confidence = _identifier().classify(sample)
    known = len(language) == 2 and confidence >= MIN_CONFIDENCE
    return Guess(language if known else UNDETERMINED, min(1.0, float(confidence)))


@lru_cache(maxsize=1)
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

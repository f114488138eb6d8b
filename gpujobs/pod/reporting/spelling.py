"""A writer's spelling corrector: what it changes must not make a person's text AI.

pyspellchecker (word frequencies, Norvig's edit distance) stands for the correctors of browsers and word processors: it
has its dictionaries inside and needs no server. May be imported by: robustness.py. Extra: `train`.
"""

import re
from functools import lru_cache

import numpy as np
from spellchecker import SpellChecker

EDITS = 1  # letters; at two it corrects names and rare words to others
LEAST_LETTERS = 4
LANGUAGES = ("en", "es")

_WORD = re.compile(r"\b[^\W\d_]+\b")


def spelling_correction(text: str, rng: np.random.Generator, language: str) -> str:
    """The text with each misspelt small-letter word replaced by the likeliest one; others stay, names above all."""
    if language not in LANGUAGES:
        return text
    return _WORD.sub(lambda found: _corrected(found.group(), language), text)


@lru_cache(maxsize=50_000)
def _corrected(word: str, language: str) -> str:
    checker = _checker(language)
    if len(word) < LEAST_LETTERS or not word.islower() or not checker.unknown([word]):
        return word
    return checker.correction(word) or word


@lru_cache(maxsize=len(LANGUAGES))
def _checker(language: str) -> SpellChecker:
    return SpellChecker(language=language, distance=EDITS)

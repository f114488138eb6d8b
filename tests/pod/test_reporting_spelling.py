"""The corrector that stands for browsers' and word processors': it mends words and leaves names."""

import numpy as np
import pytest

from gpujobs.pod.reporting.spelling import spelling_correction

RNG = np.random.default_rng(1)


@pytest.mark.parametrize(
    ("language", "written", "mended"),
    [
        ("en", "I definately recieve letters.", "I definitely receive letters."),
        ("en", "Mr Smiht and NASA wrote 3 letters.", "Mr Smiht and NASA wrote 3 letters."),
        ("es", "Ellos quieren estudiiar mucho.", "Ellos quieren estudiar mucho."),
        ("fr", "Je definately sais.", "Je definately sais."),
    ],
)
def test_it_mends_small_letter_words_of_its_languages(language: str, written: str, mended: str) -> None:
    assert spelling_correction(written, RNG, language) == mended

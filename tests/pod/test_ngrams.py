"""Hashed n-grams: the same text has the same score everywhere."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.pod.ngrams import Counts, NgramModel, count, outline, weigh, words_and_marks

BITS = 12
FREQUENT = frozenset({"the", "were", "it", "is"})


def model() -> NgramModel:
    rng = np.random.default_rng(1)
    shape = (3, 1 << BITS)
    weights, idf = rng.normal(size=shape).astype(np.float32), (1 + rng.random(shape)).astype(np.float32)
    return NgramModel(BITS, weights, idf, 0.25, FREQUENT)


@given(st.text(max_size=200))
def test_it_counts_any_text(text: str) -> None:
    for found in count(text, BITS, FREQUENT):
        assert len(found.buckets) == len(found.values)
        assert (np.diff(found.buckets) > 0).all()
        assert ((found.buckets >= 0) & (found.buckets < 1 << BITS)).all()
    assert np.isfinite(model().score(text))


def test_it_ignores_the_width_of_spaces() -> None:
    assert model().score("The  same\n\nText.") == model().score("The same Text.")


def test_it_outlines_what_is_said_and_keeps_how() -> None:
    said = [outline(word, FREQUENT) for word in words_and_marks("The 3 Engineers were quickly testing Boston's dam.")]
    assert said == ["the", "#", "^s", "were", "~ly", "~ing", "^s", "~", "."]


def test_it_scores_a_model_from_before_outlines(tmp_path: Path) -> None:
    whole = model()
    old = NgramModel(BITS, whole.weights[:2], whole.idf[:2], whole.bias)
    old.save(tmp_path / "ngrams.npz")
    assert len(count("Any text.", BITS, NgramModel.load(tmp_path / "ngrams.npz").frequent)) == 2


def test_it_counts_words_pairs_and_characters() -> None:
    characters, words = count("a b a", 20)
    assert len(words.buckets) == 4  # a, b, "a b", "b a"
    assert words.values.max() == pytest.approx(1 + np.log(2))
    assert len(characters.buckets) == 4 + 4 + 3  # of " a b a ": " a " comes twice


def test_it_keeps_a_text_without_any_ngram_at_the_bias() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert len(weigh(Counts(nothing, np.zeros(0, dtype=np.float32)), model().idf[0])) == 0


def test_it_comes_back_from_its_file_almost_unchanged(tmp_path: Path) -> None:
    before = model()
    before.save(tmp_path / "ngrams.npz")
    after = NgramModel.load(tmp_path / "ngrams.npz")
    text = "It is stored as small integers, which costs little. " * 5
    assert (after.bits, after.frequent) == (BITS, FREQUENT)
    assert after.score(text) == pytest.approx(before.score(text), abs=0.05)


def test_it_hashes_the_same_on_every_machine() -> None:
    characters, words = count("naïve 😀 test", 20)
    assert (int(characters.buckets.sum()), int(words.buckets.sum())) == GOLDEN


GOLDEN = (14567678, 3164277)

"""Crops: balanced draws, spliced ones for the token head, the same for the same seed."""

from dataclasses import replace

import numpy as np
import tiny
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.pod.crops import MIXED, CropSource, augment

RECIPE = tiny.recipe("-")
AROUND = (1, 2)
ROWS = [row for row in tiny.rows(training=60) if not row.part]


def encode(texts: list[str]) -> list[list[int]]:
    """A token a word: 10 for a word that only AI texts have, 11 else."""
    return [[10 if word.lower().strip(".") in tiny.AI[2:] else 11 for word in text.split()] for text in texts]


def source(splice_share: float) -> CropSource:
    data = replace(RECIPE.data, splice_share=splice_share, augment_share=0.0)
    return CropSource(ROWS, data, RECIPE.training, encode, AROUND)


def test_it_labels_every_token_with_its_writer() -> None:
    for batch in source(0.5).batches(0):
        for ids, label, tokens in zip(batch.ids, batch.labels, batch.token_labels, strict=True):
            assert (ids[0], ids[-1]) == AROUND
            assert len(ids) == len(tokens)
            assert set(tokens) == ({0, 1} if label == MIXED else {label})
            assert (tokens[0], tokens[-1]) == (tokens[1], tokens[-2])


def test_it_splices_the_share_that_the_recipe_wants() -> None:
    labels = [label for bucket in range(12) for batch in source(0.4).batches(bucket) for label in batch.labels]
    assert abs(labels.count(MIXED) / len(labels) - 0.4) < 0.1
    assert MIXED not in [label for batch in source(0.0).batches(0) for label in batch.labels]


def test_it_draws_the_same_for_the_same_seed() -> None:
    assert source(0.3).batches(3) == source(0.3).batches(3)
    assert source(0.3).batches(3) != source(0.3).batches(4)


@given(st.text(max_size=120), st.integers(0, 1000), st.sampled_from(["en", "es"]))
def test_it_augments_any_text_and_leaves_none_empty(text: str, seed: int, language: str) -> None:
    assert bool(augment(text, np.random.default_rng(seed), language)) == bool(text)

"""Where the writer changes: sentences, states, segments."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.pod.segments import FULL_WEIGHT_TOKENS, Sentence, measure, segments, states

COST = 4.0


def sentences(*logits: float, tokens: int = FULL_WEIGHT_TOKENS) -> list[Sentence]:
    return [Sentence(i * 10, i * 10 + 10, logit, tokens) for i, logit in enumerate(logits)]


def test_it_gives_each_token_to_the_sentence_in_which_it_starts() -> None:
    found = measure([(0, 10), (10, 14), (14, 20)], [0, 4, 9, 14, 17], np.array([1, 2, 3, -4, -6], dtype=np.float32))
    assert [(s.start, s.end, s.logit, s.tokens) for s in found] == [
        (0, 10, 2.0, 3),
        (10, 14, 0.0, 0),
        (14, 20, -5.0, 2),
    ]


def test_it_measures_a_text_without_sentences() -> None:
    assert measure([], [], np.zeros(0, dtype=np.float32)) == []
    assert segments([], COST) == []


def test_it_weighs_a_sentence_by_the_root_of_its_length() -> None:
    assert Sentence(0, 1, 3.0, 4 * FULL_WEIGHT_TOKENS).evidence == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("evidence", "path"),
    [
        ((), []),
        ((-1.0,), [0]),
        ((1.0,), [1]),
        ((-3, -3, 1, -3), [0, 0, 0, 0]),  # one odd sentence isn't worth two changes
        ((-5, 9, -5), [0, 1, 0]),  # unless it is very odd
        ((-3, -3, 3, 3), [0, 0, 1, 1]),
        ((3, 3, 3, -5), [1, 1, 1, 0]),
        ((3, 3, 3, -3), [1, 1, 1, 1]),
    ],
)
def test_it_finds_the_likeliest_writers(evidence: tuple[float, ...], path: list[int]) -> None:
    assert states(evidence, COST) == path


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=7), st.floats(0.1, 8))
def test_it_finds_the_best_of_all_paths(evidence: list[float], cost: float) -> None:
    def worth(path: list[int]) -> float:
        changes = sum(a != b for a, b in pairwise(path))
        return sum(e for e, state in zip(evidence, path, strict=True) if state) - cost * changes

    every = [[number >> i & 1 for i in range(len(evidence))] for number in range(1 << len(evidence))]
    assert worth(states(evidence, cost)) == pytest.approx(max(map(worth, every)))


def test_it_joins_sentences_of_one_writer() -> None:
    assert segments(sentences(-5, -5, 6, 6, 6), COST) == [(0, 20), (20, 50)]
    assert segments(sentences(-5, -5, 1, -5), COST) == [(0, 40)]

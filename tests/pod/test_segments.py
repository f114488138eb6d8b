"""Where the writer changes: sentences, states, segments."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.pod.ngrams import NgramModel
from gpujobs.pod.segments import FULL_WEIGHT_TOKENS, Rule, Sentence, measure, states

COST = 4.0
RULE = Rule((1.0, 0.0, 0.0), 0.0, COST)


def sentences(*logits: float) -> list[Sentence]:
    return [Sentence(i * 10, i * 10 + 10, FULL_WEIGHT_TOKENS, (logit, 0.0, 0.0)) for i, logit in enumerate(logits)]


def test_it_gives_each_token_to_the_sentence_in_which_it_starts() -> None:
    spans, starts = [(0, 10), (10, 14), (14, 20)], [0, 4, 9, 14, 17]
    found = measure("-" * 20, spans, starts, np.array([1, 2, 3, -4, -6], dtype=np.float32), None)
    told = [(s.start, s.end, s.tokens, s.found[0]) for s in found]
    assert told == [(0, 10, 3, 2.0), (10, 14, 0, 0.0), (14, 20, 2, -5.0)]


def test_it_looks_at_the_ngrams_of_a_sentence_and_of_its_neighbours() -> None:
    rng = np.random.default_rng(1)
    model = NgramModel(10, rng.normal(size=(2, 1024)).astype(np.float32), np.ones((2, 1024), dtype=np.float32), 0.5)
    text = "One here. Two there. Three."
    spans = [(0, 10), (10, 21), (21, 27)]
    found = measure(text, spans, [0, 10, 21], np.zeros(3, dtype=np.float32), model)
    tallies = [model.tally(text[start:end]) for start, end in spans]
    assert found[1].found == pytest.approx((0.0, model.of_tally(tallies[1]), model.of_tally(sum(tallies))))
    assert found[2].found[2] == pytest.approx(model.of_tally(tallies[1] + tallies[2]))


def test_it_measures_a_text_without_sentences() -> None:
    assert measure("", [], [], np.zeros(0, dtype=np.float32), None) == []
    assert RULE.segments([]) == []


def test_it_weighs_a_sentence_by_the_root_of_its_length() -> None:
    assert RULE.evidence(Sentence(0, 1, 4 * FULL_WEIGHT_TOKENS, (3.0, 9.0, 9.0))) == pytest.approx(6.0)
    assert Rule((1.0, 2.0, 0.5), -1.0, 1.0).evidence(Sentence(0, 1, FULL_WEIGHT_TOKENS, (1.0, 1.0, 2.0))) == 3.0


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
    assert RULE.segments(sentences(-5, -5, 6, 6, 6)) == [(0, 20), (20, 50)]
    assert RULE.segments(sentences(-5, -5, 1, -5)) == [(0, 40)]

"""Documents by two writers: whose words stand where is known to the character."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.pod.splices import SMALLEST_PIECE_WORDS, Plan, draw_plan, joined, splice

HUMAN = " ".join(f"Here is human sentence number {i} with a few plain words in it." for i in range(40))
AI = " ".join(f"Moreover, statement {i} underscores a pivotal and nuanced landscape." for i in range(40))


def share(pieces: list, label: int = 1) -> float:
    words = [len(piece.text.split()) for piece in pieces]
    return sum(n for n, piece in zip(words, pieces, strict=True) if piece.label == label) / sum(words)


@given(st.integers(0, 10_000), st.integers(100, 300))
def test_it_alternates_whole_sentences_in_their_order(seed: int, words: int) -> None:
    rng = np.random.default_rng(seed)
    plan = draw_plan(words, (0.1, 0.75), rng)
    pieces = splice(HUMAN, AI, "en", plan, rng)
    assert [piece.label for piece in pieces] == [(plan.first + i) % 2 for i in range(len(pieces))]
    for label, source in ((0, HUMAN), (1, AI)):
        own = " ".join(piece.text for piece in pieces if piece.label == label)
        assert source.startswith(own)
    assert all(len(piece.text.split()) >= SMALLEST_PIECE_WORDS for piece in pieces)


@pytest.mark.parametrize("wished", [0.2, 0.5, 0.75])
def test_it_comes_near_the_wished_share(wished: float) -> None:
    rng = np.random.default_rng(1)
    assert share(splice(HUMAN, AI, "en", Plan(300, wished, 3, 0), rng)) == pytest.approx(wished, abs=0.06)


def test_it_ends_where_a_text_runs_out() -> None:
    rng = np.random.default_rng(1)
    pieces = splice("One short human sentence of only some few words is all that there is here.", AI, "en",
                    Plan(400, 0.5, 4, 0), rng)  # fmt: skip
    assert [piece.label for piece in pieces] == [0, 1]
    assert splice("Too short.", AI, "en", Plan(200, 0.5, 2, 0), rng) == []


def test_it_knows_where_each_piece_lies() -> None:
    pieces = splice(HUMAN, AI, "en", Plan(200, 0.5, 4, 1), np.random.default_rng(2))
    text, spans = joined(pieces)
    assert [text[start:end] for start, end in spans] == [piece.text for piece in pieces]

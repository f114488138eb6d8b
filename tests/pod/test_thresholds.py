"""Thresholds keep human texts under the cap by the product's own rule."""

import numpy as np
import pytest

from gpujobs.pod.contract import WindowScore
from gpujobs.pod.shared.decision import decide
from gpujobs.pod.thresholds import Scored, choose, flagged


def texts(number: int, label: int, seed: int, source: str = "a", windows: int = 3) -> list[Scored]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        parts = rng.beta(5, 1, windows) if label else rng.beta(1, 5, windows)
        spans = tuple(WindowScore(i * 100, i * 100 + 100, 0.0, float(p)) for i, p in enumerate(parts))
        found.append(Scored(label, float(parts.mean()), spans, ("all", source)))
    return found


@pytest.mark.parametrize("cap", [0.005, 0.01, 0.05])
def test_it_keeps_the_share_of_flagged_human_texts_under_the_cap(cap: float) -> None:
    every = texts(1000, 0, 1) + texts(500, 1, 2)
    chosen = choose(every, cap)
    hits = flagged(every[:1000], chosen)
    assert sum(hits) <= cap * 1000
    assert hits == [decide(t.probability, t.windows, chosen).label != "human" for t in every[:1000]]


def test_it_uses_the_cap_and_does_not_waste_it() -> None:
    every = texts(1000, 0, 3) + texts(500, 1, 4)
    assert sum(flagged(every[:1000], choose(every, 0.05))) >= 25


def test_it_is_as_strict_as_its_worst_group_asks() -> None:
    easy, hard = (
        texts(2000, 0, 5),
        [Scored(0, min(0.9995, t.probability + 0.5), t.windows, ("all", "learners")) for t in texts(200, 0, 6)],
    )
    chosen = choose(easy + hard, 0.01)
    assert sum(flagged(hard, chosen)) <= 2


def test_it_lets_one_text_of_a_small_group_pass() -> None:
    small = texts(60, 0, 7, source="small")
    odd = Scored(0, 0.99995, small[0].windows, ("all", "small"))
    chosen = choose([*texts(1000, 0, 8), *small, odd], 0.01)
    assert chosen.document < 0.9


def test_it_refuses_a_cap_that_its_texts_cannot_show() -> None:
    with pytest.raises(ValueError, match="too few"):
        choose(texts(50, 0, 9), 0.01)


def test_it_orders_thresholds_by_cap() -> None:
    every = texts(1000, 0, 10)
    strict, loose = choose(every, 0.005), choose(every, 0.05)
    assert strict.document >= loose.document
    assert strict.window >= strict.document


def test_it_keeps_a_floor_where_texts_happen_to_separate() -> None:
    every = texts(1000, 0, 11)
    assert choose(every, 0.05).document < 0.5
    assert choose(every, 0.05, lowest=0.5).document == 0.5

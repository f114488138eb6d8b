"""Verdicts from probabilities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.pod.contract import WindowScore
from gpujobs.pod.shared.decision import Thresholds, decide

STRICT = Thresholds(document=0.9, window=0.95)


def windows(*probabilities: float, size: int = 100) -> list[WindowScore]:
    return [WindowScore(i * size, (i + 1) * size, 0.0, p) for i, p in enumerate(probabilities)]


@pytest.mark.parametrize(
    ("document", "parts", "label", "fraction"),
    [
        (0.2, (0.1, 0.3), "human", 0.0),
        (0.95, (0.99, 0.9), "ai", 1.0),
        (0.92, (0.99, 0.99, 0.99, 0.6, 0.2), "ai", 0.8),  # neighbours' evidence carries the fourth window
        (0.92, (0.99, 0.99, 0.6, 0.2), "mixed", 0.75),
        (0.5, (0.99, 0.6, 0.1), "mixed", 2 / 3),  # a sure window lends its evidence to likely ones
        (0.5, (0.99, 0.1, 0.1), "mixed", 1 / 3),
        (0.91, (0.999, 0.3), "mixed", 0.5),  # high mean, but less than most of the text
        (0.5, (0.94, 0.94), "human", 0.0),
        (0.9, (0.4, 0.3), "mixed", 0.5),  # the strongest window carries a verdict that the mean gave
    ],
)
def test_it_names_the_verdict(document: float, parts: tuple[float, ...], label: str, fraction: float) -> None:
    decision = decide(document, windows(*parts), STRICT)
    assert (decision.label, decision.ai_fraction) == (label, pytest.approx(fraction))


@pytest.mark.parametrize(("probability", "label"), [(0.9, "ai"), (0.8999, "human"), (0.97, "ai")])
def test_it_decides_a_single_window_by_the_document_threshold(probability: float, label: str) -> None:
    decision = decide(probability, windows(probability), Thresholds(document=0.9, window=0.8))
    assert decision.label == label
    assert decision.flagged == (label == "ai",)


def test_it_calls_nothing_human_where_there_is_nothing() -> None:
    assert decide(0.99, [], STRICT).label == "human"


def test_it_needs_a_real_share_for_mixed() -> None:
    assert decide(0.1, windows(0.99, *[0.1] * 12), STRICT).label == "human"
    assert decide(0.1, windows(0.99, *[0.1] * 11), STRICT).label == "mixed"


probability = st.floats(0.001, 0.999)


@given(
    probability,
    st.lists(st.tuples(st.integers(1, 500), probability), min_size=1, max_size=8),
    probability,
    probability,
)
def test_it_agrees_with_its_own_highlights(
    document: float, parts: list[tuple[int, float]], at_document: float, at_window: float
) -> None:
    spans, at = [], 0
    for size, p in parts:
        spans.append(WindowScore(at, at + size, 0.0, p))
        at += size
    decision = decide(document, spans, Thresholds(at_document, at_window))
    marked = sum(w.end - w.start for w, hit in zip(spans, decision.flagged, strict=True) if hit)
    assert decision.ai_fraction == pytest.approx(marked / at)
    assert (decision.label == "human") == (not any(decision.flagged))
    if document >= at_document:
        assert decision.label != "human"

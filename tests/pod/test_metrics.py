"""Metrics against hand-worked numbers and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.pod.shared.metrics import auroc, brier, ece, tpr_at_fpr, wilson


def test_it_counts_pairs_and_half_of_ties() -> None:
    # AI 3 and 1 against human 2 and 1: above, above, below, tie: (1 + 1 + 0 + 0.5) / 4.
    assert auroc([3, 1, 2, 1], [1, 1, 0, 0]) == pytest.approx(0.625)


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=4, max_size=60))
def test_it_agrees_with_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    from sklearn import metrics

    scores, labels = [s / 9 for s, _ in pairs], [int(y) for _, y in pairs]
    assert brier(scores, labels) == pytest.approx(metrics.brier_score_loss(labels, scores, pos_label=1))
    if len(set(labels)) == 2:
        assert auroc(scores, labels) == pytest.approx(metrics.roc_auc_score(labels, scores))


def test_it_finds_the_lowest_threshold_under_the_cap() -> None:
    human, ai = list(range(100)), [97.5, 98.5, 99.5, 50]
    point = tpr_at_fpr([*human, *ai], [0] * 100 + [1] * 4, 0.01)
    assert (point.fpr, point.tpr) == (0.01, 0.5)
    assert 98 < point.threshold < 98.5


def test_it_keeps_tied_human_texts_unflagged() -> None:
    point = tpr_at_fpr([1.0] * 100 + [1.0, 2.0], [0] * 100 + [1, 1], 0.05)
    assert (point.fpr, point.tpr) == (0.0, 0.5)


def test_it_refuses_to_guess_from_few_human_texts() -> None:
    with pytest.raises(ValueError, match="too few"):
        tpr_at_fpr([0.1] * 99 + [0.9], [0] * 99 + [1], 0.01)


@pytest.mark.parametrize("cap", [0.01, 0.05, 0.2])
def test_it_never_passes_the_cap(cap: float) -> None:
    rng = np.random.default_rng(7)
    scores, labels = rng.integers(0, 20, 400), rng.integers(0, 2, 400)
    assert tpr_at_fpr(scores, labels, cap).fpr <= cap


def test_it_measures_calibration_by_bins() -> None:
    # Bin of 0.25: mean 0.25 against 1/2 AI; bin of 0.95: mean 0.95 against all AI.
    assert ece([0.25, 0.25, 0.95, 0.95], [0, 1, 1, 1], bins=10) == pytest.approx((0.25 + 0.05) / 2)


def test_it_knows_brier_by_hand() -> None:
    assert brier([0.8, 0.3], [1, 0]) == pytest.approx((0.04 + 0.09) / 2)


def test_it_gives_wilson_intervals_of_the_textbook() -> None:
    assert wilson(5, 50) == pytest.approx((0.0434760, 0.2136020), abs=1e-5)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 100)[0] == 0.0
    assert 0.03 < wilson(0, 100)[1] < 0.04


@pytest.mark.parametrize(("scores", "labels"), [([], []), ([0.1], [1, 0]), ([float("nan"), 0.2], [1, 0])])
def test_it_refuses_nonsense(scores: list[float], labels: list[int]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        auroc(scores, labels)


def test_it_needs_both_classes() -> None:
    with pytest.raises(ValueError, match="both classes"):
        auroc([0.1, 0.2], [1, 1])
    with pytest.raises(ValueError, match="AI texts"):
        tpr_at_fpr([0.1] * 100, [0] * 100, 0.05)

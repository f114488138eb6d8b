"""From logits to probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.pod.calibration import Calibration, Mix, fit_calibration, fit_mix, sigmoid

PLAIN = Calibration(1.0, 0.0, 0.0, 0.0)


def test_it_is_the_logistic_function_at_the_reference() -> None:
    assert PLAIN(0.0, 150) == 0.5
    assert PLAIN(np.log(3), 150) == pytest.approx(0.75)


def test_it_trusts_a_longer_text_more() -> None:
    calibrate = Calibration(1.0, 0.4, 0.0, 0.0)
    assert calibrate(2.0, 50) < calibrate(2.0, 150) < calibrate(2.0, 600)


@given(st.floats(-500, 500), st.floats(0.001, 50), st.integers(0, 10**6), st.floats(-3, 3), st.floats(-3, 3))
def test_it_stays_a_probability_and_never_falls_with_the_score(
    score: float, step: float, words: int, slope: float, offset: float
) -> None:
    calibrate = Calibration(slope, offset, offset, slope)
    low, high = calibrate(score, words), calibrate(score + step, words)
    assert 0.0 < low <= high < 1.0


def test_it_comes_back_from_json() -> None:
    calibrate = Calibration(1.5, 0.25, -0.5, 0.125)
    assert Calibration.from_json(calibrate.to_json()) == calibrate


def test_it_finds_a_known_calibration_again() -> None:
    rng = np.random.default_rng(3)
    truth = Calibration(1.4, 0.3, -0.2, 0.1)
    scores, words = rng.normal(0, 2, 6000), rng.integers(40, 600, 6000)
    labels = [int(rng.random() < truth(s, w)) for s, w in zip(scores, words, strict=True)]
    found = fit_calibration(list(scores), list(words), labels, np.ones(6000))
    for s, w in ((-2.0, 60), (0.0, 150), (1.5, 500)):
        assert found(s, w) == pytest.approx(truth(s, w), abs=0.04)


def test_it_leans_on_the_better_logit() -> None:
    rng = np.random.default_rng(4)
    labels = list(rng.integers(0, 2, 2000))
    good = [2.0 * y - 1 + rng.normal() for y in labels]
    noise = list(rng.normal(size=2000))
    mix = fit_mix(good, noise, labels, np.ones(2000))
    assert mix.encoder > 0.9
    assert mix.encoder + mix.ngrams == pytest.approx(1.0)


def test_it_never_rewards_a_logit_for_being_wrong() -> None:
    labels = [0, 1] * 200
    good, wrong = [float(y) for y in labels], [-float(y) for y in labels]
    assert fit_mix(good, wrong, labels, np.ones(400)) == Mix(1.0, 0.0)


def test_it_does_not_overflow() -> None:
    assert 0.0 < sigmoid(-1e9) < sigmoid(1e9) < 1.0

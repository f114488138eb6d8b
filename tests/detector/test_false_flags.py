"""What to expect of many texts by people, against figures worked out by hand."""

from typing import Any

import factories
import pytest
import samples

from detector import false_flags, intake


def card(k: int, n: int, high: float) -> dict[str, Any]:
    return {"k": k, "n": n, "low": 0.0, "high": high}


def test_thirty_texts_of_one_rate() -> None:
    """n·p = 30 · 0.01; 1 − 0.99³⁰ = 0.26029…; the upper end: 30 · 0.02; 1 − 0.98³⁰ = 0.45451…"""
    found = false_flags.expected([card(9, 900, 0.02)] * 30)
    assert found is not None
    assert found.texts == 30
    assert found.number == pytest.approx(0.3)
    assert found.chance == pytest.approx(0.26029963)
    assert found.most == pytest.approx(0.6)
    assert found.most_chance == pytest.approx(0.45451567)


def test_each_text_has_its_own_rate() -> None:
    found = false_flags.expected([card(1, 10, 0.5), card(1, 4, 0.5), None])
    assert found is not None
    assert (found.texts, found.number, found.most) == (2, pytest.approx(0.35), pytest.approx(1.0))
    assert found.chance == pytest.approx(1 - 0.9 * 0.75)


def test_no_flag_among_the_measured_is_no_promise() -> None:
    found = false_flags.expected([card(0, 300, 0.012)] * 2)
    assert found is not None
    assert (found.number, found.chance) == (0, 0)
    assert found.most == pytest.approx(0.024)


@pytest.mark.parametrize("cards", [[], [card(1, 10, 0.2)], [None, None, None], [card(0, 0, 1.0)] * 3])
def test_of_fewer_than_two_measured_texts_it_says_nothing(cards: list[dict[str, Any] | None]) -> None:
    assert false_flags.expected(cards) is None


def test_the_card_is_that_of_language_length_and_limit() -> None:
    found = intake.evidence(samples.HUMAN, factories.MANIFEST)
    assert false_flags.card_of(found, factories.MANIFEST, "") == factories.MANIFEST["rate_card"][1]
    assert false_flags.card_of(found, factories.MANIFEST, "0.05") is None
    assert false_flags.card_of(intake.evidence(samples.SHORT, factories.MANIFEST), factories.MANIFEST, "") is None

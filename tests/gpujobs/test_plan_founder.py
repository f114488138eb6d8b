"""The founder's table: each figure comes out of the planner's functions, and what it rests on is told."""

from decimal import Decimal

import pytest

from gpujobs.planning import founder, question, tuning, words
from gpujobs.planning.assumptions import STANDARD
from gpujobs.planning.founder import Vector
from gpujobs.planning.question import Question
from inkcloak.money import CENT, NANO

FOUND = {vector.key: vector for vector in founder.vectors(STANDARD)}
WANTED = {
    "training": (15 * CENT, 15 * CENT),
    "benchmark": (19 * CENT, 19 * CENT),
    "active_hour": (17 * CENT, 17 * CENT),
    "month_flashboot": (15 * NANO, 25 * NANO),
    "month_active_hour": (15 * NANO, 25 * NANO),
    "own_hardware": (3, 4),
    "gpt": (200 * NANO, 500 * NANO),
    "recommended_same": (0, 5 * NANO),
    "recommended_full": (0, 5 * NANO),
}


@pytest.mark.parametrize("key", WANTED)
def test_it_is_derived(key: str) -> None:
    vector, (least, most) = FOUND[key], WANTED[key]
    assert vector.derived is not None
    assert vector.holds
    derived = vector.derived if vector.unit == "months" else round(Decimal(vector.derived) / CENT) * CENT
    assert least <= derived <= most


def test_the_one_that_nothing_gives_says_what_it_takes() -> None:
    vector = FOUND["month_as_listed"]
    assert not vector.holds
    assert vector.derived is not None
    assert vector.derived > 25 * NANO
    assert "FlashBoot" in words.derivation(vector)
    assert [key for key, each in FOUND.items() if not each.holds] == ["month_as_listed"]


@pytest.mark.parametrize("vector", FOUND.values(), ids=list(FOUND))
def test_each_says_how(vector: Vector) -> None:
    assert len(words.derivation(vector)) > 40
    assert "%(" not in words.derivation(vector)
    assert words.wanted(vector)


def test_nothing_is_typed_in() -> None:
    """Another price gives other figures."""
    dearer = STANDARD.with_values(
        {"price.training_pod": "0.44", "price.serverless_flex": "0.5", "price.pod": "0.5", "price.gpt4_input": "20"}
    )
    other = {vector.key: vector.derived for vector in founder.vectors(dearer)}
    for key in ("training", "benchmark", "month_flashboot", "month_active_hour", "own_hardware", "gpt"):
        assert other[key] != FOUND[key].derived
    assert other["training"] == pytest.approx(2 * founder.pod_run(15, 1, STANDARD), abs=1)


def test_start_up_is_what_the_founder_s_cents_leave_over() -> None:
    """$0.15 and $0.19 at $0.22 an hour: 40.9 and 51.8 minutes in all, less 15 and 20."""
    training, benchmark = FOUND["training"].figures, FOUND["benchmark"].figures
    assert training["start_from"] <= 0.15 / 0.22 * 60 - 15 <= training["start_to"]
    assert benchmark["start_from"] <= 0.19 / 0.22 * 60 - 20 <= benchmark["start_to"]
    for figures in (training, benchmark):
        assert figures["start_from"] <= figures["start_up"] <= figures["start_to"]
    assert founder.pod_run(15, 1, STANDARD) == -(-220_000_000 * 41 // 60)


def test_an_active_hour_is_no_list_price() -> None:
    figures = FOUND["active_hour"].figures
    assert (figures["flex_hour_nanousd"], figures["active_hour_nanousd"]) == (576_000_000, 396_000_000)
    assert figures["seconds"] == 1062  # 0.17 / 0.00016
    assert 90 < figures["checks"] < 1062 / 6  # each of at most 11 seconds, and many overlap


@pytest.mark.parametrize("key", ["month_flashboot", "month_active_hour"])
def test_the_month_is_played_and_says_which_demand_gives_it(key: str) -> None:
    figures = FOUND[key].figures
    assert 1 <= figures["checks_from"] < figures["checks"] < figures["checks_to"] < 3
    assert 0.8 * 1500 < figures["cold_starts"] < 1500


def test_the_recommended_month_keeps_the_wish() -> None:
    for key in ("recommended_same", "recommended_full"):
        assert FOUND[key].figures["pasted_p95"] <= question.WISH_SECONDS
        assert FOUND[key].figures["bulk_p95"] <= question.BULK_WISH_SECONDS
    assert FOUND["recommended_full"].figures["texts"] == round(question.demand(Question(1000), STANDARD).texts)
    assert tuning.playable(question.demand(Question(1000), STANDARD))

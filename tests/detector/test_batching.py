"""Which waiting texts share a batch."""

import pytest

from detector.batching import BATCH_MAX_CHARACTERS, BATCH_MAX_TEXTS, Waiting, pack


def waiting(name: str, characters: int = 1_000, *, model: str = "v1", attempts: int = 0) -> Waiting:
    return Waiting(name, model, characters, attempts)


def names(*texts: Waiting) -> str:
    return "".join(str(text.id) for text in pack(texts))


def test_it_makes_no_batch_of_nothing() -> None:
    assert pack([]) == []


def test_it_takes_the_oldest_first_and_in_order() -> None:
    assert names(waiting("a"), waiting("b"), waiting("c")) == "abc"


def test_it_never_mixes_models() -> None:
    assert names(waiting("a"), waiting("b", model="v2"), waiting("c")) == "ac"
    assert names(waiting("b", model="v2"), waiting("a")) == "b"


def test_it_fills_to_the_character_limit_exactly() -> None:
    half = BATCH_MAX_CHARACTERS // 2
    assert names(waiting("a", half), waiting("b", half), waiting("c", 1)) == "ab"
    assert names(waiting("a", half), waiting("b", half + 1), waiting("c", 1)) == "a"


def test_it_lets_nobody_overtake_a_text_that_did_not_fit() -> None:
    """Short texts behind a long one must not keep it waiting for ever."""
    assert names(waiting("a", 50_000), waiting("b", 20_000), waiting("c", 10)) == "a"


def test_it_sends_a_text_over_the_limit_alone() -> None:
    assert names(waiting("a", BATCH_MAX_CHARACTERS + 1), waiting("b", 1)) == "a"


def test_it_stops_at_the_text_limit() -> None:
    assert len(pack([waiting(str(n), 1) for n in range(BATCH_MAX_TEXTS + 5)])) == BATCH_MAX_TEXTS


@pytest.mark.parametrize("attempts", [1, 2])
def test_it_sends_a_text_whose_run_failed_alone(attempts: int) -> None:
    failed = waiting("f", attempts=attempts)
    assert names(failed, waiting("a")) == "f"
    assert names(waiting("a"), failed, waiting("b")) == "ab"

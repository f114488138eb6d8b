"""Which waiting texts share a batch."""

import pytest

from detector.batching import CPU, GPU, TEXTS_AFTER_FAILURES, Waiting, pack


def waiting(name: str, characters: int = 1_000, *, model: str = "v1", attempts: int = 0, lane: int = 0) -> Waiting:
    return Waiting(name, model, characters, attempts, lane)


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
    half = CPU.characters // 2
    assert names(waiting("a", half), waiting("b", half), waiting("c", 1)) == "ab"
    assert names(waiting("a", half), waiting("b", half + 1), waiting("c", 1)) == "a"


def test_it_lets_nobody_overtake_a_text_that_did_not_fit() -> None:
    """Short texts behind a long one must not keep it waiting for ever."""
    assert names(waiting("a", 50_000), waiting("b", 20_000), waiting("c", 10)) == "a"


def test_it_sends_a_text_over_the_limit_alone() -> None:
    assert names(waiting("a", CPU.characters + 1), waiting("b", 1)) == "a"


def test_it_stops_at_the_text_limit() -> None:
    assert len(pack([waiting(str(n), 1) for n in range(CPU.texts + 5)])) == CPU.texts


def test_it_keeps_lanes_apart() -> None:
    assert names(waiting("a"), waiting("b", lane=1), waiting("c")) == "ac"
    assert names(waiting("b", lane=1), waiting("d", lane=1)) == "bd"


def test_it_takes_larger_batches_for_a_gpu() -> None:
    many = [waiting(str(n), 100) for n in range(200)]
    assert (len(pack(many)), len(pack(many, GPU))) == (CPU.texts, GPU.texts)


@pytest.mark.parametrize(("attempts", "together"), [(1, 8), (2, 1), (3, 1)])
def test_it_makes_batches_smaller_until_a_bad_text_stands_alone(attempts: int, together: int) -> None:
    failed = [waiting(str(n), attempts=attempts) for n in range(20)]
    assert len(pack([*failed, waiting("a")])) == together
    assert names(waiting("a"), failed[0], waiting("b")) == "ab"


def test_three_failed_runs_are_enough_to_stand_alone() -> None:
    assert len(TEXTS_AFTER_FAILURES) == 3
    assert TEXTS_AFTER_FAILURES[-1] == 1

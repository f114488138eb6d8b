"""Parts always add up to the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs.splitting import split

WEIGHTS = st.lists(st.integers(0, 10**9), min_size=1, max_size=64)


@pytest.mark.parametrize(
    ("total", "weights", "parts"),
    [
        (10, [1, 1, 1], [4, 3, 3]),  # of equals, the first
        (10, [1, 2, 1], [3, 5, 2]),
        (-10, [1, 1, 1], [-4, -3, -3]),
        (7, [0, 5, 0], [0, 7, 0]),
        (7, [0, 0], [4, 3]),
        (0, [3, 4], [0, 0]),
        (1, [1, 999], [0, 1]),
        (0, [], []),
    ],
)
def test_it_gives_what_is_left_to_those_who_lost_most(total: int, weights: list[int], parts: list[int]) -> None:
    assert split(total, weights) == parts


@given(st.integers(-(10**15), 10**15), WEIGHTS)
def test_parts_add_up_and_are_less_than_one_from_their_share(total: int, weights: list[int]) -> None:
    parts = split(total, weights)
    assert sum(parts) == total
    if whole := sum(weights):
        assert all(abs(part * whole - total * weight) < whole for part, weight in zip(parts, weights, strict=True))


@given(st.integers(0, 10**12), WEIGHTS)
def test_who_weighs_nothing_bears_nothing(total: int, weights: list[int]) -> None:
    if any(weights):
        parts = split(total, weights)
        assert all(not part for part, weight in zip(parts, weights, strict=True) if not weight)


def test_it_refuses_what_nobody_can_bear() -> None:
    with pytest.raises(ValueError, match="negative"):
        split(3, [1, -1])
    with pytest.raises(ValueError, match="nobody"):
        split(3, [])

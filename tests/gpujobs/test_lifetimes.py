"""What a worker is paid for, from its runs: nothing is lost, nothing is counted twice, idle time is never negative."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpujobs.lifetimes import COLD, IDLE, LONGEST_COLD_START_MS, Laid, Life, Work, awake, lay, priced, short_of
from gpujobs.pricing import Rate, cost

IDLE_MS = 5_000
LATER = 10**9
A4000 = Rate(576_000_000)


def works(*times: tuple[int, int], delay: int = 0) -> list[Work]:
    return [Work(f"r{n}", taken, ended, delay) for n, (taken, ended) in enumerate(times)]


def told(laid: Laid) -> list[tuple[str, int, int]]:
    return [(piece.kind, piece.start_ms, piece.end_ms) for piece in laid.pieces]


def test_it_lays_out_cold_start_work_gap_and_tail() -> None:
    laid = lay(works((3_000, 4_000), (6_000, 6_500), delay=2_500), None, horizon_ms=LATER, idle_ms=IDLE_MS)
    # 500 + 11,000 of life: its idle tail is rounded up to the started second
    assert told(laid) == [(COLD, 500, 3_000), (IDLE, 4_000, 6_000), (IDLE, 6_500, 11_500)]
    assert laid.life == Life(500, 11_500, closed=True)
    assert [priced(A4000, done)[0] for done in laid.done] == [1_000, 500]


def test_a_started_second_counts_whole() -> None:
    laid = lay(works((0, 1)), None, horizon_ms=LATER, idle_ms=IDLE_MS)
    assert told(laid) == [(IDLE, 1, 6_000)]


def test_a_moment_that_several_share_is_split_among_them() -> None:
    laid = lay(works((0, 3_000), (1_000, 2_000), (1_000, 3_000)), None, horizon_ms=LATER, idle_ms=IDLE_MS)
    # 1,000 alone + 334 of three + 500 of two; 333 of three; 333 of three + 500 of two
    assert [priced(A4000, done)[0] for done in laid.done] == [1_834, 333, 833]


def test_it_resumes_after_a_stop_with_another_cold_start() -> None:
    laid = lay(works((0, 1_000), (60_000, 61_000), delay=1_100), None, horizon_ms=LATER, idle_ms=IDLE_MS)
    assert told(laid) == [
        (COLD, -1_100, 0), (IDLE, 1_000, 6_900), (COLD, 58_900, 60_000), (IDLE, 61_000, 66_900),
    ]  # fmt: skip


def test_a_start_never_reaches_back_into_the_life_before() -> None:
    laid = lay(works((0, 1_000), (6_500, 7_000), delay=4_000), None, horizon_ms=LATER, idle_ms=IDLE_MS)
    assert told(laid)[1:3] == [(IDLE, 1_000, 6_000), (COLD, 6_000, 6_500)]


def test_a_wait_for_an_image_or_a_gpu_is_no_start_that_costs() -> None:
    laid = lay(works((600_000, 601_000), delay=600_000), None, horizon_ms=LATER, idle_ms=IDLE_MS)
    assert told(laid)[0] == (COLD, 600_000 - LONGEST_COLD_START_MS, 600_000)


def test_what_lies_beyond_the_horizon_waits() -> None:
    given_ = works((0, 1_000), (2_000, 9_000))
    first = lay(given_, None, horizon_ms=4_000, idle_ms=IDLE_MS)
    assert [done.work.id for done in first.done] == ["r0"]
    assert first.life == Life(0, 4_000)
    then = lay(given_, first.life, horizon_ms=LATER, idle_ms=IDLE_MS, known={"r0"})
    assert [done.work.id for done in then.done] == ["r1"]
    assert told(first) + told(then) == [(IDLE, 1_000, 2_000), (IDLE, 9_000, 14_000)]


def test_known_runs_wake_no_worker_that_has_stopped() -> None:
    life = Life(0, 6_000, closed=True)
    assert lay(works((0, 1_000)), life, horizon_ms=LATER, idle_ms=IDLE_MS, known={"r0"}) == Laid(life, (), ())


def test_a_run_that_is_told_too_late_lengthens_no_life() -> None:
    life = Life(0, 6_000, closed=True)
    laid = lay(works((2_000, 3_000)), life, horizon_ms=LATER, idle_ms=IDLE_MS)
    assert (laid.life, laid.pieces, len(laid.done)) == (life, (), 1)


TIMES = st.lists(
    st.tuples(st.integers(0, 90_000), st.integers(0, 20_000), st.integers(0, 4_000)), min_size=1, max_size=12
)
HORIZONS = st.lists(st.integers(0, 120_000), max_size=4)
RATES = st.integers(1, 5_000_000_000)


def many(times: Iterable[tuple[int, int, int]]) -> list[Work]:
    return [Work(f"r{n}", taken, taken + long, delay) for n, (taken, long, delay) in enumerate(times)]


@settings(deadline=None)
@example([(0, 0, 0), (1, 999, 0)], [1], 1, 3601)  # the second run comes into the second that the first one's tail ends
@given(TIMES, HORIZONS, st.integers(1, 30_000), RATES)
def test_however_it_is_cut_it_adds_up_to_what_is_billed(
    times: list[tuple[int, int, int]], horizons: list[int], idle_ms: int, hourly: int
) -> None:
    rate, given_ = Rate(hourly), many(times)
    life, known = None, set[str]()
    costs: dict[int, int] = {}
    lives: dict[int, int] = {}
    for horizon in [*sorted(horizons), LATER]:
        laid = lay(given_, life, horizon_ms=horizon, idle_ms=idle_ms, known=known)
        for piece in laid.pieces:
            assert piece.start_ms <= piece.end_ms
            start, end = piece.start_ms - piece.opened_ms, piece.end_ms - piece.opened_ms
            costs[piece.opened_ms] = costs.get(piece.opened_ms, 0) + cost(rate, end) - cost(rate, start)
            if piece.ends:
                lives[piece.opened_ms] = end
        for done in laid.done:
            assert done.work.id not in known
            known.add(done.work.id)
            costs[done.opened_ms] = costs.get(done.opened_ms, 0) + priced(rate, done)[1]
        life = laid.life
    assert len(known) == len(given_)
    assert all(seconds % 1_000 == 0 for seconds in lives.values())
    assert costs == {opened: cost(rate, length) for opened, length in lives.items()}


@settings(deadline=None)
@given(TIMES, st.integers(1, 30_000))
def test_what_is_paid_for_covers_all_work_and_overlaps_nowhere(times: list[tuple[int, int, int]], idle: int) -> None:
    spans = awake(many(times), idle)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    for work in many(times):
        assert any(start <= work.taken_ms and work.ended_ms <= end for start, end in spans)


@pytest.mark.parametrize(
    ("least", "spans", "missing"),
    [
        (1, [], 100),
        (2, [(0, 100)], 100),
        (1, [(20, 50), (40, 60)], 60),
        (1, [(-50, 30), (90, 200)], 60),
        (2, [(0, 100), (0, 100), (0, 100)], 0),
        (0, [], 0),
    ],
)
def test_workers_that_are_always_on_cost_what_no_run_tells(
    least: int, spans: list[tuple[int, int]], missing: int
) -> None:
    assert short_of(least, spans, 0, 100) == missing

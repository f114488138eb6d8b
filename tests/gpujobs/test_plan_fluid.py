"""Rates instead of a simulation: close to the simulated day where both work, and without a limit of size."""

from dataclasses import replace

import pytest

from gpujobs import routing
from gpujobs.planning import arrivals, fluid, hours, site, tuning
from gpujobs.planning.arrivals import Demand
from gpujobs.planning.endpoint import Limits
from gpujobs.planning.hours import Gaps, Hour

RATE = 15_000
PASTED_ONLY = {"class_share": 0.0, "api_share": 0.0}


def played(policy: str, demand: Demand, limits: Limits, days: int = 1) -> site.Outcome:
    setup = site.Setup(policy, 30, RATE, 6 if limits.workers_max == 1 else 8 * limits.workers_max, limits)
    return site.together([site.play(arrivals.day(demand, seed), setup, site.plain()) for seed in range(1, days + 1)])


@pytest.mark.parametrize(
    ("demand", "limits", "days"),
    [
        (Demand(100, **PASTED_ONLY), Limits(workers_max=1), 4),
        (Demand(300), Limits(workers_max=1, queue_delay_seconds=8), 1),
        (Demand(1000), Limits(workers_max=1, idle_seconds=1, queue_delay_seconds=8), 1),
        (Demand(1000), Limits(workers_max=3, idle_seconds=30, queue_delay_seconds=8), 1),
        (Demand(1000, checks=1, **PASTED_ONLY), Limits(workers_max=1, cold_start_seconds=1.5, idle_seconds=1), 2),
        (Demand(1000, shape="burst"), Limits(workers_max=1, queue_delay_seconds=8), 1),
        (Demand(1000, shape="evening", **PASTED_ONLY), Limits(workers_max=1, idle_seconds=120), 1),
        (Demand(200, shape="flat", checks=8, **PASTED_ONLY), Limits(workers_max=1, idle_seconds=60), 1),
    ],
    ids=lambda each: str(each.users) if isinstance(each, Demand) else "",
)
def test_it_comes_near_the_simulated_day(demand: Demand, limits: Limits, days: int) -> None:
    simulated, found = played(routing.GPU, demand, limits, days), fluid.scale_to_zero(demand, limits)

    assert found.billed_seconds == pytest.approx(simulated.billed_seconds / days, rel=0.12)
    assert found.cold_starts == pytest.approx(simulated.cold_starts / days, rel=0.12)
    assert found.pasted_p95 == pytest.approx(tuning.p95(simulated.waits[arrivals.PASTED]), abs=0.15)


@pytest.mark.parametrize(("times", "workers", "within"), [(25, 1, 0.05), (250, 7, 0.25)])
def test_it_comes_near_a_simulation_in_slow_motion(times: int, workers: int, within: float) -> None:
    """4,000 users and everything `times` as slow are so many more users: as long as hours are long, the same queue."""
    few, usual = Demand(4000), Limits(workers_max=workers, queue_delay_seconds=8)
    slow = Limits(
        workers_max=workers,
        idle_seconds=usual.idle_seconds * times,
        cold_start_seconds=usual.cold_start_seconds * times,
        queue_delay_seconds=usual.queue_delay_seconds * times,
        alone_seconds=usual.alone_seconds * times,
        together_seconds=usual.together_seconds * times,
    )
    found = fluid.scale_to_zero(replace(few, users=few.users * times), usual)

    assert found.billed_seconds == pytest.approx(played(routing.GPU, few, slow).billed_seconds, rel=within)


@pytest.mark.parametrize("users", [1000, 2000])
def test_it_comes_near_the_hybrid_day(users: int) -> None:
    demand, limits = Demand(users), Limits(workers_max=1, queue_delay_seconds=8)
    simulated = played(routing.HYBRID, demand, limits)
    found = fluid.hybrid(demand, limits, wake_seconds=30, cpu_rate=RATE, busy=0.8)

    assert found.billed_seconds == pytest.approx(simulated.billed_seconds, rel=0.3)  # a handful of jobs
    assert found.pasted_p95 == pytest.approx(tuning.p95(simulated.waits[arrivals.PASTED]), rel=0.2)


def test_a_hybrid_without_bulk_needs_no_gpu() -> None:
    found = fluid.hybrid(Demand(1000, **PASTED_ONLY), Limits(), wake_seconds=30, cpu_rate=RATE, busy=0.8)
    assert (found.billed_seconds, found.cold_starts, found.peak) == (0, 0, 0)


def test_more_users_never_cost_less() -> None:
    billed = [fluid.scale_to_zero(Demand(10**power), Limits(workers_max=10**6)).billed_seconds for power in range(1, 9)]
    assert billed == sorted(billed)
    work = hours.windows_a_second(hours.hours(Demand(10**8))[12], Demand(10**8)) * 0.089 / 8
    assert work < billed[-1] / 86_400 < 2 * work


# --- By hand --------------------------------------------------------------------------------------------------------


def test_a_stream_of_lone_events_has_the_gaps_of_a_poisson_stream() -> None:
    gaps = Gaps(Hour(pasted=0.1, classes=0, programs=0), checks=1, between=60)
    assert gaps.survival(0) == 1
    assert gaps.survival(10) == pytest.approx(0.36788, abs=1e-5)  # e to the -1
    assert gaps.quiet(10) == pytest.approx(6.3212, abs=1e-3)  # (1 - e^-1) / 0.1


def test_people_who_come_back_are_clusters() -> None:
    hour = Hour(pasted=0.00001, classes=0, programs=0)
    alone, often = Gaps(hour, checks=1, between=60), Gaps(hour, checks=4, between=60)
    assert often.survival(60) == pytest.approx(1 - 0.75 / 2, abs=0.03)  # half of the three gaps in four are over
    assert often.survival(1) == pytest.approx(alone.survival(1), abs=1e-3)


@pytest.mark.parametrize("shape", arrivals.SHAPES)
def test_rates_add_up_to_the_day(shape: str) -> None:
    demand = Demand(1000, shape=shape)
    total = sum(sum(hours.texts_a_second(hour).values()) for hour in hours.hours(demand)) * 3600
    assert total == pytest.approx(demand.texts)
    assert len(arrivals.day(demand, seed=1)) == pytest.approx(demand.texts, rel=0.35)  # ten jobs decide

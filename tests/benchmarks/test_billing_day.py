"""A simulated day costs what one would work out by hand, loses nothing, and comes out the same twice."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks import billing, billing_arrivals, billing_day, billing_endpoint
from benchmarks.billing_arrivals import API, CLASS, DAY_SECONDS, PASTED, Text, text
from benchmarks.billing_day import NETWORK_SECONDS, Outcome, Setup, play
from benchmarks.billing_endpoint import FLEX_16_GB, Clock, Endpoint, Limits, pass_seconds, windows
from gpujobs import routing

NOON, RATE = 43_200.0, 15_000
COLD, IDLE = 5.0, 5.0
ONE_WINDOW = 1000  # characters
HYBRID = Setup(policy=routing.HYBRID, wake_seconds=30, characters_per_second=RATE, runs_in_flight=6)
GPU = replace(HYBRID, policy=routing.GPU)
ALWAYS_ON = replace(GPU, endpoint=Limits(workers_min=1))
CPU = replace(HYBRID, policy=routing.CPU)


def bulk(count: int, characters: int, at: float = NOON) -> list[Text]:
    return [text(number, at, characters, API) for number in range(count)]


def waits(outcome: Outcome, kind: str = PASTED) -> Sequence[float]:
    return [round(wait, 3) for wait in outcome.waits[kind]]


# --- By hand --------------------------------------------------------------------------------------------------------


def test_it_bills_a_lonely_text_its_cold_start_its_work_and_the_idle_seconds_rounded_up() -> None:
    outcome = play([text(1, NOON, ONE_WINDOW)], GPU)

    assert outcome.billed_seconds == 11  # 5 + 0.083 + 5
    assert (outcome.useful_seconds, outcome.cold_starts) == (0.083, 1)
    assert waits(outcome) == [round(NETWORK_SECONDS + COLD + 0.083 + NETWORK_SECONDS, 3)]
    assert FLEX_16_GB.dollars(outcome.billed_seconds) == pytest.approx(0.00176)


def test_it_bills_one_worker_for_two_texts_within_its_idle_seconds_and_two_beyond() -> None:
    near = play([text(1, NOON, ONE_WINDOW), text(2, NOON + 9, ONE_WINDOW)], GPU)
    far = play([text(1, NOON, ONE_WINDOW), text(2, NOON + 11, ONE_WINDOW)], GPU)

    assert (near.cold_starts, near.billed_seconds) == (1, 15)  # ready at 5, the second done at 9.08, idle until 14.08
    assert waits(near)[1] == 0.183
    assert (far.cold_starts, far.billed_seconds) == (2, 22)


def test_it_bills_a_whole_day_for_a_worker_that_is_always_on() -> None:
    texts = [text(1, NOON, ONE_WINDOW), text(2, NOON + 100, ONE_WINDOW)]
    outcome = play(texts, ALWAYS_ON)

    assert (outcome.billed_seconds, outcome.cold_starts) == (DAY_SECONDS, 0)
    assert waits(outcome) == [0.183, 0.183]
    assert play(texts, replace(GPU, endpoint=Limits(workers_min=2))).billed_seconds == 2 * DAY_SECONDS


def test_it_fills_forward_passes_with_eight() -> None:
    clock, ended = Clock(), []
    endpoint = Endpoint(clock, Limits(workers_min=1))
    for places in (3, 13):
        endpoint.submit(places, lambda places=places: ended.append((places, clock.now)))
    clock.run()

    # Three alone, as nothing else was there yet; then eight and five of the other job.
    assert ended == [(3, pytest.approx(pass_seconds(3))), (13, pytest.approx(sum(map(pass_seconds, (3, 8, 5)))))]
    assert (pass_seconds(1), pass_seconds(8)) == (0.083, pytest.approx(0.089))
    assert [windows(characters) for characters in (1, 1500, 1501, 6000)] == [1, 1, 2, 4]


def test_it_scores_on_the_cpu_for_nothing_one_batch_after_the_other() -> None:
    outcome = play(bulk(60, 3000), CPU)

    # One alone (0.2 s), then 20 texts of 60,000 characters a batch: 4 s each, and 19 that are left.
    assert Counter(waits(outcome, API)) == {0.2: 1, 4.2: 20, 8.2: 20, 12.0: 19}
    assert (outcome.billed_seconds, outcome.useful_share, outcome.tiers) == (0, None, {"cpu": 60})


# --- The policy's own decisions ---------------------------------------------------------------------------------


def test_it_wakes_no_gpu_for_a_trickle() -> None:
    outcome = play([text(n, NOON + 60 * n, 6000) for n in range(50)], HYBRID)

    assert (outcome.billed_seconds, outcome.tiers) == (0, {"cpu": 50})


def test_it_wakes_a_gpu_for_what_the_cpu_would_need_too_long_for() -> None:
    below, above = 29 * RATE // 1000, 33 * RATE // 1000  # texts of a thousand characters; the CPU takes the first

    assert play(bulk(below, 1000), HYBRID).cold_starts == 0
    woken = play(bulk(above, 1000), HYBRID)
    assert woken.cold_starts >= 1
    assert woken.tiers["cpu"] > 0  # people don't wait for a cold start
    assert woken.tiers["gpu"] > 0


def test_it_sends_a_pasted_text_to_a_gpu_that_has_just_answered() -> None:
    job = bulk(600, 1500)
    before = play(job, HYBRID)
    answered = NOON + max(before.waits[API])  # by the GPU: the CPU's batches are long done

    warm, cold = (play([*job, text(1000, answered + after, ONE_WINDOW)], HYBRID) for after in (0.5, IDLE + 0.1))

    assert warm.tiers - before.tiers == {"gpu": 1}
    assert cold.tiers - before.tiers == {"cpu": 1}
    assert waits(cold) == [round(ONE_WINDOW / RATE, 3)]


def test_it_takes_a_pasted_text_before_bulk_that_waits() -> None:
    outcome = play([*bulk(2000, 3000), text(10_000, NOON + 20, ONE_WINDOW)], HYBRID)

    assert waits(outcome)[0] < 5 < max(waits(outcome, API))


def test_it_starts_more_workers_when_batches_wait_longer_than_the_scaler_s_delay() -> None:
    hasty, patient = (replace(GPU, endpoint=Limits(queue_delay_seconds=delay)) for delay in (4, 8))

    assert play(bulk(400, 3000), hasty).cold_starts == 3  # five batches wait 4 s while the first worker starts for 5 s
    assert play(bulk(400, 3000), patient).cold_starts == 1


def test_it_sees_the_end_of_a_bulk_run_when_it_asks_and_of_an_interactive_one_at_once() -> None:
    assert billing_day.look_after(100.0, 100.3) == 100.5
    assert billing_day.look_after(100.0, 100.7) == 101.0
    assert billing_day.look_after(100.0, 130.0) == pytest.approx(133.0, abs=3)


# --- Whatever the day -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setup", [HYBRID, GPU, ALWAYS_ON, CPU], ids=["hybrid", "gpu", "always-on", "cpu"])
def test_it_answers_every_text_once_and_never_bills_less_than_the_work(setup: Setup) -> None:
    texts = billing_arrivals.day(150, seed=7)
    outcome = play(texts, setup)

    assert outcome.answered == len(texts) == sum(map(len, outcome.waits.values()))
    assert {kind: len(found) for kind, found in outcome.waits.items()} == Counter(each.kind for each in texts)
    assert min(map(min, outcome.waits.values())) > 0
    assert outcome.useful_seconds <= outcome.billed_seconds
    if outcome.tiers["gpu"] == len(texts):
        least = sum(windows(each.characters) for each in texts) / 8 * 0.089
        assert outcome.useful_seconds >= least


def test_it_gives_the_same_figures_for_the_same_seed_and_others_for_another() -> None:
    first, again, other = (billing_arrivals.day(100, seed) for seed in (3, 3, 4))

    assert first == again != other
    assert play(first, HYBRID) == play(again, HYBRID)


def test_it_makes_a_day_of_people_classes_and_jobs() -> None:
    texts = billing_arrivals.day(1000, seed=1)
    kinds = Counter(each.kind for each in texts)

    assert [each.at for each in texts] == sorted(each.at for each in texts)
    assert 0 <= texts[0].at <= texts[-1].at < DAY_SECONDS
    assert len({each.id for each in texts}) == len(texts)
    assert 2500 < kinds[PASTED] < 3500  # three for each of 960 people
    assert 30 * 20 <= kinds[CLASS] <= 30 * 35
    assert 10 * 100 <= kinds[API] <= 10 * 1000
    assert billing_arrivals.characters(0.5, PASTED) == 2000
    assert billing_arrivals.characters(1.0, PASTED) == 60_000


def test_it_refuses_to_close_an_endpoint_that_has_work() -> None:
    endpoint = Endpoint(Clock(), Limits())
    endpoint.submit(1, lambda: None)

    with pytest.raises(RuntimeError, match="work is left"):
        endpoint.close(DAY_SECONDS)


# --- The report -------------------------------------------------------------------------------------------------


def figures(month: float, bulk_p95: float, pasted_p95: float = 1.0) -> billing.Figures:
    return billing.Figures(month, 0.5, 100, 1, 1, 1, (0, pasted_p95, 9), (0, bulk_p95, 99))


def test_it_recommends_the_cheapest_that_keeps_the_waits() -> None:
    always_on = figures(400, bulk_p95=20)
    tried = {"slow": figures(1, 26), "good": figures(2, 24), "dear": figures(3, 21), "late": figures(1, 20, 3)}

    assert billing.recommended(tried, always_on) == "good"
    assert billing.recommended({name: tried[name] for name in ("slow", "late")}, always_on) == "late"


def test_it_compares_the_default_with_the_others_on_the_same_texts(capsys: pytest.CaptureFixture[str]) -> None:
    found = billing.compare([billing_arrivals.day(60, seed) for seed in (1, 2)], HYBRID)
    said = billing.for_machines(found, {})

    assert set(found) == {billing.DEFAULT, billing.CPU_ONLY, billing.GPU_ONLY, billing.ALWAYS_ON}
    assert found[billing.ALWAYS_ON].month_usd == pytest.approx(414.72)
    assert said["figures"]["default_below_both"] is True
    assert said["figures"]["cpu_only_month_usd"] == 0
    assert said["targets"]["default_month_usd"] == 25
    assert "GPU always on" in capsys.readouterr().out


def test_its_prices_say_where_and_when() -> None:
    for price in (billing_endpoint.FLEX_16_GB, billing_endpoint.ACTIVE_16_GB):
        assert price.source
        assert price.as_of.startswith("2026-")

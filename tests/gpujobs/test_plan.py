"""A plan: nothing is cheap because nobody knows its price, money is whole, the cheapest way within the wish wins."""

import json
from dataclasses import replace
from typing import Any

import pytest

from detector import batching, dispatch
from gpujobs import plans, routing
from gpujobs.planning import arrivals, planner, question, scale, site, tuning, ways, words
from gpujobs.planning.arrivals import Demand
from gpujobs.planning.assumptions import STANDARD, PlanError, UnknownPrice, assignments
from gpujobs.planning.endpoint import Limits
from gpujobs.planning.money import cost, milli
from gpujobs.planning.question import Question
from gpujobs.planning.scale import Point
from gpujobs.planning.tuning import Setting
from gpujobs.planning.ways import HYBRID, OWN, POD, SERVERLESS, T4_SPOT, WAYS
from inkcloak.money import NANO

LARGE = Question(10_000_000)


@pytest.fixture(scope="module")
def small() -> planner.Plan:
    return planner.plan(Question(300), plans.book())


@pytest.fixture(scope="module")
def large() -> planner.Plan:
    return planner.plan(LARGE, plans.book())


def way(plan: planner.Plan, key: str) -> ways.Way:
    return next(each for each in plan.ways if each.key == key)


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [each for name, inner in value.items() for each in [(name, inner), *flat(inner)]]
    return [each for inner in value for each in flat(inner)] if isinstance(value, list) else []


# --- What comes out -------------------------------------------------------------------------------------------------


def test_it_prices_every_way_and_recommends_the_cheapest_that_keeps_the_wish(small: planner.Plan) -> None:
    assert tuple(each.key for each in small.ways) == WAYS
    assert small.played
    assert small.recommended is not None
    good = [each for each in small.ways if each.within and each.role == "primary"]
    assert small.recommended.month_nanousd == min(each.month_nanousd for each in good)
    assert small.recommended.key == HYBRID
    assert small.recommended.pasted_p95 <= small.asked.p95
    assert small.recommended.bulk_p95 <= small.asked.bulk_p95


def test_it_never_takes_spot_machines_or_an_api_for_the_primary(large: planner.Plan) -> None:
    assert way(large, T4_SPOT).role == "batch"
    assert not way(large, T4_SPOT).within
    assert way(large, ways.API).role == "comparison"
    lenient = replace(LARGE, p95=3600, bulk_p95=86_400)
    assert not next(each for each in ways.every(lenient, STANDARD, quick=True) if each.key == T4_SPOT).within


def test_it_says_so_where_nothing_keeps_the_wish() -> None:
    plan = planner.plan(replace(LARGE, p95=0.1), plans.book())
    assert plan.recommended is None
    assert plan.fastest.pasted_p95 == min(each.pasted_p95 for each in plan.ways if each.role == "primary")


def test_a_longer_wish_never_costs_more() -> None:
    demand = question.demand(Question(200), STANDARD)
    short, longer = (
        tuning.tune(routing.GPU, Question(200, p95=wish, bulk_p95=600), demand, STANDARD) for wish in (2, 10)
    )
    assert short.keeps(Question(200, p95=2, bulk_p95=600))
    assert longer.billed_milliseconds < short.billed_milliseconds
    assert longer.setting.idle_seconds < short.setting.idle_seconds


def test_settings_are_those_of_the_environment(small: planner.Plan) -> None:
    found = way(small, HYBRID).setting
    assert found is not None
    assert set(found.to_json()) == {
        "RUNPOD_IDLE_SECONDS",
        "RUNPOD_SCALER_VALUE",
        "RUNPOD_WORKERS_MIN",
        "RUNPOD_WORKERS_MAX",
        "RUNS_IN_FLIGHT",
        "GPU_WAKE_SECONDS",
    }
    assert 1 <= found.idle_seconds <= 3600  # what RunPod takes
    assert Setting(5, 8, workers_max=3).runs_in_flight == 24  # a worker takes eight: fewer would never start another


def test_money_is_whole_nano_dollars_everywhere(small: planner.Plan, large: planner.Plan) -> None:
    for plan in (small, large):
        found = [(name, value) for name, value in flat(plan.to_json()) if name.endswith("_nanousd")]
        amounts = [value for name, value in found if name != "months_nanousd"]
        amounts += [month for point in plan.to_json()["curve"] for month in point["months_nanousd"].values()]
        assert len(amounts) > 150
        assert all(isinstance(value, int) or value is None for value in amounts)
    assert (cost(160_000, 3, 2), cost(1, 1, 3), cost(7, 0), milli(0.0001), milli(2.0)) == (240_000, 1, 0, 1, 2000)


def test_ten_million_daily_users_are_planned_by_rates(large: planner.Plan) -> None:
    assert not large.played
    assert large.to_json()["method"] == "fluid"
    assert way(large, SERVERLESS).machines > 20
    assert json.loads(json.dumps(large.to_json()))["question"]["users"] == 10_000_000


# --- Prices and assumptions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, row in STANDARD.items() if row.is_price and name.startswith("price.")])
def test_an_unknown_price_is_refused_and_never_nothing(name: str) -> None:
    with pytest.raises(UnknownPrice, match=name.replace(".", r"\.")):
        planner.plan(LARGE, STANDARD.with_values({name: "unknown"}))


def test_every_assumption_has_a_source_and_a_date() -> None:
    for row in STANDARD.values():
        assert row.source
        assert row.as_of.startswith("20")
        assert row.value is not None
        assert row.least <= row.value <= row.most
        if row.is_price:
            assert row.value * NANO == int(row.value * NANO)


def test_another_value_says_that_it_was_given_and_changes_the_plan(large: planner.Plan) -> None:
    book = STANDARD.with_values({"price.pod": "0.34"})
    dearer = next(each for each in ways.every(LARGE, book, quick=True) if each.key == POD)
    assert dearer.month_nanousd == 2 * way(large, POD).month_nanousd
    row = next(row for row in book.to_json() if row["name"] == "price.pod")
    assert (row["value"], row["source"], row["as_of"]) == ("0.34", "given with this plan", "")


def test_the_site_s_settings_come_before_what_is_given(settings: Any) -> None:
    settings.CPU_CHARACTERS_PER_SECOND, settings.PLAN_ASSUMPTIONS = 9000, ["price.pod=0.2"]
    book = plans.book(["price.pod=0.3"])
    assert book.number("cpu.characters_per_second") == 9000
    assert book.nanousd("price.pod") == 300_000_000
    assert plans.book()["price.pod"].source == plans.SETTING


@pytest.mark.parametrize(
    "line",
    ["price.gold=1", "price.pod", "=1", "price.pod=", "price.pod=abc", "price.pod=NaN", "price.pod=-1", "price.pod=0",
     "price.pod=1e12", "price.pod=0.0000000001", "month.days=30.5", "t4.speed=0", "gpu.together=Infinity"],
)  # fmt: skip
def test_it_refuses_a_value_that_cannot_be(line: str) -> None:
    with pytest.raises(PlanError):
        STANDARD.with_values(assignments([line]))


# --- Questions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [{}, {"users": ""}, {"users": "0"}, {"users": "-1"}, {"users": str(10**12)}, {"users": "NaN"}, {"users": "1.5"},
     {"users": "٣"}, {"users": "1", "checks": "0.9"}, {"users": "1", "checks": "nan"}, {"users": "1", "words": "0"},
     {"users": "1", "p95": "inf"}, {"users": "1", "bulk_p95": "x"}, {"users": "1", "shape": "square"}],
)  # fmt: skip
def test_it_refuses_nonsense_and_names_the_limits(given: dict[str, str]) -> None:
    with pytest.raises(PlanError, match=r"[\d,.]+ to [\d,.]+|one of office"):
        question.read(given)


def test_it_reads_what_people_write() -> None:
    assert question.read({"users": " 1,000 ", "words": "", "p95": "2.5"}) == Question(1000, p95=2.5)


def test_days_of_bulk_alone_are_planned_too() -> None:
    book = STANDARD.with_values({"bulk.class_share": "0.5", "bulk.api_share": "0.5"})
    assert question.demand(Question(3), book).people == 0
    assert all(each.month_nanousd >= 0 for each in ways.every(Question(3), book))


@pytest.mark.parametrize("shape", arrivals.SHAPES)
def test_one_daily_user_and_the_most_are_planned_in_every_shape(shape: str) -> None:
    for users in (1, question.USERS[1]):
        found = ways.every(Question(users, shape=shape, words=300), STANDARD, quick=True)
        assert all(each.month_nanousd >= 0 for each in found)


# --- Ways, worked by hand -------------------------------------------------------------------------------------------


def test_a_pod_costs_its_hours_and_own_hardware_its_colocation_and_its_share(small: planner.Plan) -> None:
    assert way(small, POD).month_nanousd == 170_000_000 * 24 * 30
    assert way(small, OWN).once_nanousd == 200 * NANO
    assert way(small, OWN).month_nanousd == 75 * NANO + -(-200 * NANO // 36)


def test_always_on_costs_the_month_at_the_price_of_such_workers(small: planner.Plan) -> None:
    assert way(small, ways.ALWAYS_ON).month_nanousd == 110_000 * 86_400 * 30


def test_an_api_costs_its_tokens() -> None:
    demand = Demand(
        10, checks=1, length=1500 * 6 / arrivals.mean_characters(arrivals.PASTED), class_share=0, api_share=0
    )
    tokens = 200 + 1500 * 1.333  # 2,199.5 in, 50 out, 300 texts a month
    expected = 300 * (tokens * 2.5 + 50 * 10) / 1e6
    assert ways.api_month(demand, STANDARD) / NANO == pytest.approx(expected, rel=1e-5)


def test_a_simulated_month_is_the_billed_seconds_at_the_flex_price() -> None:
    lone = Demand(1, checks=1, class_share=0, api_share=0)
    found = tuning.play(routing.GPU, Setting(5, 8, 1), [arrivals.day(lone, 1)], STANDARD)
    assert found.billed_milliseconds == 11_000  # 5 + 0.083 + 5, rounded up, as a text of one window
    assert ways.flex_month(found, STANDARD) == 11 * 160_000 * 30


# --- Scale ----------------------------------------------------------------------------------------------------------


def test_crossing_points_lie_where_the_lines_cross() -> None:
    points = [Point(users, {"a": users * NANO, "b": 1000 * NANO, "c": NANO}) for users in (100, 10_000, 1_000_000)]
    assert scale.crossing(points, "b", "a").users == 1000
    assert scale.crossing(points, "b", "a").month_nanousd == pytest.approx(1000 * NANO)
    assert scale.crossing(points, "a", "b").users is None
    assert scale.crossing(points, "c", "a").users == 100
    assert scale.passing(points, "a", 500 * NANO).users == 500
    assert scale.passing(points, "b", 5000 * NANO).users is None


def test_the_curve_goes_from_a_hundred_to_ten_million(large: planner.Plan) -> None:
    assert (large.curve[0].users, large.curve[-1].users) == (100, 10_000_000)
    assert all(set(point.months_nanousd) == set(WAYS) for point in large.curve)
    for key in (SERVERLESS, POD, OWN, T4_SPOT, ways.API):
        months = [point.months_nanousd[key] for point in large.curve]
        assert months == sorted(months)
    said = " ".join(map(words.crossing, large.crossings))
    assert "$500.00 a month" in said


def test_a_purchase_pays_in_the_first_month_that_is_cheaper_in_all() -> None:
    assert scale.break_even_month(200, 50, 122) == 3  # 2 x 122 < 200 + 2 x 50 and 3 x 122 >= 200 + 3 x 50
    assert scale.break_even_month(200, 50, 100) == 4
    assert scale.break_even_month(0, 50, 51) == 1
    assert scale.break_even_month(200, 50, 50) is None


# --- The product's own rules ----------------------------------------------------------------------------------------


def test_it_packs_as_the_detector_does() -> None:
    sent = arrivals.day(Demand(60), seed=5)
    rows = [
        batching.Waiting(each.id, "champion", each.characters, attempts=0, lane=each.lane)
        for each in sorted(sent, key=lambda each: each.lane)
    ]
    limits = {site.CPU_BATCH: batching.CPU, site.GPU_BATCH: batching.GPU}
    for numbers, rule in limits.items():
        assert numbers == (rule.characters, rule.texts)
        pack, left, theirs = site.plain_pack(numbers), sorted(sent, key=lambda each: each.lane), rows
        while left:
            ours, wanted = pack(left), batching.pack(theirs, rule)
            assert [each.id for each in ours] == [each.id for each in wanted]
            left, theirs = left[len(ours) :], theirs[len(ours) :]
    assert (site.CLAIM_ROWS, site.COUNTED_ROWS) == (dispatch.CLAIM_ROWS, dispatch.COUNTED_ROWS)


def test_assumptions_about_the_endpoint_reach_the_simulation() -> None:
    book = STANDARD.with_values({"gpu.cold_start": "20", "gpu.alone": "1", "gpu.together": "2"})
    assert question.limits(book) == Limits(cold_start_seconds=20, alone_seconds=1, together_seconds=2)

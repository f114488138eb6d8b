"""A plan as lines for a terminal. The page says the same with detector/views/plan_page.py."""

import math
from collections.abc import Iterator, Sequence

from gpujobs.planning import words
from gpujobs.planning.assumptions import Assumption, plain
from gpujobs.planning.planner import Plan
from gpujobs.planning.scale import Point
from gpujobs.planning.tuning import Setting
from gpujobs.planning.ways import WAYS, Way

LOWEST, HIGHEST = 1, 10_000_000  # dollars a month, between which the plot lies
COLUMNS = 60
# One sign for each way, in the plot and in front of its name.
SIGNS = dict(zip(WAYS, "hskapotg", strict=True))


def lines(plan: Plan) -> Iterator[str]:
    yield from _question(plan)
    yield ""
    yield from _ways(plan)
    yield ""
    yield from _recommended(plan)
    yield ""
    yield from _curve(plan.curve)
    yield ""
    yield "Crossing points (between the points above, to two digits)"
    yield from (f"  {words.crossing(each)}" for each in plan.crossings)
    yield "Own hardware"
    yield from (f"  {words.break_even(each)}" for each in plan.break_evens)
    yield f"  {words.credit(plan.credit_months)}"
    yield ""
    yield from _founder(plan)
    yield ""
    yield "Assumptions (replace one with --set NAME=VALUE)"
    yield from map(_assumption, plan.book.values())


def _question(plan: Plan) -> Iterator[str]:
    asked = plan.asked
    yield (
        f"{asked.users:,} daily users, {words.short(asked.checks)} checks each, {plan.texts:,} texts a day with "
        f"classes and programs, {plan.words:,} words a text, shape {asked.shape}"
    )
    yield f"wish: p95 of a pasted text {words.seconds(asked.p95)}, of bulk {words.seconds(asked.bulk_p95)}"
    if plan.played:
        yield "Simulated: the CPU, and serverless workers that come and go. All else, and the curve: by rates."
    else:
        yield "By rates, not simulated: too many texts for that. What it leaves out: gpujobs/planning/fluid.py."


def _ways(plan: Plan) -> Iterator[str]:
    yield f"{'':44} {'$/month':>12} {'pasted p95':>11} {'bulk p95':>9} {'machines':>8}  within the wish"
    for way in plan.ways:
        pasted, bulk = words.waits(way)
        keeps = {"batch": "batches only", "comparison": "comparison"}.get(way.role, "yes" if way.within else "no")
        month = words.dollars(way.month_nanousd)
        yield (
            f"{SIGNS[way.key]} {words.WAYS[way.key]!s:42} {month:>12} {pasted:>11} {bulk:>9} {way.machines:>8}  {keeps}"
        )


def _recommended(plan: Plan) -> Iterator[str]:
    if plan.recommended is None:
        yield f"No way keeps the wish. The fastest: {_named(plan.fastest)}"
    else:
        yield f"Cheapest within the wish: {_named(plan.recommended)}"
    if plan.recommended_serverless:
        yield f"Cheapest of the serverless ones: {_named(plan.recommended_serverless)}"
    for way in plan.ways:
        if way.setting:
            yield f"  {words.WAYS[way.key]}: {settings(way.setting)}"


def _named(way: Way) -> str:
    return f"{words.WAYS[way.key]}, {words.dollars(way.month_nanousd)} a month"


def settings(setting: Setting) -> str:
    """As an environment has them."""
    return " ".join(f"{name}={value}" for name, value in setting.to_json().items())


def _curve(points: Sequence[Point]) -> Iterator[str]:
    yield "Dollars a month by daily users (by rates)"
    yield f"{'':>10} " + " ".join(f"{SIGNS[way] + ' ' + way:>12}" for way in WAYS)
    for point in points:
        yield f"{point.users:>10,} " + " ".join(f"{words.dollars(point.months_nanousd[way]):>12}" for way in WAYS)
    yield ""
    yield from plot(points)


def plot(points: Sequence[Point]) -> Iterator[str]:
    """Sideways: users downward, dollars to the right, both by factors of ten; * where several ways cost the same."""
    powers = range(len(str(HIGHEST)) - len(str(LOWEST)) + 1)
    step = COLUMNS // (len(powers) - 1)
    yield f"{'':>10} " + "".join(f"{'$' + format(10**power, ','):<{step}}" for power in powers)
    for point in points:
        row = [" "] * (COLUMNS + 1)
        for way in WAYS:
            place = column(point.months_nanousd[way])
            if place is not None:
                row[place] = SIGNS[way] if row[place] == " " else "*"
        yield f"{point.users:>10,} " + "".join(row).rstrip()


def column(nanousd: int) -> int | None:
    """Where an amount stands; None below a dollar."""
    dollars = nanousd / 1e9
    if dollars < LOWEST:
        return None
    return min(COLUMNS, round(math.log10(dollars / LOWEST) / math.log10(HIGHEST / LOWEST) * COLUMNS))


def _founder(plan: Plan) -> Iterator[str]:
    yield "The founder's figures, derived"
    for vector in plan.vectors:
        mark = "ok" if vector.holds else "NO"
        yield (
            f"  {mark} {words.VECTORS[vector.key]}: {words.amount(vector, vector.derived)} "
            f"(wanted: {words.wanted(vector)})"
        )
        yield f"     {words.derivation(vector)}"


def _assumption(row: Assumption) -> str:
    value = "unknown" if row.value is None else plain(row.value)
    return f"  {row.name}={value} {row.unit}: {row.what} [{row.source}{', ' + row.as_of if row.as_of else ''}]"

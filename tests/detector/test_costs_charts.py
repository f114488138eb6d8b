"""Drawings: bars that add up, one order of kinds, no colour alone, and a month with its forecast and budget."""

from datetime import date, timedelta

import pytest

from detector.views import costs_charts
from detector.views.costs_words import KINDS
from gpujobs.forecasting import Forecast, Step
from gpujobs.spending import Day
from inkcloak.money import NANO

FIRST = date(2026, 6, 1)


def day(number: int, **kinds: int) -> Day:
    return Day(FIRST + timedelta(days=number), kinds)


def percent(text: str) -> float:
    return float(text.removesuffix("%"))


def test_a_bar_is_as_high_as_its_day_and_its_pieces_stand_on_each_other() -> None:
    drawing = costs_charts.stacked([day(0, idle=NANO, execution=3 * NANO), day(1, execution=2 * NANO), day(2)], str)
    full, half, none = drawing.bars
    assert [piece.kind for piece in full.pieces] == ["execution", "idle"], "the order of the legend"
    foot, top = full.pieces
    assert percent(foot.y) + percent(foot.height) == pytest.approx(100)
    assert percent(top.y) + percent(top.height) == pytest.approx(percent(foot.y), abs=0.01)
    assert percent(half.pieces[0].height) == pytest.approx((percent(foot.height) + percent(top.height)) / 2, abs=0.01)
    assert (none.pieces, none.href) == ((), "")
    assert full.title == "June 1: $4.00, work on texts $3.00, idle time $1.00"
    assert drawing.highest == "$4.00"


def test_what_is_below_zero_is_told_and_not_drawn() -> None:
    (bar,) = costs_charts.stacked([day(0, execution=3 * NANO, adjustment=-NANO)], str).bars
    assert [piece.kind for piece in bar.pieces] == ["execution"]
    assert bar.title == "June 1: $2.00, work on texts $3.00, adjustments -$1.00"


def test_nothing_at_all_is_a_drawing_too() -> None:
    drawing = costs_charts.stacked([day(0), day(1)], str)
    assert (drawing.highest, drawing.legend) == ("", ())
    assert costs_charts.bars("x", [(FIRST, None)], str).bars[0].title == "June 1: –"


def test_every_kind_has_a_pattern_of_its_own() -> None:
    from django.template.loader import get_template

    patterns = get_template("gpujobs/partials/costs_patterns.html").render()
    for kind in KINDS:
        assert patterns.count(f'id="k-{kind}"') == 1
    looks = [pattern.partition(">")[2] for pattern in patterns.split("<pattern ")[1:]]
    assert len(set(looks)) == len(KINDS)


def points(line: costs_charts.Line) -> list[tuple[int, int]]:
    return [tuple(map(int, point.split(","))) for point in line.points.split()]  # type: ignore[misc]


def test_a_month_ends_where_its_forecast_does_below_or_above_the_budget() -> None:
    spent = [(FIRST + timedelta(days=n), (n + 1) * NANO) for n in range(15)]
    path = tuple(Step(FIRST + timedelta(days=n), (n + 1) * NANO, (n - 2) * NANO, (n + 4) * NANO) for n in range(14, 30))
    drawing = costs_charts.month(spent, Forecast(28, path), date(2026, 6, 30), 20 * NANO, 25 * NANO)
    lines = {line.sort: points(line) for line in drawing.lines}
    assert list(lines) == ["band", "expected", "spent", "soft", "hard"]
    assert lines["spent"][-1] == lines["expected"][0] == lines["band"][0]
    right, expected = lines["expected"][-1]
    assert right == costs_charts.WIDE
    upper, lower = lines["band"][1:16], lines["band"][:15:-1]
    assert upper[-1][1] < expected < lower[-1][1]
    assert all(high[1] < low[1] for high, low in zip(upper, lower, strict=True))
    assert expected < lines["hard"][0][1] < lines["soft"][0][1]


def test_a_month_without_history_and_budget_shows_what_was_spent() -> None:
    drawing = costs_charts.month([(FIRST, 0)], None, date(2026, 6, 30), None, None)
    assert [line.sort for line in drawing.lines] == ["spent"]


def test_dates_fit_below() -> None:
    days = [FIRST + timedelta(days=n) for n in range(30)]
    assert costs_charts.dates(days[:7])[0] == "Mon 1"
    assert costs_charts.dates(days) == ("June 1", "June 16", "June 30")
    assert costs_charts.dates(days[:1]) == ("June 1",)

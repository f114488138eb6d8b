"""What we ask of a model, beside what its stored report measured. Pure.

The goals are the project's own, stated before any model was measured; the measured side comes from the report.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from detector.templatetags.ink import cap, rate
from detector.views import accuracy_names as names
from detector.views import story
from detector.views.accuracy_tables import NONE, Cell, Row, Table, auroc, between, number, of

Written = Callable[[float], str]

LEAST_AUROC = 0.99
LEAST_CAUGHT_AT_1 = 0.90
LEAST_CAUGHT_AT_5 = 0.96
MOST_FLAGGED = 0.01
MOST_FLAGGED_UPPER = 0.02
MOST_LEARNERS_ABOVE = 0.01  # share of essays by learners flagged, less that of native writers
MOST_LOSS_POINTS = 2  # of AI texts caught, by one attack
MOST_ECE = 0.03
MOST_FRACTION_ERROR = 0.10
LEAST_TEXTS_PER_SECOND = 40
ROUNDING = 1e-9
NATIVE, LEARNERS = "native essays", "learner essays"


@dataclass(frozen=True, slots=True)
class Target:
    """met: None where the report has no such measurement."""

    name: str
    asked: str
    measured: str
    met: bool | None


def targets(report: Mapping[str, Any]) -> list[Target]:
    """Every goal with what the report says of it."""
    return [
        *_detection(report),
        *_limits(report),
        *_people(report),
        *_writers(report),
        *_stability(report),
        *_mixed(report),
        _speed(report),
    ]


def table(chosen: list[Target], caption: str) -> Table:
    """met is shown by the table that a target stands in."""
    rows = tuple(Row(t.name, (Cell(t.asked), Cell(t.measured)), bad=t.met is False) for t in chosen)
    return Table(caption, (_("Goal"), _("Asked"), _("Measured")), rows)


def _detection(report: Mapping[str, Any]) -> Iterator[Target]:
    for key, figures in report["long"].items():
        if key.startswith("en "):
            name = _("%(texts)s, 100 words and more: AUROC") % {"texts": names.group(key)}
            yield _at_least(name, figures["auroc"], LEAST_AUROC, auroc)
    for key, figures in report["headline"].items():
        if key.startswith("en "):
            name = _("%(texts)s: AI texts caught while %(limit)s of texts by people are flagged")
            for field, limit, least in (
                ("tpr_at_fpr_1", 0.01, LEAST_CAUGHT_AT_1),
                ("tpr_at_fpr_5", 0.05, LEAST_CAUGHT_AT_5),
            ):
                yield _at_least(name % {"texts": names.group(key), "limit": cap(limit)}, figures[field], least, rate)
        name = _("%(texts)s: how far probabilities are off (ECE)") % {"texts": names.group(key)}
        yield _at_most(name, figures["ece"], MOST_ECE, _ece)


def _limits(report: Mapping[str, Any]) -> Iterator[Target]:
    for language, lines in report["caps"].items():
        for line in lines:
            name = _("%(language)s, limit of %(limit)s: texts by people flagged") % {
                "language": names.language(language),
                "limit": cap(line["max_fpr"]),
            }
            yield _at_most(name, line["fpr"], line["max_fpr"], rate)


def _people(report: Mapping[str, Any]) -> Iterator[Target]:
    asked = _("at most %(rate)s, upper end at most %(upper)s") % {
        "rate": cap(MOST_FLAGGED),
        "upper": cap(MOST_FLAGGED_UPPER),
    }
    for group in report["human_groups"]:
        name = _("Texts by people flagged: %(group)s (%(language)s)") % {
            "language": story.language(group["language"]),
            "group": names.value(group["field"], group["value"]),
        }
        yield Target(name, asked, f"{rate(group['fpr'])} ({between(group['interval'])})", group["holds"])
    canon = report["canon"]
    name = _("Well-known texts by people flagged")
    yield Target(name, "0", of(canon["k"], canon["n"]) if canon else NONE, canon["k"] == 0 if canon else None)


def _writers(report: Mapping[str, Any]) -> Iterator[Target]:
    """Learners beside native writers of the same language, where both were measured."""
    by_language: dict[str, dict[str, float]] = {}
    for row in report["writers"]:
        if row["fpr"] is not None:
            found = by_language.setdefault(row["language"], {})
            found[row["group"]] = max(row["fpr"], found.get(row["group"], 0.0))
    for language, found in by_language.items():
        if NATIVE in found and LEARNERS in found:
            name = _("%(language)s: essays in a second language beside essays in the first")
            yield Target(
                name % {"language": names.language(language)},
                _("at most %(points)s point more flagged") % {"points": number(100 * MOST_LEARNERS_ABOVE, 0)},
                _("%(learners)s and %(native)s") % {"learners": rate(found[LEARNERS]), "native": rate(found[NATIVE])},
                found[LEARNERS] - found[NATIVE] <= MOST_LEARNERS_ABOVE + ROUNDING,
            )


def _stability(report: Mapping[str, Any]) -> Iterator[Target]:
    for row in report["attacks"]:
        yield Target(
            _("Loss by an attack: %(attack)s") % {"attack": names.attack(row["attack"])},
            _("at most %(points)s points") % {"points": number(MOST_LOSS_POINTS, 0)},
            NONE if row["loss_points"] is None else _("%(points)s points") % {"points": number(row["loss_points"], 1)},
            None if row["loss_points"] is None else row["loss_points"] <= MOST_LOSS_POINTS,
        )
    for row in report["form"]:
        name = _("Texts by people newly flagged: %(change)s") % {"change": names.attack(row["transform"])}
        yield Target(name, "0", of(row["human_to_ai"], row["n"]), row["human_to_ai"] == 0)


def _mixed(report: Mapping[str, Any]) -> Iterator[Target]:
    found = report["mixed"]
    name = _("Documents by two writers: error of the share marked AI")
    yield _at_most(name, found["ai_fraction_mae"] if found else None, MOST_FRACTION_ERROR, rate)


def _speed(report: Mapping[str, Any]) -> Target:
    speed = report["speed"]
    name = _("Texts read in a second")
    return _at_least(name, speed["texts_per_s"] if speed else None, LEAST_TEXTS_PER_SECOND, _speed_of)


def _at_least(name: str, measured: float | None, least: float, written: Written) -> Target:
    met = None if measured is None else measured >= least
    return Target(name, _("at least %(value)s") % {"value": _goal(least, written)}, _said(measured, written), met)


def _at_most(name: str, measured: float | None, most: float, written: Written) -> Target:
    met = None if measured is None else measured <= most
    return Target(name, _("at most %(value)s") % {"value": _goal(most, written)}, _said(measured, written), met)


def _said(measured: float | None, written: Written) -> str:
    return NONE if measured is None else written(measured)


def _goal(value: float, written: Written) -> str:
    """A goal is a round number: a share as limits are written, else without decimals that say nothing."""
    if written is rate:
        return cap(value)
    return number(value, len(f"{value:g}".partition(".")[2]))


def _ece(value: float) -> str:
    return number(value, 3)


def _speed_of(value: float) -> str:
    return number(value, 1)

"""A stored report as the sections of the accuracy page: which tables and drawings stand where. Pure.

    sections(report)   everything that templates/detector/accuracy.html writes

A section that the report has nothing for is None or empty; the page says so, or leaves the section out.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _

from detector.views import accuracy_curves as curves
from detector.views import accuracy_names as names
from detector.views import accuracy_tables as tables
from detector.views import accuracy_targets as goals
from detector.views.accuracy_tables import Table
from gpujobs.reports import Report

Figures = Mapping[str, Any]
FIRST_KEY = f"en {names.NEW}"  # its texts by people are the page's first number
# As gpujobs.pod.reporting names its drawings; more of one kind may follow a hyphen.
PLOT_SECTIONS = ("human-groups", "roc", "reliability", "length", "attacks", "mixed")


@dataclass(frozen=True, slots=True)
class Plot:
    """name: as in its address.  about: what is left of the name beside its section's."""

    name: str
    about: str


def sections(report: Report) -> dict[str, Any]:
    figures = report.figures
    return {
        "figures": figures,
        "made": _date(figures["made"]),
        "plots": {section.replace("-", "_"): plots_of(report.plots, section) for section in PLOT_SECTIONS},
        **_people(figures),
        **_caught(figures),
        **_curves(figures),
        **_by_property(figures),
        **_damage(figures),
        **_spanish(figures),
        **_targets(figures),
    }


def plots_of(plots: Iterable[str], section: str) -> list[Plot]:
    """The drawings of a section: `roc`, or `roc-` and what it is about (`roc-en-out-of-domain`)."""
    found = [(name, name.replace("_", "-")) for name in plots]
    return [
        Plot(name, spelt[len(section) + 1 :].replace("-", " "))
        for name, spelt in found
        if spelt == section or spelt.startswith(f"{section}-")
    ]


def _people(figures: Figures) -> dict[str, Any]:
    """Texts by people: what is counted first."""
    first = figures["headline"].get(FIRST_KEY)
    groups = figures["human_groups"]
    over = [group for group in groups if not group["holds"]]
    return {
        "first": first if first and first["human_n"] else None,
        "by_key": tables.by_key(figures),
        "over": _table(over, tables.human_groups, _("Groups of texts by people that are over the limit")),
        "human_groups": _table(groups, tables.human_groups, _("Every measured group of texts by people")),
        "unseen_people": _table(figures["unseen_people"], tables.people),
        "canon": _table(figures["canon"], tables.canon),
        "writers": _table(figures["writers"], tables.writers),
        "unmeasured_learners": _without_learners(figures),
    }


def _without_learners(figures: Figures) -> list[str]:
    """Languages of the report in which no text by somebody who learns it was measured."""
    measured = {row["language"] for row in figures["writers"] if row["group"] == goals.LEARNERS}
    languages = dict.fromkeys(names.split_key(key)[0] for key in figures["headline"])
    return [language for language in languages if language not in measured]


def _caught(figures: Figures) -> dict[str, Any]:
    left_out = figures["leave_one_out"] or {}
    return {
        "caps": [tables.caps(figures, language) for language in figures["caps"]],
        "headlines": _headlines(figures, "en"),
        "left_out": _made(
            (
                _table(left_out.get("sources"), tables.left_out, _("Sources left out of training, one at a time")),
                _table(left_out.get("generators"), tables.left_out, _("Models left out of training, one at a time")),
            )
        ),
    }


def _curves(figures: Figures) -> dict[str, Any]:
    languages = dict.fromkeys(names.split_key(key)[0] for key in figures["roc"])
    return {
        "rocs": _made(curves.roc(figures, language) for language in languages),
        "calibration": curves.calibration(figures),
        "reliabilities": [curves.reliability(bins, key) for key, bins in figures["reliability"].items() if bins],
    }


def _by_property(figures: Figures) -> dict[str, Any]:
    """By length, genre, source, generator, attack: new sources before known ones."""
    keys = sorted(figures["by"], key=lambda key: (names.split_key(key)[0], names.split_key(key)[1] != names.NEW))
    return {
        f"by_{field}": _made(
            tables.by_value(figures, key, field, only_ai=field in ("generator", "attack")) for key in keys
        )
        for field in ("length", "genre", "source", "generator", "attack")
    }


def _damage(figures: Figures) -> dict[str, Any]:
    return {
        "attacks": _table(figures["attacks"], curves.attacks),
        "form": _table(figures["form"], curves.form),
        "mixed": _table(figures["mixed"], curves.mixed),
        # Reports from before have no line for each limit.
        "mixed_by_cap": _table(figures["mixed"] and figures["mixed"].get("by_cap"), curves.mixed_by_cap),
    }


def _spanish(figures: Figures) -> dict[str, Any]:
    """How much there is in Spanish, and by which models: the reader sees how little it may be."""
    keys = [key for key in figures["headline"] if names.split_key(key)[0] == "es"]
    by_generator = [figures["by"].get(key, {}).get("generator", {}) for key in keys]
    return {
        "spanish": _headlines(figures, "es") if keys else [],
        "spanish_groups": [figures["headline"][key] | {"name": names.group(key)} for key in keys],
        "spanish_generators": sorted({name for found in by_generator for name, f in found.items() if f["ai_n"]}),
    }


def _targets(figures: Figures) -> dict[str, Any]:
    every = goals.targets(figures)
    missed, met = [t for t in every if t.met is False], [t for t in every if t.met]
    unmeasured = [t for t in every if t.met is None]
    return {
        "missed": _table(missed, goals.table, _("Goals that this model misses")),
        "unmeasured": _table(unmeasured, goals.table, _("Goals that this report has no measurement of")),
        "met": _table(met, goals.table, _("Goals that this model meets")),
    }


def _headlines(figures: Figures, language: str) -> list[Table]:
    return [tables.headline(figures, part, language) for part in ("headline", "long")]


def _table(found: Any, build: Callable[..., Table], *caption: str) -> Table | None:
    return build(found, *caption) if found else None


def _made(built: Iterable[Table | None]) -> list[Table]:
    return [table for table in built if table is not None]


def _date(text: str) -> datetime.date | str:
    """As the report says it, where that is no date."""
    try:
        return parse_date(text) or text
    except ValueError:
        return text

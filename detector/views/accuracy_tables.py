"""The tables of the accuracy page, from a stored report: every number in a cell is one of the report's. Pure.

    Table, Row, Cell          what the partial `accuracy_table.html` writes
    by_key(), by_value()      flagged and caught, by group of texts; by genre, length, generator …
    caps(), headline() …      one builder for each section; curves and damage are in accuracy_curves.py

Nothing is computed here but the choice and the order of rows: what goes wrong stands first where order is free.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from detector.templatetags.ink import cap, rate, whole
from detector.views import accuracy_names as names

Figures = Mapping[str, Any]
NONE = "–"
RAW_FIELDS = ("source", "generator")  # their values are names, the same in every language


@dataclass(frozen=True, slots=True)
class Cell:
    """main: the number.  lines: what it rests on, small and below.  wraps: the lines are words, not numbers."""

    main: str
    lines: tuple[str, ...] = ()
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """raw: the name is the report's own, in no language of the page.  bad: it misses what was asked of it."""

    name: str
    cells: tuple[Cell, ...]
    note: str = ""
    raw: bool = False
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """columns: heads, the first over the names of the rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


# --- Cells --------------------------------------------------------------------------------------------------


def flagged(figures: Figures) -> Cell:
    """Texts by people that were flagged: share, k of n, interval."""
    return counted(figures["human_k"], figures["human_n"], figures["fpr"], figures.get("fpr_interval"))


def caught(figures: Figures) -> Cell:
    """AI texts that were flagged, likewise."""
    return counted(figures["ai_k"], figures["ai_n"], figures["tpr"], figures.get("tpr_interval"))


def counted(k: int, n: int, part: float | None, interval: Sequence[float] | None) -> Cell:
    if not n:
        return Cell(NONE)
    return Cell(rate(part), (of(k, n), *([between(interval)] if interval else [])))


def of(k: int, n: int) -> str:
    return _("%(k)s of %(n)s") % {"k": whole(k), "n": whole(n)}


def between(interval: Sequence[float]) -> str:
    return f"{rate(interval[0])} – {rate(interval[1])}"


def number(value: float | None, decimals: int) -> str:
    """Rounded, since Django's own formatting cuts decimals off; + 0.0 leaves no minus before nought."""
    return NONE if value is None else number_format(round(value, decimals) + 0.0, decimals, force_grouping=True)


def auroc(value: float | None) -> str:
    return number(value, 4)


# --- Texts by people, and AI texts, at the product's limit ---------------------------------------------------


def by_key(report: Figures) -> Table:
    """Texts by people, for each group of texts; the headline."""
    rows = [
        Row(names.group(key), (flagged(f),), bad=f["fpr"] > report["default_max_fpr"])
        for key, f in report["headline"].items()
        if f["human_n"]
    ]
    limit = {"limit": cap(report["default_max_fpr"])}
    caption = _("Texts by people flagged by mistake at the limit of %(limit)s") % limit
    return Table(caption, (_("Texts"), _("Flagged")), tuple(rows))


def human_groups(groups: Iterable[Figures], caption: str) -> Table:
    """Groups of texts by people; those over the limit first, then the highest rates."""
    ordered = sorted(groups, key=lambda g: (g["holds"], -g["fpr"]))
    rows = [_human_group(group) for group in ordered]
    return Table(caption, (_("Group"), _("Flagged"), _("Within the limit")), tuple(rows))


def _human_group(group: Figures) -> Row:
    field = group["field"]
    note = f"{names.language(group['language'])}, {names.FIELDS.get(field, field)}"
    holds = Cell(_("yes") if group["holds"] else _("no"))
    cells = (counted(group["k"], group["n"], group["fpr"], group["interval"]), holds)
    return Row(names.value(field, group["value"]), cells, note, raw=field in RAW_FIELDS, bad=not group["holds"])


def people(rows: Iterable[Figures]) -> Table:
    """Texts by people from packages of software; half of them steered choices, which the page says."""
    return Table(
        _("Texts by people from packages of software"),
        (_("Source"), _("Flagged")),
        tuple(Row(r["source"], (_counted_only(r),), names.language(r["language"]), raw=True) for r in rows),
    )


def canon(found: Figures) -> Table:
    """The well-known texts, by where they are from."""
    rows = [
        Row(source, (Cell(of(part["k"], part["n"])),), raw=True, bad=part["k"] > 0)
        for source, part in found["by_source"].items()
    ]
    return Table(_("Well-known texts by people"), (_("Source"), _("Flagged")), tuple(rows))


def _counted_only(row: Figures) -> Cell:
    return Cell(of(row["k"], row["n"]), (between(row["interval"]),))


def writers(rows: Iterable[Figures]) -> Table:
    return Table(_("Texts by people flagged by mistake"), (_("Writers"), _("Flagged")), tuple(map(_writers, rows)))


def _writers(row: Figures) -> Row:
    note = f"{names.language(row['language'])}, {row['source']}"
    if row.get("halves") == "both":
        note = _("%(about)s; so few that some also served to set limits") % {"about": note}
    return Row(names.capitalised(names.writers(row["group"])), (flagged(row),), note)


def caps(report: Figures, language: str) -> Table:
    """What each limit costs and brings, with the product's thresholds."""
    rows = [
        Row(
            cap(line["max_fpr"]),
            (flagged(line), caught(line)),
            _("default") if line["max_fpr"] == report["default_max_fpr"] else "",
            bad=line["human_n"] > 0 and line["fpr"] > line["max_fpr"],
        )
        for line in report["caps"][language]
    ]
    columns = (_("Limit"), _("People's texts flagged"), _("AI texts caught"))
    return Table(names.language(language), columns, tuple(rows))


# --- New and known sources side by side ----------------------------------------------------------------------


def headline(report: Figures, part: str, language: str) -> Table:
    """part: headline or long.  One column for each group of that language."""
    keys = [key for key in report[part] if names.split_key(key)[0] == language]
    found = [report[part][key] for key in keys]
    rows = [
        Row(_("AI texts caught at the default limit"), tuple(caught(f) for f in found)),
        Row(_caught_at(0.01), _each(found, "tpr_at_fpr_1", rate)),
        Row(_caught_at(0.05), _each(found, "tpr_at_fpr_5", rate)),
        Row(_("AUROC (1 is perfect, 0.5 is chance)"), _each(found, "auroc", auroc)),
        Row(_("No verdict"), _each(found, "insufficient", rate)),
        Row(_("Texts"), _each(found, "n", whole)),
    ]
    if part == "headline":
        rows += _baseline([report["baseline"].get(key) for key in keys])
    columns = tuple(str(names.DOMAINS.get(domain, domain)) for _language, domain in map(names.split_key, keys))
    return Table(_heading(language, part), (_("Figure"), *map(names.capitalised, columns)), tuple(rows))


def _caught_at(level: float) -> str:
    return _("Caught if %(limit)s of these very texts by people were flagged") % {"limit": cap(level)}


def _heading(language: str, part: str) -> str:
    values = {"language": names.language(language)}
    if part == "long":
        return _("%(language)s, texts of 100 words and more") % values
    return _("%(language)s, texts of every length that we judge") % values


def _baseline(found: Sequence[Figures | None]) -> list[Row]:
    if not any(found):
        return []
    known = [f or {} for f in found]
    note = _("for comparison: a simple model that counts words and letters")
    return [
        Row(_caught_at(0.01), _each(known, "tpr_at_fpr_1", rate), note),
        Row(_("AUROC (1 is perfect, 0.5 is chance)"), _each(known, "auroc", auroc), note),
    ]


def _each(found: Iterable[Figures], name: str, written: Any) -> tuple[Cell, ...]:
    return tuple(Cell(NONE if f.get(name) is None else written(f[name])) for f in found)


def left_out(rows: Iterable[Figures], caption: str) -> Table:
    """A source or a generator that training did without, and what the model made of it then."""
    return Table(
        caption,
        (_("Left out"), _("Texts"), _("AI texts caught"), _("AUROC")),
        tuple(
            Row(
                r["left_out"],
                (Cell(whole(r["n"])), Cell(rate(r.get("tpr_at_fpr_1"))), Cell(auroc(r.get("auroc")))),
                raw=True,
            )
            for r in rows
        ),
    )


# --- By a property of the text ---------------------------------------------------------------------------------


def by_value(report: Figures, key: str, field: str, *, only_ai: bool = False) -> Table | None:
    """Flagged and caught for each value of a field; None where the report has nothing to show.

    only_ai: values are of AI texts (generators, attacks); the least caught stand first.
    """
    found = report["by"].get(key, {}).get(field, {})
    shown = {name: f for name, f in found.items() if f["ai_n"] or (f["human_n"] and not only_ai)}
    if not shown:
        return None
    order = sorted(shown, key=lambda name: shown[name]["tpr"]) if only_ai else list(shown)
    rows = [
        Row(
            names.value(field, name),
            (caught(shown[name]),) if only_ai else (flagged(shown[name]), caught(shown[name])),
            raw=field in RAW_FIELDS,
        )
        for name in order
    ]
    heads = (_("AI texts caught"),) if only_ai else (_("People's texts flagged"), _("AI texts caught"))
    return Table(names.group(key), (str(names.HEADS[field]), *heads), tuple(rows))

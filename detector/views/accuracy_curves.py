"""More tables of the accuracy page: curves, attacks, changes of form, documents by two writers. Pure."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from detector.templatetags.ink import cap, rate, share, whole
from detector.views import accuracy_names as names
from detector.views import story
from detector.views.accuracy_tables import NONE, Cell, Figures, Row, Table, number, of

# The part of the curve that matters: limits at which somebody could act.
ROC_LEVELS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
ROUNDING = 1e-9


def roc(report: Figures, language: str) -> Table | None:
    """AI texts caught while at most so many texts by people are flagged; threshold on these very texts."""
    keys = [key for key in report["roc"] if names.split_key(key)[0] == language and report["roc"][key]]
    if not keys:
        return None
    rows = [
        Row(
            _("at most %(share)s") % {"share": cap(level)},
            tuple(Cell(rate(_at(report["roc"][key], level))) for key in keys),
        )
        for level in ROC_LEVELS
    ]
    heads = (names.capitalised(str(names.DOMAINS.get(d, d))) for _language, d in map(names.split_key, keys))
    return Table(names.language(language), (_("People's texts flagged"), *heads), tuple(rows))


def _at(points: Iterable[Figures], level: float) -> float | None:
    """The share caught at the last stored point that flags no more than `level`."""
    return max((p["tpr"] for p in points if p["fpr"] <= level + ROUNDING), default=None)


def reliability(bins: Iterable[Figures], key: str) -> Table:
    return Table(
        names.group(key),
        (_("Probability we gave"), _("Texts"), _("On average"), _("Really AI")),
        tuple(
            Row(
                f"{share(b['low'])} – {share(b['high'])}",
                (Cell(whole(b["n"])), Cell(rate(b["predicted"])), Cell(rate(b["observed"]))),
            )
            for b in bins
        ),
    )


def calibration(report: Figures) -> Table:
    rows = [
        Row(names.group(key), (Cell(number(f["ece"], 3)), Cell(number(f["brier"], 3))))
        for key, f in report["headline"].items()
    ]
    return Table(_("How far probabilities are off"), (_("Texts"), _("ECE"), _("Brier score")), tuple(rows))


# --- Damage -----------------------------------------------------------------------------------------------------


def attacks(rows: Iterable[Figures]) -> Table:
    """The heaviest losses first."""
    ordered = sorted(rows, key=lambda r: -(r["loss_points"] or 0))
    return Table(
        _("AI texts caught before and after each attack, English"),
        (_("Attack"), _("Before"), _("After"), _("People's texts flagged after it")),
        tuple(
            Row(
                names.capitalised(names.attack(r["attack"])),
                (
                    Cell(rate(r["tpr_clean"])),
                    Cell(rate(r["tpr"]), (_points(r["loss_points"]),)),
                    _plain(r["human_k"], r["human_n"]),
                ),
            )
            for r in ordered
        ),
    )


def form(rows: Iterable[Figures]) -> Table:
    ordered = sorted(rows, key=lambda r: (-r["human_to_ai"], -r["changed"]))
    return Table(
        _("Verdicts that changed with the form of the text alone"),
        (_("Change"), _("Texts"), _("Changed"), _("People's texts newly flagged")),
        tuple(
            Row(
                names.capitalised(names.attack(r["transform"])),
                (Cell(whole(r["n"])), Cell(whole(r["changed"])), Cell(whole(r["human_to_ai"]))),
                bad=r["human_to_ai"] > 0,
            )
            for r in ordered
        ),
    )


def _points(loss: float | None) -> str:
    """What an attack did to the share caught, a loss below nought."""
    return "" if loss is None else _("%(points)s points") % {"points": number(-loss, 1)}


def _plain(k: int, n: int) -> Cell:
    return Cell(of(k, n) if n else NONE)


def mixed(found: Figures) -> Table:
    """Spliced documents by how much of them is AI; verdicts as the report has them, counts or shares."""
    return Table(
        _("Documents by two writers, by the share that is AI"),
        (_("Share that is AI"), _("Texts"), _("Error of our share"), _("Verdicts")),
        tuple(
            Row(f"{share(r['low'])} – {share(r['high'])}", (Cell(whole(r["n"])), Cell(rate(r["mae"])), _verdicts(r)))
            for r in found["by_share"]
        ),
    )


def mixed_by_cap(lines: Iterable[Figures]) -> Table:
    """The same documents under each limit on false flags: a looser one finds more."""
    return Table(
        _("Documents by two writers, by the limit on false flags"),
        (_("Limit"), _("Flagged"), _("Error of our share")),
        tuple(Row(cap(r["max_fpr"]), (_plain(r["flagged"], r["n"]), Cell(rate(r["mae"])))) for r in lines),
    )


def _verdicts(row: Figures) -> Cell:
    def written(value: float) -> str:
        return whole(value) if isinstance(value, int) else rate(value)

    return Cell(
        "", tuple(f"{story.LABELS[label]}: {written(row[label])}" for label in ("human", "mixed", "ai")), wraps=True
    )

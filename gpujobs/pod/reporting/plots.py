"""Plots of a report as SVG: drawn from report.json's numbers alone, the same bytes for the same numbers.

Told apart by dash, marker and hatch as much as by colour; sized for a phone; text stays text. Needs matplotlib (extra
`train`). May be imported by: the report's command.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH = 4.6  # inches; at 72 points an inch about a phone's 360 pixels
ROW = 0.2  # inches for a line of a plot with one line a group
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "inkcloak",  # ids inside the file don't change from run to run
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
}
LINES = (("#0b5394", "-", "o"), ("#b45f06", "--", "s"), ("#38761d", "-.", "^"), ("#741b47", ":", "D"))
DARK, LIGHT = "#0b5394", "#b45f06"
HATCHES = {"human": "", "mixed": "///", "ai": "xx"}
FILLS = {"human": "#cfe2f3", "mixed": "#f9cb9c", "ai": "#e06666"}
LOW_FPR = (0.001, 0.2)  # the range of the ROC that anybody could use
LABEL_CHARACTERS = 34
LENGTH_KEY = "en out-of-domain"
NO_DATE = {"Date": None, "Creator": None}
PER_CENT = 100

Report = Mapping[str, Any]


def draw(report: Report, out: Path) -> list[tuple[str, str]]:
    """Writes every plot that the report has numbers for. Returns (file name, what it shows) in order."""
    drawn: list[tuple[str, str]] = []
    for name, caption, make in PLOTS:
        with mpl.rc_context(STYLE):
            figure = make(report)
            if figure is not None:
                facts = {**NO_DATE, "Title": caption}
                figure.savefig(out / name, format="svg", metadata=facts, bbox_inches="tight", pad_inches=0.05)
                drawn.append((name, caption))
    return drawn


def roc(report: Report) -> Figure | None:
    curves = {key: points for key, points in report["roc"].items() if points}
    if not curves:
        return None
    figure, axes = _canvas(3.4)
    for (key, points), (colour, dash, _) in zip(curves.items(), LINES, strict=False):
        x, y = [PER_CENT * p["fpr"] for p in points], [PER_CENT * p["tpr"] for p in points]
        axes.plot(x, y, color=colour, linestyle=dash, linewidth=1.8, label=key, drawstyle="steps-post")
    axes.set_xscale("log")
    axes.set_xlim(PER_CENT * LOW_FPR[0], PER_CENT * LOW_FPR[1])
    ticks = [0.1, 0.5, 1, 5, 10, 20]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.axvline(PER_CENT * report["default_max_fpr"], color="#666666", linewidth=0.8)
    axes.set_ylim(0, 101)
    axes.set_xlabel("human texts flagged, %")
    axes.set_ylabel("AI texts caught, %")
    axes.legend(loc="lower right")
    return figure


def reliability(report: Report) -> Figure | None:
    curves = {key: bins for key, bins in report["reliability"].items() if bins}
    if not curves:
        return None
    figure, axes = _canvas(3.4)
    axes.plot([0, PER_CENT], [0, PER_CENT], color="#666666", linewidth=0.8)
    for (key, bins), (colour, dash, marker) in zip(curves.items(), LINES, strict=False):
        x, y = [PER_CENT * b["predicted"] for b in bins], [PER_CENT * b["observed"] for b in bins]
        axes.plot(x, y, color=colour, linestyle=dash, marker=marker, markersize=4.5, linewidth=1.4, label=key)
    axes.set_xlabel("probability said, %")
    axes.set_ylabel("texts that are AI, %")
    _legend_above(axes)
    return figure


def attacks(report: Report) -> Figure | None:
    lines = [line for line in report["attacks"] if line["tpr"] is not None]
    if not lines:
        return None
    figure, axes = _canvas(0.9 + ROW * len(lines))
    for place, line in enumerate(lines):
        axes.plot([PER_CENT * line["tpr_clean"], PER_CENT * line["tpr"]], [place, place], color="#888888", linewidth=1)
    places = range(len(lines))
    clean, now = [PER_CENT * line["tpr_clean"] for line in lines], [PER_CENT * line["tpr"] for line in lines]
    axes.plot(clean, places, "o", markerfacecolor="none", color=DARK, markersize=6, label="as it was")
    axes.plot(now, places, "D", color=LIGHT, markersize=3.5, label="attacked")
    _rows(axes, [line["attack"].replace("_", " ") for line in lines])
    axes.set_xlim(min(0.0, *now) if min(now) < 50 else 50, 101)
    axes.set_xlabel("AI texts caught, %")
    _legend_above(axes)
    return figure


def human_groups(report: Report) -> Figure | None:
    lines = report["human_groups"]
    if not lines:
        return None
    figure, axes = _canvas(0.9 + ROW * len(lines))
    for place, line in enumerate(lines):
        low, high = (PER_CENT * bound for bound in line["interval"])
        axes.plot([low, high], [place, place], color=DARK, linewidth=1.4)
        marker = "o" if line["holds"] else "X"
        axes.plot(
            [PER_CENT * line["fpr"]],
            [place],
            marker,
            color=DARK if line["holds"] else LIGHT,
            markersize=5,
            clip_on=False,
        )
    axes.plot([], [], "o", color=DARK, label="holds")
    axes.plot([], [], "X", color=LIGHT, label="doesn't")
    cap = PER_CENT * report["default_max_fpr"]
    axes.axvline(cap, color="#666666", linewidth=0.8)
    axes.axvline(2 * cap, color="#666666", linewidth=0.8, linestyle="--")
    _rows(axes, [f"{line['language']} {line['value'].split(' (')[0]} (n={line['n']})" for line in lines])
    axes.set_xlim(left=0)
    axes.set_xlabel("human texts flagged, % (95 % interval)")
    _legend_above(axes)
    return figure


def mixed(report: Report) -> Figure | None:
    if not report["mixed"]:
        return None
    lines = report["mixed"]["by_share"]
    figure = Figure(figsize=(WIDTH, 3.8), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    places = range(len(lines))
    above.bar(places, [line["mae"] for line in lines], color=FILLS["human"], edgecolor="#333333", width=0.6)
    above.axhline(0.10, color="#666666", linewidth=0.8, linestyle="--")
    above.set_ylabel("error of the AI share")
    base = [0.0] * len(lines)
    for name in ("human", "mixed", "ai"):
        share = [PER_CENT * line[name] / line["n"] for line in lines]
        below.bar(
            places,
            share,
            bottom=base,
            color=FILLS[name],
            hatch=HATCHES[name],
            edgecolor="#333333",
            width=0.6,
            label=name,
        )
        base = [b + s for b, s in zip(base, share, strict=True)]
    names = [f"{PER_CENT * line['low']:.0f}-{PER_CENT * line['high']:.0f} %\nn={line['n']}" for line in lines]
    below.set_xticks(list(places), names)
    below.set_ylabel("verdicts, %")
    below.set_xlabel("characters written by an AI")
    below.legend(loc="upper center", bbox_to_anchor=(0.5, 1.22), ncols=3)
    return figure


def length(report: Report) -> Figure | None:
    groups = report["by"].get(LENGTH_KEY, {}).get("length", {})
    lines = [(name, f) for name, f in groups.items() if f["human_n"] and f["ai_n"]]
    if not lines:
        return None
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for axes, rate, label, title in ((above, "tpr", "ai", "AI caught, %"), (below, "fpr", "human", "human flagged, %")):
        for place, (_, f) in enumerate(lines):
            axes.plot([place, place], [PER_CENT * b for b in f[f"{rate}_interval"]], color=DARK, linewidth=1.4)
            axes.plot([place], [PER_CENT * f[rate]], "o", color=DARK, markersize=5, clip_on=False)
            axes.annotate(f"n={f[f'{label}_n']}", (place, PER_CENT * f[rate]), (6, 3), textcoords="offset points")
        axes.set_ylabel(title)
    above.set_ylim(0, 101)
    below.set_ylim(bottom=0)
    below.axhline(PER_CENT * report["default_max_fpr"], color="#666666", linewidth=0.8)
    below.set_xticks(range(len(lines)), [name for name, _ in lines])
    below.set_xlim(-0.4, len(lines) - 0.4)
    below.set_xlabel("words")
    return figure


PLOTS: Sequence[tuple[str, str, Callable[[Report], Figure | None]]] = (
    ("roc.svg", "AI texts caught at each share of human texts flagged; the line is the product's cap", roc),
    ("reliability.svg", "Of texts that were given a probability, how many are AI", reliability),
    ("length.svg", f"Rates by length, {LENGTH_KEY} texts", length),
    ("attacks.svg", "AI texts caught before and after each attack", attacks),
    ("human_groups.svg", "Human texts flagged, by group; lines at the cap and at twice the cap", human_groups),
    ("mixed.svg", "Documents by two writers: error of the AI share, and the verdicts", mixed),
)


def _canvas(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """One named line a group, the first on top."""
    shown = [name if len(name) <= LABEL_CHARACTERS else name[: LABEL_CHARACTERS - 1] + "…" for name in names]
    axes.set_yticks(range(len(names)), shown)
    axes.set_ylim(len(names) - 0.4, -0.6)


def _legend_above(axes: Axes) -> None:
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)

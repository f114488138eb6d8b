"""A report as a page of Markdown for people: every number comes from report.json. Pure.

May be imported by: the report's command.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Report = Mapping[str, Any]

NOT_MEASURED = (
    "Not measured: English texts by learners (there is no corpus of them; the learners here write Spanish), and "
    "rewriting by a language model beyond what the corpora hold."
)


def text(report: Report, plots: Sequence[tuple[str, str]]) -> str:
    """The page. plots: (file name, caption)."""
    parts = [
        _head(report),
        _headline(report),
        _baseline(report),
        _caps(report),
        _plots(plots),
        _by(report),
        _human(report),
        _people(report),
        _attacks(report),
        _form(report),
        _mixed(report),
        _left_out(report),
        _rest(report),
    ]
    return "\n".join(line for part in parts for line in [*part, ""]).rstrip() + "\n"


def _head(report: Report) -> list[str]:
    data = report["data"]
    lines = [
        f"# {report['model']} {report['model_version']}: what was measured",
        "",
        f"Made {report['made']}; calibration {report['calibration_version']}, reading rules "
        f"{report['normaliser_version']}. {data['texts']} texts of the report halves of the frozen split (SHA-256 "
        f"{data['split_sha256'][:16]}…), which no training, calibration or threshold choice saw; verdicts at the "
        f"default cap of {_per_cent(report['default_max_fpr'])} human texts flagged. Flagged or caught means that the "
        f"verdict isn't `human`. Texts under {report['min_words']} words get none and count as insufficient. Intervals "
        "are Wilson's, 95 %.",
        "",
        "To reproduce it: `make evaluate`.",
    ]
    if report["sample"] is not None:
        lines += ["", f"**A sample of {report['sample']} texts a section: good for looking at, not for quoting.**"]
    if data["missing"]:
        lines += ["", f"Files that were not there: {', '.join(data['missing'])}. What needs them is missing below."]
    return [*lines, "", NOT_MEASURED]


def _headline(report: Report) -> list[str]:
    lines = ["## Headline", ""]
    for title, name in (("All lengths", "headline"), ("100 words and more", "long")):
        rows = [_figures(key, f) for key, f in report[name].items()]
        lines += [f"### {title}", "", *_table(FIGURE_COLUMNS, rows), ""]
    lines += [
        "`TPR@FPR` has its threshold on these very texts, as benchmarks have it; human flagged and AI caught are the "
        "product's verdicts."
    ]
    return lines


FIGURE_COLUMNS = (
    "texts", "n", "AUROC", "TPR@FPR=1 %", "TPR@FPR=5 %", "human flagged", "AI caught", "insufficient", "ECE", "Brier"
)  # fmt: skip


def _figures(name: str, f: Mapping[str, Any]) -> list[str]:
    rates = [_rate(f, "fpr", "human"), _rate(f, "tpr", "ai"), _per_cent(f["insufficient"])]
    curve = [_number(f["auroc"]), _per_cent(f["tpr_at_fpr_1"]), _per_cent(f["tpr_at_fpr_5"])]
    return [name, str(f["n"]), *curve, *rates, _number(f["ece"]), _number(f["brier"])]


def _baseline(report: Report) -> list[str]:
    rows = [
        [key, str(f["n"]), _number(f["auroc"]), _per_cent(f["tpr_at_fpr_1"]), _per_cent(f["tpr_at_fpr_5"])]
        for key, f in report["baseline"].items()
    ]
    about = "Words and character n-grams with logistic regression, trained on the same texts; measured when packaged."
    return ["## The n-gram baseline", "", about, "", *_table(FIGURE_COLUMNS[:5], rows)]


def _caps(report: Report) -> list[str]:
    rows = [
        [language, _per_cent(line["max_fpr"]), _rate(line, "fpr", "human"), _rate(line, "tpr", "ai")]
        for language, lines in report["caps"].items()
        for line in lines
    ]
    return ["## Caps to choose from", "", *_table(("language", "cap", "human flagged", "AI caught"), rows)]


def _plots(plots: Sequence[tuple[str, str]]) -> list[str]:
    lines = ["## Plots"]
    for name, caption in plots:
        lines += ["", f"![{caption}]({name})", "", f"*{caption}.*"]
    return lines


def _by(report: Report) -> list[str]:
    lines = ["## By group"]
    for key, fields in report["by"].items():
        for field, groups in fields.items():
            rows = [
                [value, str(f["n"]), _number(f["auroc"]), _rate(f, "fpr", "human"), _rate(f, "tpr", "ai")]
                for value, f in groups.items()
            ]
            columns = (field, "n", "AUROC", "human flagged", "AI caught")
            lines += ["", f"### {key}, by {field}", "", *_table(columns, rows)]
    return lines


def _human(report: Report) -> list[str]:
    rows = [
        [x["language"], x["field"], x["value"], _counted(x), "yes" if x["holds"] else "**no**"]
        for x in report["human_groups"]
    ]
    about = (
        "Every group of 200 human texts and more. It holds when the rate isn't above the cap and the interval ends "
        "within two caps."
    )
    return ["## Human texts by group", "", about, "", *_table(("language", "by", "group", "flagged", "holds"), rows)]


def _people(report: Report) -> list[str]:
    rows = [[w["group"], w["language"], w["source"], w["halves"], _rate(w, "fpr", "human")] for w in report["writers"]]
    lines = ["## Pupils, learners, and people training never met", ""]
    lines += _table(("writers", "language", "source", "halves", "flagged"), rows)
    lines += [
        *_gaps(report["writers"]),
        "",
        "`both` halves: the report half has under 100 texts, so thresholds were chosen with some of these.",
        "",
    ]
    if report["unseen_people"] is None:
        lines += ["The corpus of packages wasn't there."]
    else:
        rows = [[x["source"], x["language"], _counted(x)] for x in report["unseen_people"]]
        lines += ["Human sources from packages that are held out whole or in part, both halves:", ""]
        lines += _table(("source", "language", "flagged"), rows)
    canon = report["canon"]
    lines += ["", "### The public-domain canon", ""]
    if canon is None:
        return [*lines, "The canon wasn't there."]
    rows = [[source, f"{x['k']} of {x['n']}"] for source, x in canon["by_source"].items()]
    return [*lines, f"Flagged: {_counted(canon)}.", "", *_table(("source", "flagged"), rows)]


def _gaps(writers: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each language that has both learners and natives: the difference of their rates."""
    lines = []
    for language in dict.fromkeys(w["language"] for w in writers):
        rates = {}
        for kind in ("learner", "native"):
            mine = [w for w in writers if w["language"] == language and w["group"].startswith(kind)]
            total = sum(w["human_n"] for w in mine)
            rates[kind] = sum(w["human_k"] for w in mine) / total if total else None
        if rates["learner"] is not None and rates["native"] is not None:
            points = 100 * (rates["learner"] - rates["native"])
            lines += ["", f"Learners' rate less natives', {language}: {points:+.1f} points."]
    return lines


def _attacks(report: Report) -> list[str]:
    rows = [
        [
            x["attack"].replace("_", " "), str(x["n"]), _per_cent(x["tpr_clean"]), _per_cent(x["tpr"]),
            "-" if x["loss_points"] is None else f"{x['loss_points']:.1f}", f"{x['human_k']} of {x['human_n']}",
        ]
        for x in report["attacks"]
    ]  # fmt: skip
    about = (
        "English report texts of 100 words and more. Each attack is applied to the corpus's text, which is then read "
        "as any text is. An attacked text with too few words left counts as missed."
    )
    columns = ("attack", "AI texts", "caught before", "caught after", "points lost", "human flagged after")
    return ["## Attacks", "", about, "", *_table(columns, rows)]


def _form(report: Report) -> list[str]:
    lines = report["form"]
    rows = [[x["transform"].replace("_", " "), str(x["n"]), str(x["changed"]), str(x["human_to_ai"])] for x in lines]
    total = {name: sum(x[name] for x in lines) for name in ("n", "changed", "human_to_ai")}
    rows.append(["together", *(str(value) for value in total.values())])
    about = "Human report texts, each under one transform that leaves every word as it was, or a spelling corrector."
    columns = ("transform", "texts", "verdict changed", "human to AI or mixed")
    return ["## Formatting", "", about, "", *_table(columns, rows)]


def _mixed(report: Report) -> list[str]:
    found = report["mixed"]
    if found is None:
        return ["## Documents by two writers", "", "None could be made of these texts."]
    middle = "none (most borders have no prediction)"
    if found["border_median_words"] is not None:
        middle = f"{found['border_median_words']:g} words"
    rows = [
        [f"{_per_cent(x['low'])} to {_per_cent(x['high'])}", str(x["n"]), f"{x['mae']:.3f}"]
        + [str(x[name]) for name in ("human", "mixed", "ai")]
        for x in found["by_share"]
    ]
    by_cap = [
        [_per_cent(x["max_fpr"]), str(x["n"]), _per_cent(x["flagged"] / x["n"]), f"{x['mae']:.3f}"]
        for x in found["by_cap"]
    ]
    pure = found["pure_human_mixed"]
    return [
        "## Documents by two writers",
        "",
        f"{found['n']} documents spliced at sentence ends from report texts. Error of the AI share: mean "
        f"{found['ai_fraction_mae']:.3f}. Median distance of a true border to the nearest predicted one: {middle}; "
        f"within one sentence: {_per_cent(found['border_within_sentence'])} of {found['borders']} borders (without any "
        f"predicted one in the document: {found['borders_without_prediction']}). Texts of one human writer called "
        f"mixed: {pure['k']} of {pure['n']}.",
        "",
        *_table(("AI share", "n", "error", "human", "mixed", "ai"), rows),
        "",
        "Whoever reads nothing and always says the middle share errs by "
        f"{found['ai_fraction_mae_of_a_constant']:.3f}. By the limit on false flags:",
        "",
        *_table(("limit", "n", "flagged", "error"), by_cap),
    ]


def _left_out(report: Report) -> list[str]:
    found = report["leave_one_out"]
    if found is None:
        return []
    lines = ["## Trained without it", "", "Hashed n-grams alone, fitted without one source or generator at a time."]
    for kind in ("sources", "generators"):
        rows = [[x["left_out"], str(x["n"]), _number(x["auroc"]), _per_cent(x["tpr_at_fpr_1"])] for x in found[kind]]
        lines += ["", *_table((kind[:-1], "n", "AUROC", "TPR@FPR=1 %"), rows)]
    return lines


def _rest(report: Report) -> list[str]:
    steady, speed = report["invariance"], report["speed"]
    lines = [
        "## Steady and fast",
        "",
        f"{steady['texts']} texts, {steady['repeats']} times in random batches and orders on one or two threads: "
        f"largest difference of any probability {steady['max_difference']:.1e}.",
    ]
    if speed["texts_per_s"] is not None:
        lines += [
            "",
            f"{speed['texts_per_s']:.1f} texts a second ({speed['texts']} texts, {speed['words_mean']:.0f} words on "
            f"average), reading and scoring, {speed['threads']} threads, {speed['cpu'] or 'unknown processor'}.",
        ]
    return lines


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *rows]
    return [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]


def _rate(f: Mapping[str, Any], name: str, label: str) -> str:
    if not f[f"{label}_n"]:
        return "-"
    low, high = f[f"{name}_interval"]
    return _share(f[f"{label}_k"], f[f"{label}_n"], low, high)


def _counted(x: Mapping[str, Any]) -> str:
    return _share(x["k"], x["n"], *x["interval"]) if x["n"] else "-"


def _share(k: int, n: int, low: float, high: float) -> str:
    return f"{100 * k / n:.1f} % ({k} of {n}; {100 * low:.1f}-{100 * high:.1f})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _per_cent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.3g} %"

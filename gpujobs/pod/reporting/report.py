"""Writes the report of a model folder: report.json, report.md and the plots. No text of any corpus is in them.

    python -m gpujobs.pod.reporting.report [--model FOLDER] [--corpora DIR] [--out DIR] [--sample N] [--keep]

Into var/evaluation/MODEL_VERSION/; `--keep` copies a whole report to gpujobs/pod/reports/MODEL_VERSION/, where the site
finds it. Answers are kept below var/evaluation, so that a run that was cut off goes on where it was. `--sample N` takes
N texts a section, to look at the whole in minutes. What each figure is, the sections' docstrings say. Extras: `cpu`,
`train`.
"""

import argparse
import datetime
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpujobs.pod.dataset import REPOSITORY, Row, corpora_folder
from gpujobs.pod.evaluate import NO_VERDICT
from gpujobs.pod.reporting import figures, markdown, material, mixing, plots, robustness, steadiness
from gpujobs.pod.reporting.figures import LONG_WORDS, Record
from gpujobs.pod.reporting.judge import CODE, Judge
from gpujobs.pod.reporting.material import Material, by_hash
from gpujobs.pod.score import Scorer

FORMAT = 1
SHIPPED = CODE / "shipped" / "inkcloak-small"
KEPT = CODE / "reports"
WRITTEN = REPOSITORY / "var" / "evaluation"
LEFT_OUT_TABLE = KEPT / "leave_one_out.json"


def make(
    folder: Path, texts: Material, work: Path, sample: int | None, left_out: Path = LEFT_OUT_TABLE
) -> dict[str, Any]:
    """The whole report as the JSON object. work: where answers are kept.  sample: texts a section, None for all."""
    scorer = Scorer.load(folder)
    judge = Judge(scorer, work)
    facts = scorer.manifest
    rows = material.sampled([row for row in texts.report if row.language in facts["languages"]], sample)
    found = figures.records(rows, judge.judge(_texts(rows), "report halves"))
    keys = [key for key in material.keys(facts["languages"]) if any(r["key"] == key for r in found)]
    languages = list(dict.fromkeys(key.split()[0] for key in keys))
    return {
        "format": FORMAT,
        **{name: facts[name] for name in ("model", "model_version", "calibration_version", "normaliser_version")},
        "made": datetime.datetime.now(datetime.UTC).date().isoformat(),
        **{name: facts[name] for name in ("default_max_fpr", "min_words")},
        "sample": sample,
        "data": texts.data(),
        "headline": figures.headline(found, keys),
        "long": figures.headline(found, keys, LONG_WORDS),
        "baseline": _baseline(folder, keys),
        "by": figures.by(found, keys),
        "caps": figures.caps(found, judge, languages),
        "roc": figures.roc(found, keys),
        "reliability": figures.reliability(found, keys),
        **_disguised(judge, rows, found, sample),
        **_people(judge, texts, found, sample),
        "invariance": steadiness.invariance(folder, rows, sample),
        "speed": steadiness.speed(scorer, rows, sample),
        "leave_one_out": json.loads(left_out.read_text(encoding="utf-8")) if left_out.exists() else None,
    }


def _disguised(judge: Judge, rows: Sequence[Row], found: Sequence[Record], sample: int | None) -> dict[str, Any]:
    """Attacks, formatting and mixed documents, all made of report-half texts."""
    words = {r["id"]: r["words"] for r in found}
    english = [row for row in rows if row.language == "en" and words[row.id] >= LONG_WORDS]
    human = {r["id"] for r in found if not r["label"] and r["verdict"] != NO_VERDICT}
    return {
        "attacks": robustness.attacks(judge, robustness.attack_rows(english, sample)),
        "form": robustness.form(judge, [row for row in rows if row.id in human], sample),
        "mixed": mixing.mixed(judge, rows, found, sample),
    }


def _people(judge: Judge, texts: Material, found: Sequence[Record], sample: int | None) -> dict[str, Any]:
    """What human writers have to fear, group by group."""
    supported = judge.manifest["languages"]

    def human(rows: Sequence[Row], what: str) -> list[Record]:
        chosen = [row for row in rows if not row.label and row.language in supported]
        chosen = by_hash(chosen, sample, what)
        return figures.records(chosen, judge.judge(_texts(chosen), what))

    return {
        "writers": figures.writers(human(figures.writer_rows(texts.held_out), "writers")),
        "unseen_people": None if texts.packages is None else figures.unseen_people(human(texts.packages, "packages")),
        "canon": None if texts.canon is None else figures.canon(human(texts.canon, "canon")),
        "human_groups": figures.human_groups(found, judge.manifest["default_max_fpr"]),
    }


def _texts(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(row.text, row.language) for row in rows]


def _baseline(folder: Path, keys: Sequence[str]) -> dict[str, Any]:
    """What packaging measured of the n-gram baseline, where the folder has it."""
    stored = folder / "metrics.json"
    known = json.loads(stored.read_text(encoding="utf-8")).get("baseline", {}) if stored.exists() else {}
    names = ("n", "auroc", "tpr_at_fpr_1", "tpr_at_fpr_5")
    return {key: {name: known[key].get(name) for name in names} for key in keys if key in known}


def write(report: dict[str, Any], out: Path) -> None:
    """The three kinds of files, into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    drawn = plots.draw(report, out)
    (out / "report.md").write_text(markdown.text(report, drawn), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=SHIPPED, help="a model folder; default: the shipped one")
    parser.add_argument(
        "--corpora", help="folder of the .jsonl.zst files; default: $INKCLOAK_CORPORA, ../shared/corpora"
    )
    parser.add_argument("--out", type=Path, help="default: var/evaluation/MODEL_VERSION")
    parser.add_argument("--sample", type=int, help="texts a section, to try it out")
    parser.add_argument("--keep", action="store_true", help="copy it to gpujobs/pod/reports/MODEL_VERSION")
    options = parser.parse_args()
    if options.keep and options.sample is not None:
        parser.error("a sample is not kept: a kept report is of all texts")
    report = make(options.model, material.load(corpora_folder(options.corpora)), WRITTEN, options.sample)
    suffix = "" if options.sample is None else f"-sample-{options.sample}"
    out = options.out or WRITTEN / f"{report['model_version']}{suffix}"
    write(report, out)
    if options.keep:
        shutil.copytree(out, KEPT / report["model_version"], dirs_exist_ok=True)
    print(f"report of model {report['model_version']} in {out}")


if __name__ == "__main__":
    main()

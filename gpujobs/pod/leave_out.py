"""How the n-grams do on a source or a generator of AI texts that they were fitted without, one at a time.

    nice -n 19 python -m gpujobs.pod.leave_out [--corpora DIR] [--out FILE] [--most N]

The curve behind the out-of-domain figures: what a new source or a new generator costs. Every fit is on at most `--most`
training texts of the language, chosen by hash, so that 40 fits take less than an hour beside a training; left-out AI
texts are then told from human development texts. What is done is kept in var/evaluation, and a run that was cut off
goes on there. Writes reports/leave_one_out.json, which reports show. Extra: `train`.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from gpujobs.pod.dataset import REPOSITORY, Row, cached_as_read, corpora_folder, read_heldout, read_rows, with_parts
from gpujobs.pod.dataset import data_hash as hash_of
from gpujobs.pod.linear import fit_ngrams
from gpujobs.pod.recipe import NgramKnobs, read_recipe
from gpujobs.pod.reporting.material import by_hash
from gpujobs.pod.shared.metrics import auroc, tpr_at_fpr

FEWEST_TEXTS = 100  # AI training texts of a source or generator that is left out
MEASURED_TEXTS = 300  # of what was left out, at most
HUMAN_TEXTS = 600  # human development texts they are told from, at most
TRAINING_TEXTS = 4000  # of a fit
DIGITS = 5
SEED = 20261130
POD = Path(__file__).parent
RECIPE = POD / "recipes" / "inkcloak-small.toml"
OUT = POD / "reports" / "leave_one_out.json"
WORK = REPOSITORY / "var" / "evaluation"
KINDS = {"sources": "source", "generators": "generator"}  # name in the report -> field of a row
MODEL = "hashed n-grams"

Unit = tuple[str, str, str]  # kind, name, language


def units(rows: Sequence[Row]) -> list[Unit]:
    """Sources and generators with enough AI training texts in one language, in a stable order."""
    counts = Counter(
        (kind, str(getattr(row, field)), row.language)
        for row in rows
        if row.label and not row.part
        for kind, field in KINDS.items()
    )
    return sorted(unit for unit, count in counts.items() if count >= FEWEST_TEXTS)


def measure(rows: Sequence[Row], unit: Unit, knobs: NgramKnobs, most: int) -> dict[str, Any]:
    """One line of the report. Raises ValueError when there are under 100 human development texts of the language."""
    kind, name, language = unit
    mine = [row for row in rows if row.language == language]
    training = [row for row in mine if not row.part]
    left_out = [row for row in training if getattr(row, KINDS[kind]) == name]
    known = by_hash([row for row in training if getattr(row, KINDS[kind]) != name], most)
    asked = by_hash([row for row in left_out if row.label], MEASURED_TEXTS)
    human = by_hash([row for row in mine if row.part.endswith("_dev") and not row.label], HUMAN_TEXTS)
    model = fit_ngrams(known, knobs, SEED)
    scores = [model.score(row.text) for row in [*asked, *human]]
    labels = [1] * len(asked) + [0] * len(human)
    return {
        "left_out": name,
        "language": language,
        "n": len(asked),
        "human_n": len(human),
        "training_n": len(known),
        "auroc": round(auroc(scores, labels), DIGITS),
        "tpr_at_fpr_1": round(tpr_at_fpr(scores, labels, 0.01).tpr, DIGITS),
        "baseline_of": MODEL,
    }


def leave_out(rows: Sequence[Row], knobs: NgramKnobs, work: Path, most: int) -> dict[str, list[dict[str, Any]]]:
    """kind -> lines, worst first. work: folder of what was measured before with these rows and knobs."""
    work.mkdir(parents=True, exist_ok=True)
    done_file = work / f"leave-out-{hash_of(rows)[:12]}-{most}.jsonl"
    done: dict[Unit, dict[str, Any]] = {}
    if done_file.exists():
        for line in done_file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["knobs"] == repr(knobs):
                done[record["kind"], record["line"]["left_out"], record["line"]["language"]] = record["line"]
    every = units(rows)
    with done_file.open("a", encoding="utf-8") as file:
        for unit in tqdm([unit for unit in every if unit not in done], desc="leaving out"):
            done[unit] = measure(rows, unit, knobs, most)
            file.write(json.dumps({"kind": unit[0], "knobs": repr(knobs), "line": done[unit]}) + "\n")
            file.flush()
    return {
        kind: sorted(
            (done[unit] for unit in every if unit[0] == kind), key=lambda line: (line["auroc"], line["left_out"])
        )
        for kind in KINDS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--corpora", help="folder of the .jsonl.zst files; default: $INKCLOAK_CORPORA, ../shared/corpora"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--most", type=int, default=TRAINING_TEXTS, help="training texts of one fit")
    options = parser.parse_args()
    rows = with_parts(read_rows(corpora_folder(options.corpora)), read_heldout())
    found = leave_out(cached_as_read(rows, WORK), read_recipe(RECIPE).ngrams, WORK, options.most)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()

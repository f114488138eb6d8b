"""A model folder promises what its scorer then does."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import tiny

from gpujobs.pod import manifest
from gpujobs.pod.contract import ScoreRequest, TextIn
from gpujobs.pod.dataset import Row
from gpujobs.pod.package import MIN_WORDS, measured_languages, package
from gpujobs.pod.score import Scorer
from gpujobs.pod.shared.decision import decide
from gpujobs.pod.train import train

ROWS = tiny.rows(report=120)
HELD_OUT = [row for row in ROWS if row.part]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    train(tiny.recipe(tiny.base(folder / "base"), steps=40), ROWS, folder / "run", resume=False, bases=folder)
    return folder / "run"


def verdicts(scorer: Scorer, rows: list[Row]) -> dict[str, str]:
    texts = tuple(TextIn(row.id, row.text, row.language) for row in rows)
    answer = scorer.score(ScoreRequest("run", 1, scorer.model_version, texts))
    thresholds = manifest.thresholds(scorer.manifest, "en")
    return {t.id: decide(t.probability, t.windows, thresholds).label for t in answer.texts}


def test_it_counts_the_verdicts_that_the_scorer_gives(run: Path) -> None:
    scorer = Scorer.load(run / "model")
    figures = json.loads((run / "model" / "metrics.json").read_text())["model"]["en out-of-domain"]["overall"]
    rows = [r for r in HELD_OUT if r.part == "ood_report" and len(r.text.split()) >= MIN_WORDS]
    found = verdicts(scorer, rows)
    caught = [found[r.id] != "human" for r in rows if r.label]
    flagged = [found[r.id] != "human" for r in rows if not r.label]
    assert (figures["ai_k"], figures["ai_n"]) == (sum(caught), len(caught))
    assert (figures["human_k"], figures["human_n"]) == (sum(flagged), len(flagged))


def test_it_writes_a_rate_card_of_human_report_texts(run: Path) -> None:
    (line,) = [
        line
        for line in manifest.read(run / "model")["rate_card"]
        if (line["genre"], line["words"], line["max_fpr"]) == ("any", [50, 100_000], 0.01)
    ]
    human = [r for r in HELD_OUT if not r.label and r.part.endswith("_report") and len(r.text.split()) >= MIN_WORDS]
    found = verdicts(Scorer.load(run / "model"), human)
    assert (line["k"], line["n"]) == (sum(v != "human" for v in found.values()), len(human))


def test_it_packages_the_same_parts_to_the_same_version(run: Path) -> None:
    assert package(run, run / "again", HELD_OUT) == manifest.read(run / "model")["model_version"]
    assert (run / "again" / "README.md").read_text() == (run / "model" / "README.md").read_text()


def test_it_says_in_the_card_what_the_baseline_reaches(run: Path) -> None:
    card = (run / "model" / "README.md").read_text()
    assert "n-gram baseline" in card
    assert "en out-of-domain" in card


def test_it_supports_only_languages_with_evidence() -> None:
    spanish = [replace(row, id=f"es{row.id}", language="es") for row in HELD_OUT if row.part == "val_dev"][:50]
    assert measured_languages([*HELD_OUT, *spanish]) == ["en"]
    with pytest.raises(ValueError, match="no language"):
        measured_languages(spanish)

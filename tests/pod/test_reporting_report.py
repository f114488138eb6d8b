"""The whole report of a model made here: every block, no text of any corpus, the same files again."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny

from gpujobs.pod import manifest
from gpujobs.pod.dataset import Row
from gpujobs.pod.reporting import markdown, material, report
from gpujobs.pod.reporting.material import Material
from gpujobs.pod.train import train

KEYS = (
    "format model model_version calibration_version normaliser_version made default_max_fpr min_words sample data "
    "headline long baseline by caps roc reliability attacks form mixed writers unseen_people canon human_groups "
    "invariance speed leave_one_out"
)
ROWS = tiny.rows(report=120)
HELD_OUT = [row for row in ROWS if row.part]
LEFT_OUT = {"sources": [], "generators": [{"left_out": "m", "n": 120, "auroc": 0.9, "tpr_at_fpr_1": 0.5}]}


def texts(canon: list[Row] | None = None) -> Material:
    return Material(HELD_OUT, None, canon, {"open": len(ROWS)}, ["packages"] + ([] if canon else ["canon"]))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    train(tiny.recipe(tiny.base(folder / "base"), steps=40), ROWS, folder / "run", resume=False, bases=folder)
    return folder / "run" / "model"


@pytest.fixture(scope="module")
def made(model: Path) -> dict[str, Any]:
    return report.make(model, texts(), model.parent / "work", 12, model.parent / "none.json")


def test_it_has_every_block(made: dict[str, Any], model: Path) -> None:
    assert " ".join(made) == KEYS
    assert made["model_version"] == manifest.read(model)["model_version"]
    assert list(made["headline"]) == ["en out-of-domain", "en in-domain"]
    assert made["headline"]["en out-of-domain"]["n"] == 24
    assert made["baseline"]["en in-domain"]["auroc"] is not None
    assert [line["max_fpr"] for line in made["caps"]["en"]] == sorted(
        map(float, manifest.read(model)["thresholds"]["en"])
    )
    assert (made["unseen_people"], made["canon"], made["leave_one_out"]) == (None, None, None)
    assert made["data"]["missing"] == ["packages", "canon"]
    json.dumps(made, allow_nan=False)


def test_it_shows_the_canon_and_what_was_left_out_where_they_are(model: Path) -> None:
    table = model.parent / "left_out.json"
    table.write_text(json.dumps(LEFT_OUT))
    canon = [replace(row, part="", source="Bible") for row in HELD_OUT if not row.label][:5]
    found = report.make(model, texts(canon), model.parent / "work", 5, table)
    assert found["canon"]["by_source"]["Bible"]["n"] == 5
    assert found["leave_one_out"] == LEFT_OUT
    report.write(found, model.parent / "out")
    page = (model.parent / "out" / "report.md").read_text()
    assert "Trained without it" in page
    assert "| Bible |" in page


def test_it_writes_page_and_plots_without_any_text(made: dict[str, Any], tmp_path: Path) -> None:
    report.write(made, tmp_path)
    files = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert {"report.json", "report.md", "roc.svg", "reliability.svg", "attacks.svg", "length.svg"} <= set(files)
    assert json.loads(files["report.json"]) == made
    assert "A sample of 12 texts" in files["report.md"]
    assert "Files that were not there: packages, canon" in files["report.md"]
    for name in files:
        if name.endswith(".svg"):
            assert f"]({name})" in files["report.md"]
    opening = [" ".join(row.text.split()[:6]) for row in HELD_OUT]
    assert not any(words in content for content in files.values() for words in opening)


def test_it_draws_the_same_bytes_from_the_same_numbers(made: dict[str, Any], tmp_path: Path) -> None:
    for folder in ("one", "two"):
        report.write(made, tmp_path / folder)
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    assert "<text" in (tmp_path / "one" / "roc.svg").read_text()


def test_it_makes_the_same_report_again_from_its_answers(made: dict[str, Any], model: Path) -> None:
    again = report.make(model, texts(), model.parent / "work", 12, model.parent / "none.json")
    assert {**again, "speed": None} == {**made, "speed": None}


def test_it_says_which_files_are_missing(tmp_path: Path) -> None:
    found = material.load(tmp_path)
    assert {"open", "wide", "written"} <= set(found.missing)
    assert found.data()["files"]["series"]["texts"] > 0
    assert all(row.part and row.part != "excluded" for row in found.held_out)


def test_it_says_how_far_learners_are_from_natives(made: dict[str, Any]) -> None:
    def writer(group: str, k: int) -> dict[str, Any]:
        rates = {"human_n": 50, "human_k": k, "fpr": k / 50, "fpr_interval": [0.0, 0.1]}
        return {"group": group, "language": "es", "source": "s", "halves": "report", **rates}

    both = [writer("learner essays", 2), writer("native news", 1)]
    assert "Learners' rate less natives', es: +2.0 points." in markdown.text({**made, "writers": both}, [])
    assert "Learners' rate" not in markdown.text({**made, "writers": both[:1]}, [])

"""What is left out is measured on a model that never saw it."""

from dataclasses import replace
from pathlib import Path

import tiny

from gpujobs.pod.leave_out import leave_out, measure, units
from gpujobs.pod.recipe import NgramKnobs

KNOBS = NgramKnobs(10, 12, 0.0, 1.0)
ROWS = tiny.rows(training=360, development=240, report=0)  # three sources, one generator


def test_it_leaves_out_sources_and_generators_with_enough_ai_texts() -> None:
    few = [replace(row, id=f"few{row.id}", source="few", generator="few") for row in ROWS if row.label][:99]
    assert units([*ROWS, *few]) == [
        ("generators", "m", "en"),
        ("sources", "source 0", "en"),
        ("sources", "source 1", "en"),
        ("sources", "source 2", "en"),
    ]


def test_it_tells_left_out_texts_from_human_development_texts() -> None:
    line = measure(ROWS, ("sources", "source 1", "en"), KNOBS, 400)
    training = [row for row in ROWS if not row.part]
    assert line["n"] == sum(row.label and row.source == "source 1" for row in training)
    assert line["training_n"] == 400
    assert line["auroc"] > 0.9
    assert 0 <= line["tpr_at_fpr_1"] <= 1


def test_it_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    rows = [replace(row, generator=f"m{int(row.id[1:]) % 4 // 2}") if row.label else row for row in ROWS]
    first = leave_out(rows, KNOBS, tmp_path, 300)
    (file,) = tmp_path.iterdir()
    kept = file.read_text().splitlines(keepends=True)
    file.write_text("".join(kept[:2]))
    assert leave_out(rows, KNOBS, tmp_path, 300) == first
    assert file.read_text().splitlines(keepends=True) == kept
    assert [line["auroc"] for line in first["sources"]] == sorted(line["auroc"] for line in first["sources"])

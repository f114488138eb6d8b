"""The figures of the evaluate command, over rows of verdicts."""

from typing import Any

import pytest

from gpujobs.pod import evaluate


def row(label: str | int, probability: float | None, verdict: str, **fields: Any) -> dict[str, Any]:
    return {"label": label, "probability": probability, "verdict": verdict, **fields}


ROWS = [
    row("human", 0.1, "human", source="a"),
    row("human", 0.2, "human", source="a"),
    row("human", 0.8, "ai", source="b"),
    row("ai", 0.9, "ai", source="a"),
    row("ai", 0.7, "mixed", source="b"),
    row("ai", 0.3, "human", source="b"),
    row("ai", None, "insufficient", source="b"),
]


def test_it_counts_rates_over_texts_with_a_verdict() -> None:
    found = evaluate.summarise(ROWS)
    assert found["n"] == 7
    assert (found["human_k"], found["human_n"], found["ai_k"], found["ai_n"]) == (1, 3, 2, 3)
    assert found["fpr"] == pytest.approx(1 / 3, abs=1e-5)
    assert found["tpr"] == pytest.approx(2 / 3, abs=1e-5)
    assert found["insufficient"] == pytest.approx(1 / 7, abs=1e-5)
    assert found["auroc"] == pytest.approx(7 / 9, abs=1e-5)


def test_it_gives_no_figure_that_would_be_a_guess() -> None:
    found = evaluate.summarise(ROWS)
    assert found["tpr_at_fpr_1"] is None
    only_human = evaluate.summarise([r for r in ROWS if r["label"] == "human"])
    assert only_human["auroc"] is None
    assert only_human["tpr"] is None
    assert only_human["fpr_interval"] is not None


def test_it_answers_the_same_for_numbers_as_labels() -> None:
    numbered = [{**r, "label": int(r["label"] == "ai")} for r in ROWS]
    assert evaluate.summarise(numbered) == evaluate.summarise(ROWS)


def test_it_refuses_an_unknown_label() -> None:
    with pytest.raises(ValueError, match="neither"):
        evaluate.summarise([row("robot", 0.5, "ai")])


def test_it_has_figures_for_nothing() -> None:
    assert evaluate.summarise([])["n"] == 0
    all_short = evaluate.summarise([row("ai", None, "insufficient")])
    assert (all_short["insufficient"], all_short["ece"]) == (1.0, None)


def test_it_slices_by_any_field() -> None:
    found = evaluate.report(ROWS, ["source", "era"])
    assert {value: f["n"] for value, f in found["by"]["source"].items()} == {"a": 3, "b": 4}
    assert list(found["by"]["era"]) == ["-"]
    assert found["overall"] == evaluate.summarise(ROWS)


def test_it_measures_tpr_where_there_are_enough_human_texts() -> None:
    many = [row("human", i / 1000, "human") for i in range(100)] + [
        row("ai", 0.5, "ai"),
        row("ai", 0.05, "human"),
    ]
    assert evaluate.summarise(many)["tpr_at_fpr_1"] == 0.5

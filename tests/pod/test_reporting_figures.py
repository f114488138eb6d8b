"""The report's rates, curves and groups, on numbers worked by hand."""

from pathlib import Path
from typing import Any

import pytest
import report_doubles
from report_doubles import KnowsOneWord

from gpujobs.pod.reporting import figures
from gpujobs.pod.reporting.judge import Judge
from gpujobs.pod.reporting.material import by_hash, keys, sampled, seed_of

KEY = "en out-of-domain"


def record(label: int, probability: float, verdict: str = "human", **fields: Any) -> dict[str, Any]:
    facts = {"id": "x", "key": KEY, "part": "ood_report", "language": "en", "words": 120, "length": "100-199"}
    facts |= {"source": "s", "domain": "d", "genre": "g", "generator": "m", "attack": "none"}
    return {**facts, "label": label, "probability": probability, "verdict": verdict, **fields}


def humans(n: int, flagged: int, **fields: Any) -> list[dict[str, Any]]:
    return [record(0, 0.1, **{"verdict": "ai" if i < flagged else "human", **fields}) for i in range(n)]


def test_it_reports_each_group_apart_and_long_texts_again() -> None:
    found = [record(0, 0.1), record(1, 0.9, "ai", words=60), record(1, 0.4), record(1, 0.9, "ai", key="es in-domain")]
    every, long = figures.headline(found, [KEY])[KEY], figures.headline(found, [KEY], 100)[KEY]
    assert (every["n"], every["ai_k"], every["ai_n"], every["auroc"]) == (3, 1, 2, 1.0)
    assert (long["n"], long["ai_k"], long["ai_n"]) == (2, 0, 1)


def test_it_keeps_lengths_in_their_order() -> None:
    found = [record(0, 0.1, length=name) for name in ("400+", "50-99", "100-199", "under 50")]
    assert list(figures.by(found, [KEY])[KEY]["length"]) == ["under 50", "50-99", "100-199", "400+"]


@pytest.mark.parametrize(("words", "name"), [(49, "under 50"), (50, "50-99"), (99, "50-99"), (400, "400+")])
def test_it_names_lengths(words: int, name: str) -> None:
    assert figures.length_of(words) == name


def test_it_draws_the_curve_only_where_there_are_texts_enough() -> None:
    found = [record(0, i / 1000) for i in range(200)] + [record(1, 0.1945), record(1, 0.5)]
    points = figures.roc(found, [KEY])[KEY]
    assert 0.005 <= points[0]["fpr"] < 0.006
    assert points[0]["tpr"] == 0.5
    assert points[-1] == {"fpr": 1.0, "tpr": 1.0}
    assert [p["tpr"] for p in points] == sorted(p["tpr"] for p in points)
    assert figures.roc([record(0, 0.2)], [KEY]) == {KEY: []}


def test_it_bins_probabilities_and_leaves_empty_bins_out() -> None:
    found = [record(0, 0.02), record(1, 0.08), record(1, 1.0), record(1, 0.3, "insufficient")]
    assert figures.reliability(found, [KEY])[KEY] == [
        {"low": 0.0, "high": 0.1, "n": 2, "predicted": 0.05, "observed": 0.5},
        {"low": 0.9, "high": 1.0, "n": 1, "predicted": 1.0, "observed": 1.0},
    ]


@pytest.mark.parametrize(("n", "k", "holds"), [(200, 0, True), (200, 2, False), (2000, 20, True), (2000, 21, False)])
def test_it_holds_a_group_to_cap_and_interval(n: int, k: int, holds: bool) -> None:
    lines = figures.human_groups(humans(n, k), 0.01)
    assert [(line["field"], line["n"], line["k"], line["holds"]) for line in lines] == [
        ("genre", n, k, holds),
        ("length", n, k, holds),
        ("source", n, k, holds),
    ]


def test_it_judges_no_group_that_is_too_small() -> None:
    found = humans(199, 0) + [record(1, 0.9, "ai")] * 50 + humans(50, 0, verdict="insufficient")
    assert figures.human_groups(found, 0.01) == []


def test_it_counts_both_halves_of_writers_only_where_one_is_too_small() -> None:
    pupils = {"source": "OUTFOX", "domain": "student-essay"}
    learners = {"source": "COWS-L2H", "domain": "learner-essay", "language": "es"}
    found = humans(100, 1, **pupils) + humans(80, 8, part="val_dev", **pupils)
    found += humans(60, 0, **learners) + humans(40, 2, part="val_dev", **learners)
    lines = [(w["group"], w["halves"], w["human_n"], w["human_k"], w["fpr"]) for w in figures.writers(found)]
    assert lines == [("native essays", "report", 100, 1, 0.01), ("learner essays", "both", 100, 2, 0.02)]


def test_it_compares_human_writers_only() -> None:
    rows = [
        report_doubles.row(1, 0, source="OUTFOX (Koike)", domain="student-essay"),
        report_doubles.row(2, 1, source="OUTFOX (Koike)", domain="student-essay"),
        report_doubles.row(3, 0, source="MASC 3.0", domain="masc-email"),
    ]
    assert [r.id for r in figures.writer_rows(rows)] == ["r1-0"]


def test_it_counts_the_canon_and_unseen_people_by_source() -> None:
    found = humans(3, 1, source="b") + humans(2, 0, source="a") + humans(1, 0, source="a", verdict="insufficient")
    canon = figures.canon(found)
    assert (canon["n"], canon["k"]) == (5, 1)
    assert canon["by_source"] == {"a": {"n": 2, "k": 0}, "b": {"n": 3, "k": 1}}
    assert [(x["source"], x["n"], x["k"]) for x in figures.unseen_people(found)] == [("a", 2, 0), ("b", 3, 1)]


def test_it_judges_every_cap_of_the_model_anew(tmp_path: Path) -> None:
    judge = Judge(KnowsOneWord(), tmp_path)
    rows = [report_doubles.row(1, 0), report_doubles.row(2, 1)]
    half = f"{report_doubles.row(3, 1).text} {report_doubles.row(4, 0, words=60).text}"
    texts = [(row.text, "en") for row in rows] + [(half, "en")]
    found = figures.records([*rows, report_doubles.row(5, 0)], judge.judge(texts, "test"))
    lines = figures.caps(found, judge, ["en"])["en"]
    assert [(line["max_fpr"], line["human_k"], line["ai_k"]) for line in lines] == [(0.01, 1, 1), (0.05, 1, 1)]


def test_it_chooses_texts_by_hash_and_seeds_by_text() -> None:
    rows = [report_doubles.row(i, i % 2, part=("val_report", "ood_report")[i // 2 % 2]) for i in range(40)]
    assert by_hash(rows, 5) == by_hash(rows[::-1], 5)
    assert by_hash(rows, 5) != by_hash(rows, 5, "other")
    assert len(sampled(rows, 3)) == 3 * 2 * 2
    assert len(sampled(rows, None)) == 40
    assert seed_of("nbsp", "a") != seed_of("nbsp", "b")


def test_it_puts_english_and_out_of_domain_first() -> None:
    assert keys(["es", "en"]) == ["en out-of-domain", "en in-domain", "es out-of-domain", "es in-domain"]

"""Attacks, formatting, borders between writers, and steadiness, by a scorer that knows one word."""

import math
from pathlib import Path

import numpy as np
import pytest
import report_doubles
from report_doubles import TELL, KnowsOneWord

from gpujobs.pod import manifest
from gpujobs.pod.attacks import ATTACKS
from gpujobs.pod.contract import TextOut, WindowScore
from gpujobs.pod.mixed import Mixed
from gpujobs.pod.reporting import figures, mixing, robustness, steadiness
from gpujobs.pod.reporting.judge import Judge

SHIPPED = Path(manifest.__file__).parent / "shipped" / "inkcloak-small"
ROWS = [report_doubles.row(number, label) for number in range(6) for label in (0, 1)]
AI, HUMAN = report_doubles.row(90, 1), report_doubles.row(91, 0)


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(KnowsOneWord(), tmp_path)


def test_it_measures_what_each_attack_costs(judge: Judge) -> None:
    lines = {line["attack"]: line for line in robustness.attacks(judge, ROWS)}
    assert list(lines) == list(ATTACKS)
    assert lines["lower_case"] == {
        "attack": "lower_case", "n": 6, "tpr_clean": 1.0, "tpr": 0.0, "loss_points": 100.0, "human_n": 6, "human_k": 0,
    }  # fmt: skip
    for undone in ("zero_width", "homoglyph", "soft_hyphen", "hard_wrap"):
        assert lines[undone]["loss_points"] == 0.0


def test_it_attacks_as_many_of_each_class() -> None:
    chosen = robustness.attack_rows(ROWS, 4)
    assert [row.label for row in chosen] == [1] * 4 + [0] * 4


def test_it_draws_an_attack_the_same_each_time_and_apart_for_each_text() -> None:
    attack = ATTACKS["misspelling"]
    assert robustness.changed(attack, "misspelling", HUMAN) == robustness.changed(attack, "misspelling", HUMAN)
    assert robustness.changed(attack, "misspelling", HUMAN) != attack(HUMAN.text, np.random.default_rng(0), "en")


def test_it_changes_the_form_of_each_human_text_once(judge: Judge) -> None:
    rows = [report_doubles.row(number, 0) for number in range(2 * len(robustness.FORM))]
    lines = robustness.form(judge, rows, None)
    assert [line["transform"] for line in lines] == list(robustness.FORM)
    assert {line["n"] for line in lines} == {2}
    assert sum(line["changed"] + line["human_to_ai"] for line in lines) == 0


def document(first: int, then: int) -> Mixed:
    """`first` words by a human, then `then` by an AI."""
    human = " ".join(["word"] * (first - 1) + ["end."])
    ai = " ".join([TELL] * (then - 1) + ["end."])
    start = len(human) + 1
    return Mixed(f"{human} {ai}", "en", "essay", ((0, start - 1), (start, start + len(ai))), (0, 1))


def test_it_measures_a_border_in_words(judge: Judge) -> None:
    made = document(64, 60)
    (judged,) = judge.judge([(made.text, "en")], "test")
    assert judged.verdict.flagged == (False, True, True)
    assert mixing.borders(made, judged) == [mixing.Border(4, 60)]
    assert mixing.borders(made, judged)[0].found


def test_it_counts_a_border_that_nobody_predicted_as_missed(judge: Judge) -> None:
    made = document(59, 4)
    judged = judge.judge([(made.text.replace(TELL, "Word"), "en")], "test")[0]
    (border,) = mixing.borders(made, judged)
    assert (border.distance, border.found) == (math.inf, False)


def test_it_reports_documents_by_two_writers(judge: Judge) -> None:
    rows = [report_doubles.row(number, label, words=400) for number in range(30) for label in (0, 1)]
    human = [row for row in rows if not row.label]
    found = figures.records(human, judge.judge([(row.text, "en") for row in human], "test"))
    report = mixing.mixed(judge, rows, found, 10)
    assert report is not None
    assert report["n"] == 10
    assert report["pure_human_mixed"] == {"n": 30, "k": 0}
    assert sum(line["n"] for line in report["by_share"]) == 10
    assert all(line["human"] + line["mixed"] + line["ai"] == line["n"] for line in report["by_share"])
    assert [line["max_fpr"] for line in report["by_cap"]] == sorted(line["max_fpr"] for line in report["by_cap"])
    assert all(line["n"] == 10 and 0 <= line["flagged"] <= 10 for line in report["by_cap"])
    at_default = next(line for line in report["by_cap"] if line["max_fpr"] == judge.manifest["default_max_fpr"])
    assert at_default["mae"] == report["ai_fraction_mae"]
    assert 0 < report["ai_fraction_mae_of_a_constant"] < 0.5
    assert mixing.mixed(judge, human, found, 10) is None


def answer(*probabilities: float, end: int = 10) -> TextOut:
    windows = tuple(WindowScore(end * i, end * (i + 1), 0.0, p) for i, p in enumerate(probabilities))
    return TextOut("a", 0.0, probabilities[0], windows, 5)


def test_it_finds_the_largest_difference_of_two_answers() -> None:
    assert steadiness.distance(answer(0.5, 0.2), answer(0.5, 0.3)) == pytest.approx(0.1)
    assert steadiness.distance(answer(0.5), answer(0.5, end=11)) == math.inf


def test_it_finds_the_shipped_model_steady() -> None:
    found = steadiness.invariance(SHIPPED, ROWS, 3)
    assert (found["repeats"], found["texts"]) == (3, 3)
    assert found["max_difference"] < 1e-4


def test_it_names_the_flags_that_matter(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("model name : x\nflags\t\t: fpu avx2 amx_bf16 avx512f\n")
    assert steadiness.cpu_flags(tmp_path / "cpuinfo") == "amx_bf16 avx512f avx2"
    assert steadiness.cpu_flags(tmp_path / "nowhere") == ""

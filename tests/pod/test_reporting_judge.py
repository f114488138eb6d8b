"""The report asks the model what the product would, once, and keeps the numbers only."""

from pathlib import Path

import report_doubles
from report_doubles import KnowsOneWord

from gpujobs.pod import manifest
from gpujobs.pod.contract import ScoreRequest, TextIn
from gpujobs.pod.reporting.judge import Judge
from gpujobs.pod.score import Scorer
from gpujobs.pod.shared.decision import decide
from gpujobs.pod.shared.prose import read

AI, HUMAN = report_doubles.row(1, 1).text, report_doubles.row(2, 0).text
SHIPPED = Path(manifest.__file__).parent / "shipped" / "inkcloak-small"


def test_it_gives_verdicts_in_the_order_of_the_texts(tmp_path: Path) -> None:
    found = Judge(KnowsOneWord(), tmp_path).judge([(HUMAN, "en"), (AI, "en"), (HUMAN, "en")], "test")
    assert [j.verdict.label for j in found] == ["human", "ai", "human"]
    assert [j.called_ai for j in found] == [False, True, False]


def test_it_asks_for_each_text_once_even_after_a_restart(tmp_path: Path) -> None:
    scorer = KnowsOneWord()
    first = Judge(scorer, tmp_path).judge([(AI, "en"), (AI, "en"), (HUMAN, "en")], "test")
    again = Judge(scorer, tmp_path).judge([(HUMAN, "en"), (f"{AI}\n", "en")], "test")
    assert scorer.asked == 2
    assert [j.answer for j in again] == [first[2].answer, first[0].answer]


def test_it_goes_on_after_a_line_that_was_cut_off(tmp_path: Path) -> None:
    scorer = KnowsOneWord()
    Judge(scorer, tmp_path).judge([(AI, "en"), (HUMAN, "en")], "test")
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text()[:-20])
    found = Judge(scorer, tmp_path).judge([(AI, "en"), (HUMAN, "en")], "test")
    assert scorer.asked == 3
    assert [j.verdict.label for j in found] == ["ai", "human"]
    assert len(file.read_text().splitlines()) == 2


def test_it_keeps_no_text(tmp_path: Path) -> None:
    Judge(KnowsOneWord(), tmp_path).judge([(AI, "en")], "test")
    (file,) = tmp_path.iterdir()
    assert "dog" not in file.read_text()


def test_it_has_no_verdict_on_a_text_with_too_few_words_as_read(tmp_path: Path) -> None:
    code = "x = 1\ny = f(x)\n" * 60
    short, empty = Judge(KnowsOneWord(), tmp_path).judge([(f"{AI[:200]}\n\n```\n{code}```", "en"), ("", "en")], "test")
    assert (short.verdict.label, short.called_ai) == ("insufficient", False)
    assert (empty.verdict.label, empty.answer.probability) == ("insufficient", None)


def test_it_decides_at_any_cap(tmp_path: Path) -> None:
    judge = Judge(KnowsOneWord(), tmp_path)
    mostly_ai = f"{report_doubles.row(1, 1, words=240).text} {report_doubles.row(2, 0, words=33).text}"
    (found,) = judge.judge([(mostly_ai, "en")], "test")
    labels = [judge.decide(found.answer, found.reading.words, "en", cap).label for cap in (0.01, 0.05)]
    assert labels == ["mixed", "ai"]


def test_it_says_what_the_shipped_model_and_the_product_say(tmp_path: Path) -> None:
    scorer = Scorer.load(SHIPPED, threads=1)
    (found,) = Judge(scorer, tmp_path).judge([(HUMAN, "en")], "test")
    reading = read(HUMAN)
    request = ScoreRequest("run", 1, scorer.model_version, (TextIn("a", reading.text, "en"),))
    (answer,) = scorer.score(request).texts
    thresholds = manifest.thresholds(scorer.manifest, "en", words=reading.words)
    assert found.answer.probability == answer.probability
    assert found.verdict.label == decide(answer.probability, answer.windows, thresholds).label

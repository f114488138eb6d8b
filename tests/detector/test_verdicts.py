"""From scores to a verdict: labels, offsets in the customer's own text, confidence, rate card. Pure."""

import random
from itertools import pairwise
from typing import Any

import factories
import pytest
import samples
from factories import MANIFEST

from detector import verdicts
from detector.verdicts import Judgement, Segment
from gpujobs.pod.contract import TextIn, TextOut, WindowScore
from gpujobs.pod.shared import prose
from gpujobs.pod.shared.decision import Thresholds

TEXTS = {
    "plain": samples.HUMAN,
    "code, emoji, zero width": samples.MIXED,
    "astral": "🙂 " + " ".join(f"𝐰ord{n} 🎈" for n in range(60)) + ".",
    "hidden": samples.AI.replace(" ", " \u200b").replace("e", "e\u00ad"),
    "ligatures and breaks": samples.HUMAN.replace("fi", "ﬁ").replace(" and ", "\r\nand "),
    "hyphenated": samples.AI.replace("communication", "communi-\ncation"),
    "blocks": f"# Title\n\n{samples.HUMAN}\n\n- one\n- two\n\n> quoted words here\n\n{samples.AI}\n\nhttps://example.com/x\n",
    "spanish": samples.SPANISH,
}


def scored(reading: prose.Reading, *probabilities: float, document: float | None = None) -> TextOut:
    """Windows of equal length, one for each probability; the document's is their mean unless given."""
    length, count = len(reading.text), len(probabilities)
    cuts = [length * n // count for n in range(count + 1)]
    windows = tuple(
        WindowScore(start, end, 0.0, p) for (start, end), p in zip(pairwise(cuts), probabilities, strict=True)
    )
    mean = sum(probabilities) / count if document is None else document
    return TextOut("t", 0.0, mean, windows, 10)


def judge(text: str, *probabilities: float, document: float | None = None, **options: Any) -> Judgement:
    reading = prose.read(text)
    answer = scored(reading, *probabilities, document=document)
    return verdicts.judge(reading, answer, MANIFEST, language="en", **options)


# --- Labels, confidence, caps -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probability", "label", "confidence"),
    [
        (0.99, "ai", "high"),
        (0.95, "ai", "high"),
        (0.94, "ai", "medium"),
        (0.90, "ai", "medium"),
        (0.89, "human", "low"),
        (0.50, "human", "low"),
        (0.49, "human", "medium"),
        (0.01, "human", "high"),
    ],
)
def test_it_says_what_and_how_surely(probability: float, label: str, confidence: str) -> None:
    found = judge(samples.HUMAN, probability)
    assert (found.label, found.confidence, found.probability) == (label, confidence, probability)
    assert found.max_fpr == "0.01"


def test_it_moves_with_the_cap() -> None:
    assert judge(samples.HUMAN, 0.8, max_fpr="0.05").label == "ai"
    assert judge(samples.HUMAN, 0.8, max_fpr="0.05").confidence == "low"
    assert judge(samples.HUMAN, 0.92, max_fpr="0.005").label == "human"


def test_it_is_never_highly_confident_of_a_mixture() -> None:
    found = judge(samples.HUMAN, 0.99, 0.02, 0.01, 0.01, document=0.4)
    assert (found.label, found.confidence) == ("mixed", "medium")
    assert [segment.label for segment in found.segments] == ["ai", "human", "human", "human"]


def test_it_marks_nothing_in_a_human_text() -> None:
    found = judge(samples.HUMAN, 0.3, 0.6, 0.1)
    assert (found.label, found.ai_fraction) == ("human", 0.0)
    assert {segment.label for segment in found.segments} == {"human"}
    assert [segment.probability for segment in found.segments] == [0.3, 0.6, 0.1]


def test_it_has_caps_strictest_first() -> None:
    assert verdicts.caps(MANIFEST) == ["0.005", "0.01", "0.05"]
    manifest = MANIFEST | {"thresholds": MANIFEST["thresholds"] | {"es": {"0.05": {}}}}
    assert verdicts.caps(manifest, "es") == ["0.05"]


def test_it_knows_no_verdict_without_a_measured_threshold() -> None:
    reading = prose.read(samples.HUMAN)
    answer = scored(reading, 0.5)
    with pytest.raises(KeyError):
        verdicts.judge(reading, answer, MANIFEST, language="de")
    with pytest.raises(KeyError):
        verdicts.judge(reading, answer, MANIFEST, language="en", max_fpr="0.02")


# --- Segments ----------------------------------------------------------------------------------------------


def scored_places(reading: prose.Reading) -> set[int]:
    """Code points of the original that the model read."""
    return {
        place
        for start, end, char in zip(reading.starts, reading.ends, reading.text, strict=True)
        if not char.isspace()
        for place in range(start, end)
    }


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("windows", [1, 2, 5, 13])
def test_its_segments_cover_what_was_scored_and_nothing_twice(name: str, windows: int) -> None:
    text, reading = TEXTS[name], prose.read(TEXTS[name])
    chance = random.Random(f"{name}{windows}")
    found = judge(text, *(chance.choice([0.02, 0.97, 0.6]) for _ in range(windows)))
    assert found.segments
    last_end = 0
    covered: set[int] = set()
    for segment in found.segments:
        assert last_end <= segment.start < segment.end <= len(text), "sorted, disjoint, inside the text"
        last_end = segment.end
        covered.update(range(segment.start, segment.end))
    assert scored_places(reading) <= covered
    left_out = {place for part in reading.left_out for place in range(part.start, part.end)}
    assert not covered & left_out


@pytest.mark.parametrize("name", TEXTS)
def test_its_ai_fraction_is_what_the_page_marks(name: str) -> None:
    found = judge(TEXTS[name], 0.97, 0.02, 0.96, 0.03, 0.99)
    lengths = {"ai": 0, "human": 0}
    for segment in found.segments:
        lengths[segment.label] += segment.end - segment.start
    assert lengths["ai"]
    assert found.scored_characters == sum(lengths.values())
    assert found.ai_fraction == pytest.approx(lengths["ai"] / found.scored_characters, abs=1e-12)


def test_it_cuts_a_window_around_what_was_left_out() -> None:
    code = "```\nsecret = 1\n```"
    text = f"{samples.HUMAN}\n\n{code}\n\n{samples.AI}"
    found = judge(text, 0.99)
    before, after = found.segments
    assert text[before.start : before.end].strip() == samples.HUMAN
    assert text[after.start : after.end].strip() == samples.AI
    assert (before.label, after.label) == ("ai", "ai")


def test_a_character_between_two_windows_is_in_one_of_them() -> None:
    """One ligature is three letters to the model, and a window may end inside of it."""
    text = samples.HUMAN.replace("daughters", "daughters of the oﬃce", 1)
    reading = prose.read(text)
    inside = reading.text.index("office") + 2
    windows = (WindowScore(0, inside, 0.0, 0.99), WindowScore(inside, len(reading.text), 0.0, 0.98))
    found = verdicts.judge(reading, TextOut("t", 0.0, 0.99, windows, 10), MANIFEST, language="en")
    first, second = found.segments
    assert text[: first.end].endswith("oﬃ")
    assert (first.end, second.end) == (second.start, len(text))


def test_its_offsets_are_code_points_of_the_original() -> None:
    start = "🙂🙂 \u200b"
    found = judge(start + samples.HUMAN + "\u200b " + samples.AI, 0.99, 0.98)
    text = start + samples.HUMAN + "\u200b " + samples.AI
    assert text[found.segments[0].start :].startswith("🙂🙂")
    assert found.segments[-1].end == len(text)
    assert isinstance(found.segments[0], Segment)


# --- The measured rate beside the verdict -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "group"), [(50, 100_000), (99, 100_000), (100, 199), (150, 199), (199, 199), (200, 100_000)]
)
def test_it_shows_the_narrowest_group_that_a_text_belongs_to(words: int, group: int) -> None:
    assert verdicts.rate_card(MANIFEST, language="en", words=words, cap="0.01")["words"][1] == group


def test_it_shows_no_rate_that_was_not_measured() -> None:
    assert verdicts.rate_card(MANIFEST, language="es", words=100, cap="0.01") is None
    assert verdicts.rate_card(MANIFEST, language="en", words=49, cap="0.01") is None
    assert verdicts.rate_card({"default_max_fpr": 0.01}, language="en", words=100, cap="0.01") is None


def test_it_reads_thresholds_as_the_manifest_has_them() -> None:
    found = Thresholds.of(MANIFEST["thresholds"]["en"]["0.05"], 100)
    assert (found.document, found.window) == (0.70, 0.80)


def test_it_reads_the_thresholds_of_a_texts_length() -> None:
    band = {"words": [50, 99], "document": 0.9, "window": 0.95}
    entry = MANIFEST["thresholds"]["en"]["0.05"] | {"bands": [band]}
    assert Thresholds.of(entry, 99) == Thresholds(0.9, 0.95)
    assert Thresholds.of(entry, 100) == Thresholds(0.70, 0.80)


def test_it_shows_the_rate_of_the_guessed_genre_under_the_cap_of_the_verdict() -> None:
    line = {"language": "en", "genre": "fiction", "words": [50, 100_000], "k": 0, "n": 60, "low": 0.0, "high": 0.06}
    manifest = MANIFEST | {"rate_card": [*MANIFEST["rate_card"], line | {"max_fpr": 0.01}]}
    asked = {"language": "en", "words": 120, "genre": "fiction"}
    assert verdicts.rate_card(manifest, **asked, cap="0.01")["n"] == 60
    assert verdicts.rate_card(manifest, **asked | {"genre": "news"}, cap="0.01")["genre"] == "any"
    assert verdicts.rate_card(manifest, **asked, cap="0.05") is None


def test_one_texts_windows_are_those_of_its_prose() -> None:
    """The scripted backend of the other tests covers a text as the real one does."""
    text = prose.read(samples.HUMAN).text
    windows = factories.scores(TextIn("t", text, "en"), 0.5).windows
    assert (windows[0].start, windows[-1].end) == (0, len(text))
    assert all(one.end == two.start for one, two in pairwise(windows))

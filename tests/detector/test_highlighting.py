"""Runs to render: every character once, and marked exactly as much as the number says."""

from typing import Any

import factories
import pytest
import samples
from hypothesis import given
from hypothesis import strategies as st

from billing.models import User
from detector import highlighting
from gpujobs.models import ModelVersion

TEXT = "One two. Three four.\n\nFive six."


def segment(start: int, end: int, label: str = "ai", probability: float = 0.9) -> dict[str, Any]:
    return {"start": start, "end": end, "label": label, "probability": probability}


def left(start: int, end: int, kind: str = "code") -> dict[str, Any]:
    return {"start": start, "end": end, "kind": kind}


def shape(runs: list[highlighting.Run]) -> list[tuple[str, str]]:
    return [(run.mark, run.text) for run in runs]


def test_it_leaves_a_text_without_marks_in_one_run() -> None:
    assert shape(highlighting.runs(TEXT, [], [])) == [("plain", TEXT)]


def test_it_makes_nothing_of_an_empty_text() -> None:
    assert highlighting.runs("", [], []) == []


def test_it_puts_plain_runs_between_and_around_segments() -> None:
    found = highlighting.runs(TEXT, [segment(0, 8), segment(9, 20, "human", 0.2)], [left(22, 26)])
    assert shape(found) == [
        ("ai", "One two."),
        ("plain", " "),
        ("human", "Three four."),
        ("plain", "\n\n"),
        ("left_out", "Five"),
        ("plain", " six."),
    ]


def test_it_numbers_scored_runs_and_names_the_others() -> None:
    found = highlighting.runs(TEXT, [segment(0, 8), segment(9, 20)], [left(22, 26, "table")])
    assert [(run.number, run.probability, run.kind) for run in found if run.mark != "plain"] == [
        (1, 0.9, ""),
        (2, 0.9, ""),
        (0, None, "table"),
    ]


def test_it_cuts_a_left_out_range_around_a_segment_that_claims_its_characters() -> None:
    found = highlighting.runs(TEXT, [segment(9, 20)], [left(4, 26)])
    assert shape(found) == [
        ("plain", "One "),
        ("left_out", "two. "),
        ("ai", "Three four."),
        ("left_out", "\n\nFive"),
        ("plain", " six."),
    ]


def test_it_counts_code_points_not_bytes_or_surrogates() -> None:
    text = "😀😀 é́ word"
    assert shape(highlighting.runs(text, [segment(1, 2)], [])) == [("plain", "😀"), ("ai", "😀"), ("plain", " é́ word")]


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]], list[dict[str, Any]]]:
    """A text, segments in order, and left-out ranges that may lie anywhere."""
    text = draw(st.text(max_size=120))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    labels = st.sampled_from(["ai", "human"])
    segments = [segment(a, b, draw(labels)) for a, b in zip(cuts[::2], cuts[1::2], strict=False) if a < b]
    ends = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    parts = [left(a, b) for a, b in zip(ends[::2], ends[1::2], strict=False) if a < b]
    return text, segments, parts


@given(marked())
def test_it_renders_every_character_exactly_once(case: tuple[str, list[Any], list[Any]]) -> None:
    text, segments, parts = case
    found = highlighting.runs(text, segments, parts)
    assert "".join(run.text for run in found) == text
    assert [run.start for run in found[1:]] == [run.end for run in found[:-1]]


@given(marked())
def test_it_marks_exactly_the_characters_of_the_segments(case: tuple[str, list[Any], list[Any]]) -> None:
    text, segments, parts = case
    found = highlighting.runs(text, segments, parts)
    scored = sum(s["end"] - s["start"] for s in segments)
    marked_ai = sum(s["end"] - s["start"] for s in segments if s["label"] == "ai")
    assert highlighting.ai_share(found) == (marked_ai / scored if scored else 0.0)


@pytest.mark.parametrize("text", [samples.AI, samples.HUMAN + "\n\n```\ncode()\n```\n\n" + samples.AI])
@pytest.mark.parametrize("probability", [0.99, 0.01])
def test_its_share_is_the_verdicts_number(alice: User, champion: ModelVersion, text: str, probability: float) -> None:
    verdict = factories.checked(factories.owner(alice), text, probability=probability).verdict
    found = highlighting.runs(text, verdict.segments, verdict.left_out)
    assert highlighting.ai_share(found) == verdict.ai_fraction

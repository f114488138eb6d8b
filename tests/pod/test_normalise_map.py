"""Properties that hold for any string: the map to the original, and that cleaning twice changes nothing."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from text_strategies import hostile_text, paragraph, unhurried

from gpujobs.pod.shared.normalise import normalise

FLOOD_CHARS = 100_000
FLOOD_SECONDS = 3.0  # a quadratic rule takes minutes


@unhurried
@given(hostile_text)
def test_it_maps_each_character_into_the_original(text: str) -> None:
    result = normalise(text)
    assert len(result.starts) == len(result.ends) == len(result.text)
    assert all(0 <= a < b <= len(text) for a, b in zip(result.starts, result.ends, strict=True))
    assert list(result.starts) == sorted(result.starts)
    assert list(result.ends) == sorted(result.ends)


@unhurried
@given(hostile_text)
def test_it_maps_unchanged_characters_to_themselves(text: str) -> None:
    result = normalise(text)
    for char, start, end in zip(result.text, result.starts, result.ends, strict=True):
        if char.isascii() and char.isalnum() and text[start:end].isascii() and end - start == 1:
            assert text[start] == char


@unhurried
@given(hostile_text)
@example("a-\nb-\nc-\nd")
@example("e\u200b\u0301")
@example("\ud83d\ude00")
def test_it_changes_nothing_the_second_time(text: str) -> None:
    once = normalise(text)
    twice = normalise(once.text)
    assert twice.text == once.text


@unhurried
@given(hostile_text)
def test_it_leaves_no_disguise(text: str) -> None:
    clean = normalise(text).text
    assert not set("\x00\r\t\u00a0\u200b\u202e\ufeff\u00ad\u2014\u2013\u2019\u201c\u2026ﬁ").intersection(clean)
    assert not any("\ud800" <= char <= "\udfff" for char in clean)
    clean.encode()


@unhurried
@given(paragraph, st.data())
def test_it_is_blind_to_invisible_characters_anywhere(text: str, data: st.DataObject) -> None:
    at = data.draw(st.lists(st.integers(0, len(text)), max_size=20))
    hidden = "".join(char + "\u200b" * at.count(i + 1) for i, char in enumerate(text))
    assert normalise(hidden).text == normalise(text).text


UNITS = (
    "a", " ", "\n", "\t", "\u0301", "\u200b", "a\u200b", "—", "a-\n", "-", "- ", ". .", "а", "pа ", "\u200d",
    "👨\u200d", "ﬁ", "ﷺ", "\ud800", "\x00", "'", "…",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_it_takes_linear_time_on_floods(unit: str) -> None:
    started = time.perf_counter()
    normalise(unit * (FLOOD_CHARS // len(unit)))
    assert time.perf_counter() - started < FLOOD_SECONDS

"""Sentence spans: where they end, and that they cover any text without gaps."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_strategies import hostile_text, unhurried

from gpujobs.pod.shared.sentences import MAX_SENTENCE_CHARS, sentence_spans


def sentences(text: str, language: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, language)]


@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("en", ["He said hi. ", "Then Dr. Smith of St. Ives left. ", "She paid $3.50."]),
        ("en", ["Is it? ", "Yes! ", "It is."]),
        ("en", ["One block.\n\n", "Another block, with no stop\n\n", "A third."]),
        ("es", ["El Sr. Pérez llegó a las tres. ", "¿Qué pasa? ", "¡Nada! ", "Fin."]),
        ("es", ["La Dra. Ruiz vino. ", "Véase la pág. 3 del libro."]),
        ("xx", ["Unknown language. ", "Split all the same."]),
        ("", ["No language. ", "Split too."]),
    ],
)
def test_it_finds_sentences(language: str, parts: list[str]) -> None:
    assert sentences("".join(parts), language) == parts


def test_it_gives_white_space_to_the_sentence_before() -> None:
    assert sentences("\n\nOne.   \n\n\n Two.  ", "en") == ["\n\nOne.   \n\n\n", " Two.  "]
    assert sentences("  \n ", "en") == ["  \n "]
    assert sentence_spans("", "en") == []


def test_it_cuts_endless_lines_at_spaces_or_anywhere() -> None:
    words = sentence_spans("word " * 2_000, "en")
    assert len(words) > 1
    assert all(end - start <= MAX_SENTENCE_CHARS for start, end in words)
    assert all(start % 5 == 0 for start, _ in words)
    assert [end - start for start, end in sentence_spans("x" * 4_500, "es")] == [2_000, 2_000, 500]


@unhurried
@given(hostile_text, st.sampled_from(["en", "es", "zh", "xx", ""]))
def test_it_covers_any_text_without_gaps(text: str, language: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    spans = sentence_spans(text, language)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(0 < end - start <= MAX_SENTENCE_CHARS for start, end in spans)


@pytest.mark.parametrize("unit", ["a", ". ", "a. ", "\n", '"', '"a." ', "(", "Mr. ", "?", "…", "a\n", "“a. "])
def test_it_takes_linear_time_on_floods(unit: str) -> None:
    started = time.perf_counter()
    sentence_spans(unit * (100_000 // len(unit)), "en")
    assert time.perf_counter() - started < 3.0

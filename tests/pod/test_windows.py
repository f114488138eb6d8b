"""Windows cover a text exactly, whatever it is."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpujobs.pod.windows import Window, cut, join


def word_offsets(text: str) -> list[tuple[int, int]]:
    """A stand-in for a tokenizer: pieces of up to four letters."""
    return [m.span() for m in re.finditer(r"\S{1,4}", text)]


def check(text: str, found: list[Window], limit: int) -> None:
    assert [w.start for w in found] == [0, *(w.end for w in found[:-1])]
    assert found[-1].end == len(text)
    assert [w.first for w in found] == [0, *(w.last for w in found[:-1])]
    assert found[-1].last == len(word_offsets(text))
    assert all(w.end - w.start > 0 for w in found)
    assert all(w.last - w.first <= limit for w in found)


prose = st.lists(
    st.sampled_from(["Yes. ", "A longer sentence here! ", "word ", "\n\n", "x" * 90, "¿Qué? ", "😀"]),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(prose.map("".join), st.integers(4, 40), st.sampled_from(["en", "es"]))
def test_it_covers_every_character_once_within_the_limit(text: str, limit: int, language: str) -> None:
    found = cut(text, language, word_offsets(text), limit)
    if not text:
        assert found == []
    else:
        check(text, found, limit)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300), st.integers(4, 30))
def test_it_survives_any_characters(text: str, limit: int) -> None:
    found = cut(text, "en", word_offsets(text), limit)
    if text:
        check(text, found, limit)


def test_it_keeps_sentences_whole() -> None:
    text = "This is one sentence of some length. " * 40
    found = cut(text, "en", word_offsets(text), 60)
    assert all(text[w.start : w.end].strip().endswith(".") for w in found)
    assert all(text[w.start : w.end].lstrip().startswith("This") for w in found)


def test_it_gives_a_word_to_the_sentence_that_it_begins() -> None:
    text = "One sentence ends here. Another begins here. " * 4
    offsets = [(max(0, m.start() - 1), m.end()) for m in re.finditer(r"\S+", text)]  # a space belongs to its word
    found = cut(text, "en", offsets, 8)
    assert [w.last - w.first for w in found] == [7] * 4
    assert all(text[w.start : w.end].startswith("One") for w in found)


def test_it_balances_instead_of_leaving_a_tail() -> None:
    text = "Short sentence number five here. " * 26
    sizes = [w.last - w.first for w in cut(text, "en", word_offsets(text), 200)]
    assert max(sizes) < 1.5 * min(sizes)


def test_it_cuts_an_endless_sentence_at_spaces() -> None:
    text = "and then " * 400
    found = cut(text, "en", word_offsets(text), 100)
    assert all(text[w.start - 1].isspace() or text[w.start].isspace() for w in found[1:])


def test_it_cuts_an_endless_word_anywhere() -> None:
    text = "x" * 5000
    check(text, cut(text, "en", word_offsets(text), 100), 100)


def test_it_reaches_both_ends_of_a_long_text() -> None:
    text = ("A sentence to fill the page with words. " * 2600)[:100_000]
    check(text, cut(text, "en", word_offsets(text), 254), 254)


@pytest.mark.parametrize(
    ("sizes", "scores", "expected"),
    [((10,), (1.5,), 1.5), ((30, 10), (2.0, -2.0), 1.0), ((5, 5), (-1.0, 1.0), 0.0)],
)
def test_it_joins_scores_by_length(sizes: tuple[int, ...], scores: tuple[float, ...], expected: float) -> None:
    windows, at = [], 0
    for size in sizes:
        windows.append(Window(at, at + size, 0, 0))
        at += size
    assert join(scores, windows) == pytest.approx(expected)

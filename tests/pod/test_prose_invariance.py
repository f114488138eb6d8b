"""The same prose in another dress reads the same, and nothing of a text gets lost unnamed."""

import textwrap
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_strategies import hostile_text, prose, unhurried

from gpujobs.pod.shared.prose import Reading, read

FLOOD_CHARS = 100_000
FLOOD_SECONDS = 5.0  # a quadratic rule takes minutes


def wrapped(text: str, width: int) -> str:
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


DRESSES: dict[str, Callable[[str], str]] = {
    "wrapped at 72": lambda text: wrapped(text, 72),
    "wrapped at 40": lambda text: wrapped(text, 40),
    "wrapped and indented": lambda text: textwrap.indent(wrapped(text, 72), "    "),
    "CRLF": lambda text: wrapped(text, 72).replace("\n", "\r\n"),
    "trailing spaces": lambda text: wrapped(text, 72).replace("\n", "  \n"),
    "double spaces": lambda text: text.replace(" ", "  "),
    "double spaces after sentences": lambda text: text.replace(". ", ".  "),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "curly quotes": lambda text: text.replace("'", "’").replace(' "', " “").replace('"', "”"),
    "guillemets": lambda text: text.replace(' "', " «").replace('"', "»"),
    "long dashes": lambda text: text.replace(" - ", " — "),
    "tight dashes": lambda text: text.replace(" - ", "—"),
    "typewriter dashes": lambda text: text.replace(" - ", " -- "),
    "ellipsis sign": lambda text: text.replace("...", "…"),
    "ligatures": lambda text: text.replace("ffi", "ﬃ").replace("fi", "ﬁ"),
    "soft hyphens": lambda text: text.replace("e", "e\u00ad"),
    "zero-width spaces": lambda text: text.replace("a", "a\u200b"),
    "byte order mark": lambda text: "\ufeff" + text,
    "decomposed accents": lambda text: text.replace("é", "e\u0301").replace("ñ", "n\u0303"),
    "divided at line ends": lambda text: text.replace("information", "infor-\nmation").replace(
        "children", "chil-\ndren"
    ),
    "bold sentences": lambda text: f"**{text}**",
    "full width": lambda text: text.replace("the", "ｔｈｅ"),
    "Cyrillic letters": lambda text: text.replace("a", "а").replace("e", "е").replace("o", "о"),
}


@pytest.mark.parametrize("dress", DRESSES)
@unhurried
@given(paragraphs=prose)
def test_it_reads_the_same_prose_in(dress: str, paragraphs: list[str]) -> None:
    plain = "\n\n".join(paragraphs)
    dressed = "\n\n".join(DRESSES[dress](text) for text in paragraphs)
    assert read(dressed).text == read(plain).text == plain


@unhurried
@given(prose, st.data())
def test_it_reads_the_same_prose_under_markdown_emphasis(paragraphs: list[str], data: st.DataObject) -> None:
    marks = st.sampled_from(["{}", "{}", "**{}**", "*{}*", "_{}_", "`{}`", "***{}***", "~~{}~~", "[{}](https://x.org)"])
    dressed = [
        " ".join(data.draw(marks).format(word) if word.isalpha() else word for word in text.split(" "))
        for text in paragraphs
    ]
    assert read("\n\n".join(dressed)).text == "\n\n".join(paragraphs)


@unhurried
@given(prose)
def test_it_keeps_plain_paragraphs_whole(paragraphs: list[str]) -> None:
    reading = read("\n\n".join(paragraphs))
    assert reading.left_out == ()
    assert reading.words >= sum(len(text.split()) - text.count(" - ") for text in paragraphs)


@unhurried
@given(prose)
def test_it_reads_its_own_reading_unchanged(paragraphs: list[str]) -> None:
    once = read("\n\n".join(paragraphs)).text
    assert read(once).text == once


@unhurried
@given(hostile_text)
def test_it_maps_into_the_original_in_order(text: str) -> None:
    reading = read(text)
    assert len(reading.starts) == len(reading.ends) == len(reading.text)
    assert all(0 <= a <= b <= len(text) for a, b in zip(reading.starts, reading.ends, strict=True))
    assert list(reading.starts) == sorted(reading.starts)
    assert list(reading.ends) == sorted(reading.ends)
    reading.text.encode()


@unhurried
@given(hostile_text)
def test_it_names_whatever_it_leaves_out_once(text: str) -> None:
    """Each character of the original was read, is white space, was cleaned, or lies in exactly one LeftOut."""
    reading = read(text)
    spans = [(item.start, item.end) for item in reading.left_out]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    seen = _covered(reading, spans)
    unnamed = sum(not seen[i] and not text[i].isspace() for i in range(len(text)))
    assert unnamed <= sum(item.count for item in reading.cleaned if item.kind in REMOVING)


REMOVING = {"invisible", "control", "surrogate", "soft_hyphen", "combining", "markup", "hyphenation", "dash"}


def _covered(reading: Reading, spans: list[tuple[int, int]]) -> list[bool]:
    seen = [False] * reading.original_chars
    for start, end in [*spans, *zip(reading.starts, reading.ends, strict=True)]:
        seen[start:end] = [True] * (end - start)
    return seen


UNITS = (
    "a", "a ", "a. ", "\n", "a\n\n", "[", "[a", "](", "*", "**a ", "*a", "_", "`", "```\n", "|", "a|b|c\n", "a,b,c\n",
    "a\tb\n", "a  b  c\n", "<", "<b", "<br>", "&", "http://", "a@", "a@b.c ", "- a\n", "1. a\n", "> a\n", "# a\n",
    "a=b\n", "if (", "{}\n", "public ", "a-\n", "\\", "[1]", "[1,", "Smith, J. ", "References\n\n", "A, B. (2",
    "a\n===\n", "—", "a.—", "a. - ", "a. 1. ", "• ", "a ,", "ab,cd", "ab.Cd", "un- ab ", "> a > ", ". . ",
    "你", "😀", "\ud800",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_it_takes_linear_time_on_floods(unit: str) -> None:
    started = time.perf_counter()
    read(unit * (FLOOD_CHARS // len(unit)))
    assert time.perf_counter() - started < FLOOD_SECONDS

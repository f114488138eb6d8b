"""Attacks change what they name, at their rate, and nothing else; the reader undoes those of form."""

import re
import unicodedata
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_strategies import hostile_text, prose, unhurried

from gpujobs.pod.attacks import ATTACKS, RAID_ATTACKS, TRANSFORMS_OF_FORM
from gpujobs.pod.attacks_words import AMERICAN_BRITISH, ARTICLES, KEY_NEIGHBOURS, LOOKALIKES, MISSPELT
from gpujobs.pod.shared.prose import read

ENGLISH = (
    'The committee agreed on a plan to copy the paper before an exam in 1987. "I hope you don\'t mind," said the\n'
    "officer - and, after a while, the difficult question was answered. Nobody knew 12345 people, or why the\n\n"
    "garden was so big. It was a quiet evening; the well-known flat was cold. We went home. They stayed."
)
seeds = st.integers(0, 2**32 - 1)
languages = st.sampled_from(["en", "es", "de", ""])


def attacked(name: str, text: str, seed: int = 1, language: str = "en") -> str:
    return ATTACKS[name](text, np.random.default_rng(seed), language)


# --- all of them ---------------------------------------------------------------------------------------------------


def test_it_has_the_attacks_of_raid_that_need_no_model() -> None:
    assert set(RAID_ATTACKS) == {
        "alternative_spelling", "article_deletion", "homoglyph", "misspelling", "number_swap", "paragraph_insertion",
        "upper_lower", "whitespace", "zero_width",
    }  # fmt: skip
    assert set(RAID_ATTACKS) | set(TRANSFORMS_OF_FORM) | {"lower_case"} == set(ATTACKS)


@pytest.mark.parametrize("name", ATTACKS)
@unhurried
@given(text=hostile_text, seed=seeds, language=languages)
def test_it_takes_any_text_and_repeats_itself(name: str, text: str, seed: int, language: str) -> None:
    assert attacked(name, text, seed, language) == attacked(name, text, seed, language)


@pytest.mark.parametrize("name", ATTACKS)
def test_it_changes_a_text_and_leaves_an_empty_one_without_words(name: str) -> None:
    text = f"{ENGLISH} The color of the traveller. A flow, an office, one, two, three."
    assert attacked(name, text) != text
    assert not re.search(r"\w", attacked(name, ""))


ALWAYS_ALIKE = {
    "alternative_spelling", "hard_wrap", "ligatures", "lower_case", "paragraph_merge", "smart_quotes", "zero_width",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ATTACKS.keys() - ALWAYS_ALIKE))
def test_it_draws_anew_for_another_seed(name: str) -> None:
    text = f"{ENGLISH}\n\n" * 3
    assert len({attacked(name, text, seed) for seed in range(8)}) > 1


# --- nothing else --------------------------------------------------------------------------------------------------


def without(*patterns: str) -> Callable[[str], str]:
    return lambda text: re.sub("|".join(patterns), "", text)


def unlike(text: str) -> str:
    return text.translate({ord(twin): letter for letter, twins in LOOKALIKES.items() for twin in twins})


LEAVES_ALONE: dict[str, Callable[[str], str]] = {
    "bom_and_controls": without("[\u200c-\u200f\u202a\u202c\u2060\u2066\u2069\ufeff]"),
    "dashes": without(r"[\s,\-\u2010-\u2014]"),
    "hard_wrap": without(r"\s"),
    "homoglyph": unlike,
    "ligatures": lambda text: unicodedata.normalize("NFKC", text),
    "line_end_hyphenation": without(r"[\s-]"),
    "nbsp": without(r"\s"),
    "number_swap": lambda text: re.sub("[0-9]", "0", text),
    "paragraph_insertion": without(r"\s"),
    "paragraph_merge": without(r"\s"),
    "punctuation_spacing": without(r"\s"),
    "smart_quotes": without("[\"'“”«»‘’]"),
    "soft_hyphen": without("\u00ad"),
    "trailing_spaces": without(r"\s"),
    "whitespace": without(r"\s"),
    "zero_width": without("\u200b"),
}


@pytest.mark.parametrize("name", LEAVES_ALONE)
@unhurried
@given(text=hostile_text | prose.map("\n".join), seed=seeds, language=languages)
def test_it_changes_only_what_it_names(name: str, text: str, seed: int, language: str) -> None:
    rest = LEAVES_ALONE[name]
    assert rest(attacked(name, text, seed, language)) == rest(text)


@pytest.mark.parametrize("name", ["lower_case", "upper_lower"])
@unhurried
@given(paragraphs=prose, seed=seeds)
def test_it_changes_only_case(name: str, paragraphs: list[str], seed: int) -> None:
    text = "\n\n".join(paragraphs)
    assert attacked(name, text, seed).lower() == text.lower()


@unhurried
@given(prose, seeds)
def test_it_writes_markdown_only_around_the_text(paragraphs: list[str], seed: int) -> None:
    text = "\n\n".join(paragraphs)
    dressed = re.sub(r"^## .*\n\n|^(?:[-*\u2022]|1\.) (?=[*_]*\w)", "", attacked("markdown", text, seed), flags=re.M)
    assert re.sub(r"[*_]", "", dressed) == text


@pytest.mark.parametrize("opening", ["- an item", "1. an item", "> a quotation", "| a | table |"])
def test_it_puts_no_second_mark_before_one(opening: str) -> None:
    assert all(attacked("markdown", opening, seed) == opening for seed in range(10))


# --- at their rates ------------------------------------------------------------------------------------------------


def differing(a: list[str], b: list[str]) -> int:
    assert len(a) == len(b)
    return sum(x != y for x, y in zip(a, b, strict=True))


@unhurried
@given(seeds)
def test_it_keeps_the_rates_of_raid(seed: int) -> None:
    articles = "the cat saw a dog and an owl or " * 4
    assert len(re.findall(r"\b(?:the|an|a)\b", attacked("article_deletion", articles, seed))) == 6
    assert differing(list("0123456789"), list(attacked("number_swap", "0123456789", seed))) == 5
    words = ["after", "because", "yesterday", "little", "fishing"] * 8
    text = " ".join(words)
    assert differing(words, attacked("upper_lower", text, seed).split()) == 2
    assert differing(words, attacked("misspelling", text, seed).split()) == 8
    assert len(attacked("whitespace", text, seed)) - len(text) == 7  # a fifth of 39
    assert attacked("paragraph_insertion", "We went home. " * 9, seed).count("\n\n") == 4  # of 8 borders
    assert len(attacked("zero_width", text, seed)) == 2 * len(text)


# --- words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("The color of Gray centers, ORGANIZED.", "The colour of Grey centres, ORGANISED."),
        ("Travellers analysed the programme", "Travelers analyzed the program"),
        ("colorblind, I, and Honorables stay", "colorblind, I, and Honorables stay"),
    ],
)
def test_it_takes_the_other_spelling(text: str, new: str) -> None:
    assert attacked("alternative_spelling", text) == new
    assert attacked("alternative_spelling", text, language="es") == text


def test_it_knows_each_spelling_once() -> None:
    assert len(AMERICAN_BRITISH) >= 60
    assert not AMERICAN_BRITISH.keys() & set(AMERICAN_BRITISH.values())
    assert len(set(AMERICAN_BRITISH.values())) == len(AMERICAN_BRITISH)


@pytest.mark.parametrize(
    ("language", "text", "new"),
    [
        ("en", "The a", "a"),
        ("en", "Another theatre, vitamin-a and 'a b' an", "Another theatre, vitamin-a and 'a b' an"),
        ("es", "Los  niños y unas casas", "niños y casas"),
        ("es", "lo bueno del año al fin", "lo bueno del año al fin"),
        ("de", "der Hund the dog", "der Hund the dog"),
    ],
)
def test_it_deletes_articles_alone(language: str, text: str, new: str) -> None:
    """Of doubled texts, half of the articles may stay: take the seeds together."""
    found = {attacked("article_deletion", f"{text} | {text}", seed, language) for seed in range(40)}
    assert any(new in one for one in found)
    assert all(set(one.split()) <= set(text.split()) | {"|"} for one in found)


@pytest.mark.parametrize("language", MISSPELT)
def test_it_misspells_as_people_do(language: str) -> None:
    for word, wrongs in MISSPELT[language].items():
        assert word not in wrongs
        assert all(wrong.isalpha() and wrong.islower() for wrong in (word, *wrongs))
    assert attacked("misspelling", "Because " * 5, 1, "en").count("Bec") == 5  # in the same case


@unhurried
@given(seeds, st.sampled_from(["word", "butter", "aaaa", "Straßenbahn", "ñandú", "QUIET"]))
def test_it_slips_inside_a_word(seed: int, word: str) -> None:
    wrong = attacked("misspelling", " ".join([word] * 5), seed, "de").split()
    (new,) = set(wrong) - {word}
    assert new[0] == word[0]
    assert abs(len(new) - len(word)) <= 1


def test_its_tables_hold_letters_of_the_right_kind() -> None:
    assert all("LATIN" not in unicodedata.name(twin) for twins in LOOKALIKES.values() for twin in twins)
    assert KEY_NEIGHBOURS["q"] == "w"
    assert KEY_NEIGHBOURS["g"] == "fh"
    assert ARTICLES.keys() == MISSPELT.keys()


# --- typography ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "new"),
    [
        ("smart_quotes", '"It\'s \'so\' ("well")", he said', "“It’s ‘so’ (“well”)”, he said"),
        ("ligatures", "office flat off fine afflict", "oﬃce ﬂat oﬀ ﬁne aﬄict"),
        ("paragraph_merge", "One. \n\nTwo\nthree.", "One. Two three."),
        ("lower_case", "ÁRBOL And I", "árbol and i"),
        ("zero_width", "ab", "a\u200bb\u200b"),
        ("hard_wrap", "long " * 20, ("long " * 14).strip() + "\n" + ("long " * 6).strip()),
        ("line_end_hyphenation", "word " * 13 + "responsible", "word " * 13 + "respon-\nsible"),
    ],
)
def test_it_sets_a_text(name: str, text: str, new: str) -> None:
    assert attacked(name, text) == new


@unhurried
@given(seeds)
def test_it_divides_no_short_word_and_keeps_the_width(seed: int) -> None:
    lines = attacked("line_end_hyphenation", "the children remember yesterday's office difficult " * 9, seed).split(
        "\n"
    )
    assert max(map(len, lines)) <= 72
    assert all(re.search(r"[a-z]{2,}-$", line) for line in lines if line.endswith("-"))


# --- the reader ----------------------------------------------------------------------------------------------------

UNDONE = sorted(TRANSFORMS_OF_FORM.keys() - {"dashes"})  # that one changes commas into dashes


@pytest.mark.parametrize("name", UNDONE)
@unhurried
@given(paragraphs=prose, seed=seeds, language=st.sampled_from(["en", "es"]))
def test_the_reader_undoes(name: str, paragraphs: list[str], seed: int, language: str) -> None:
    """Up to white space, which the models do not see."""
    text = "\n\n".join(paragraphs)
    assert read(attacked(name, text, seed, language)).text.split() == read(text).text.split()


@unhurried
@given(prose, seeds)
def test_the_reader_undoes_look_alikes_of_small_letters(paragraphs: list[str], seed: int) -> None:
    text = "\n\n".join(paragraphs).lower()
    assert read(attacked("homoglyph", text, seed)).text == read(text).text

"""The table of look-alikes against the data that Unicode publishes, as a maintained package carries it."""

import regex
from confusable_homoglyphs import confusables

from gpujobs.pod.shared.confusables import CONFUSABLE, IDENTICAL, LATIN_CONFUSABLE

# One stroke: in many typefaces I, l and i are the same sign, and Unicode files them under one skeleton.
_STROKES = {"I", "l", "i"}


def published(char: str) -> set[str]:
    found = confusables.is_confusable(char, greedy=True) or []
    return {item["c"] for entry in found for item in entry["homoglyphs"]}


def test_it_takes_identical_letters_from_unicode() -> None:
    """By one step, or by two over a small capital ("ʜ" for "h")."""
    for char, letter in IDENTICAL.items():
        letters = {LATIN_CONFUSABLE.get(name, name) for name in published(char)}
        assert letters & (_STROKES if letter in _STROKES else {letter}), (hex(ord(char)), letter)


def test_it_knows_each_letter_that_unicode_calls_a_twin_of_a_latin_one_in_living_scripts() -> None:
    pattern = regex.compile(r"[\p{Cyrillic}\p{Greek}\p{Armenian}\p{Cherokee}]")
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ":
        for char in published(letter):
            if len(char) == 1 and char.isalpha() and pattern.match(char) and not regex.match(r"\p{NFKC_QC=N}", char):
                assert char in CONFUSABLE, (hex(ord(char)), letter)


def test_it_keeps_the_tables_apart() -> None:
    for table in (IDENTICAL, CONFUSABLE, LATIN_CONFUSABLE):
        assert all(len(key) == 1 and not key.isascii() and key.isalpha() for key in table)
        assert all(len(value) == 1 and value.isascii() and value.isalpha() for value in table.values())
    assert not CONFUSABLE.keys() & LATIN_CONFUSABLE.keys()
    assert IDENTICAL.items() <= CONFUSABLE.items()

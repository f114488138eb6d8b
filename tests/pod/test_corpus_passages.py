"""Passages: whole sentences, 50-600 words, prose alone, no contact details, no repeats."""

import pytest

from gpujobs.pod.corpus.cleaning import is_prose, mask, tidy
from gpujobs.pod.corpus.documents import Document
from gpujobs.pod.corpus.duplicates import Register
from gpujobs.pod.corpus.passages import MAX_WORDS, MIN_WORDS, passages
from gpujobs.pod.shared.prose import count_words, read


def sentence(number: int) -> str:
    return f"On day {number} the old keeper of the house walked slowly down to the river and looked at the water."


def prose(first: int, count: int) -> str:
    return " ".join(sentence(number) for number in range(first, first + count))


def test_it_cuts_between_sentences_and_keeps_them_all() -> None:
    long = prose(0, 60)
    cut = [passage.text for passage in passages(Document("d", ((long,),)), "en")]
    assert len(cut) > 2
    assert " ".join(cut) == long
    assert all(MIN_WORDS <= count_words(text) <= MAX_WORDS for text in cut)


def test_it_joins_paragraphs_as_the_product_reads_blocks() -> None:
    (passage,) = passages(Document("d", ((prose(0, 2), prose(2, 2)),)), "en")
    assert passage.text == f"{prose(0, 2)}\n\n{prose(2, 2)}" == read(passage.text).text


def test_it_ends_a_long_enough_passage_at_a_heading_and_drops_short_rests() -> None:
    document = Document("d", ((prose(0, 4),), (prose(4, 4),), (sentence(9),)))
    assert [passage.text for passage in passages(document, "en")] == [prose(0, 4), prose(4, 4)]


def test_it_cuts_the_same_text_alike() -> None:
    document = Document("d", (tuple(prose(number, 3) for number in range(0, 90, 3)),))
    assert list(passages(document, "en")) == list(passages(document, "en"))


def test_it_leaves_code_out_and_paragraphs_that_nobody_translated() -> None:
    es = " ".join(
        f"El día {n} el viejo guardián de la casa bajó despacio hasta el río y miró el agua." for n in range(5)
    )
    document = Document("d", ((es, prose(0, 3), "for (i = 0; i < n; i++) { sum += values[i]; printf(sum); }"),))
    assert [passage.text for passage in passages(document, "es")] == [es]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Write to <Jo.Doe@example.org>, please.", "Write to [email], please."),
        ("See https://example.org/a?b=c. Then", "See [url]. Then"),
        ("(at www.example.org)", "(at [url])"),
        ("Call +49 30 1234567 or (030) 555-01234 now.", "Call [phone] or [phone] now."),
        ("From 1939-1945, on 2001-04-04, 1.000.000 people", "From 1939-1945, on 2001-04-04, 1.000.000 people"),
    ],
)
def test_it_masks_contact_details_and_nothing_else(before: str, after: str) -> None:
    assert mask(before) == after


def test_it_puts_a_paragraph_on_one_line() -> None:
    assert tidy(" A soft\u00adhyphen,\n two  spaces [12] and a stop .\n") == "A softhyphen, two spaces and a stop."


@pytest.mark.parametrize("paragraph", ["Chapter One", "See also", "$ sudo apt-get install foo && make -j2 PREFIX=/usr"])
def test_it_knows_what_is_no_prose(paragraph: str) -> None:
    assert not is_prose(paragraph)


def test_it_takes_a_text_once_and_its_near_copies_never() -> None:
    register = Register()
    register.know(prose(0, 8))
    assert not register.take(prose(0, 8).upper())
    assert not register.take(prose(0, 7) + " A last new sentence.")
    assert register.take("A text about quite another matter, which has nothing to do with rivers or with keepers.")
    assert not register.take("A text about quite another matter, which has nothing to do with rivers or with keepers.")

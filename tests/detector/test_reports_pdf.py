"""A report as PDF: what it says, in its reader's language, whatever the text holds."""

import io
import re
from collections.abc import Callable
from datetime import UTC, datetime

import factories
import pytest
import samples
from api_calls import Caller, problem
from django.test import Client
from django.utils import translation
from pdfminer.high_level import extract_text
from pdfminer.pdfpage import PDFPage

from billing.models import User
from detector.api import fixtures
from detector.models import Submission
from detector.reports import contents, direction, document, quoted, typefaces

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
LONG = (samples.HUMAN + "\n\n") * (100_000 // (len(samples.HUMAN) + 2))
ODD = {
    "nothing to draw": "\x01\x7f\u200b\u202e\ufeff" * 5_000,
    "one word": "x" * 100_000,
    "one letter a line": "a\n" * 50_000,
    "no lines but ends": "\n" * 99_999 + "x",
    "marks on one letter": "e" + "\u0301" * 20_000,
    "right to left": "שלום עולם, مرحبا بالعالم " * 1_000,
    "pictures": "👩\u200d👩\u200d👧 😀 " * 3_000,
    "no font has it": "你好世界 \ue000 \U0010ffff" * 2_000,
    "markup": "<para><b>&amp;</i>]]> <img src='file:///etc/passwd'/> " * 500,
    "every plane": "".join(chr(code) for code in range(1, 0x2FFFF, 7) if not 0xD800 <= code < 0xE000),
}


def row(text: str, name: str = "ai", **verdict: object) -> Submission:
    """A finished check of this text, every other 300 characters marked."""
    made = fixtures.row(fixtures.BY_NAME[name], fixtures.number_of(fixtures.BY_NAME[name], text))
    made.text, made.characters, made.digest = text, len(text), "ab" * 32
    starts = range(0, len(text), 300)
    made.verdict.segments = [
        {"start": at, "end": min(at + 300, len(text)), "label": "human" if at % 600 else "ai", "probability": 0.87}
        for at in starts
    ]
    for field, value in verdict.items():
        setattr(made.verdict, field, value)
    return made


def made(submission: Submission, *, include_text: bool = True, live: bool = True) -> bytes:
    said = contents.contents(submission, now=NOW, include_text=include_text, live=live)
    return document.pdf(submission, said)


def words(pdf: bytes) -> str:
    """What its reader reads, on one line; every paragraph, whatever its fonts."""
    return " ".join(extract_text(io.BytesIO(pdf)).split())


def pages(pdf: bytes) -> int:
    return len(list(PDFPage.get_pages(io.BytesIO(pdf))))


def test_it_says_what_the_page_says_and_what_it_rests_on() -> None:
    cleaned, left_out = [{"kind": "invisible", "count": 3}], [{"kind": "code", "start": 0, "end": 40}]
    submission = row("x" * 600, cleaned=cleaned, left_out=left_out)
    found = words(made(submission, include_text=False))
    for said in (
        "Likely AI-written",
        "confidence: high",
        "must not be the only basis for acting against somebody",
        "Probability that the text is AI",
        "99%",
        "Share of the text marked AI",
        "100%",
        "Of 800 texts by people like this one (English, 50 to 199 words), 4 were flagged by mistake at the 1% limit",
        "3 invisible characters removed",
        "40 characters: code",
        "Limit for false flags",
        "inkcloak-test made-up",
        "Page 1 of 1",
        "ab" * 32,
        contents.contents(submission, now=NOW)["content_sha256"],
        str(submission.pk),
    ):
        assert said in found, said


def test_it_speaks_the_readers_language() -> None:
    with translation.override("es"):
        found = words(made(row(samples.SPANISH)))
    assert "Probablemente escrito por IA" in found
    assert "Página 1 de" in found
    assert "crepúsculo vino tranquila" in found


def test_the_text_is_in_it_only_where_the_owner_asks() -> None:
    submission = row(samples.AI)
    assert "rapidly evolving digital" not in words(made(submission, include_text=False))
    shown = words(made(submission))
    assert "rapidly evolving digital" in shown
    assert "marked AI, with its probability" in shown


def test_no_verdict_is_called_that_and_has_no_numbers() -> None:
    found = words(made(row("", "too_short"), include_text=False))
    assert "Not enough to judge" in found
    assert "Probability" not in found


def test_a_made_up_one_says_so_first() -> None:
    assert "Made up for a test key" in words(made(row(""), include_text=False, live=False))


def test_it_shows_a_long_text_to_its_last_word_and_counts_its_pages() -> None:
    pdf = made(row(LONG + "the very last word"))
    assert pages(pdf) > 10
    found = words(pdf)
    assert "the very last word" in found.replace("  ", " ")
    assert f"Page {pages(pdf)} of {pages(pdf)}" in found
    assert len(pdf) < 500_000


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_no_text_breaks_it_or_makes_it_endless(text: str) -> None:
    pdf = made(row(text))
    assert pdf.startswith(b"%PDF")
    assert pages(pdf) <= 120
    assert len(pdf) < 2_000_000


def test_what_is_too_many_lines_is_said() -> None:
    found = words(made(row(ODD["one letter a line"])))
    shown = quoted.MAX_LINES * 2
    assert f"{100_000 - shown:,} more characters" in found


def test_each_marked_passage_ends_with_its_probability() -> None:
    submission = row("First passage.\n\nSecond   one.\n\n")
    submission.verdict.segments = [
        {"start": 0, "end": 16, "label": "ai", "probability": 0.974},
        {"start": 16, "end": 31, "label": "ai", "probability": 0.9991},
    ]
    found = words(made(submission))
    assert "First passage.97%" in found
    assert "Second one.>99%" in found


def test_markup_in_a_text_is_text() -> None:
    assert "<para><b>&amp;</i>]]>" in words(made(row(ODD["markup"])))


def test_each_character_has_a_font_or_a_box() -> None:
    assert typefaces.marked("Ñandú <&>") == "Ñandú &lt;&amp;&gt;"
    assert typefaces.marked("a Я b") == 'a <font name="DejaVu">Я </font>b'
    assert typefaces.marked("你") == '<font name="DejaVu">□</font>'
    assert typefaces.marked("a\u200b\x00b").replace('<font name="DejaVu"></font>', "") == "ab"
    assert typefaces.marked("1\u202f%") == "1\u00a0%"
    mixed = typefaces.marked("aЯ" * typefaces.MAX_PARTS)
    assert len(re.findall("<font", mixed)) == 1


def test_words_from_right_to_left_are_drawn_from_left_to_right() -> None:
    assert direction.visual("He said שלום עולם.") == "He said םלוע םולש."
    assert direction.visual("nothing to turn: 12 ñ") == "nothing to turn: 12 ñ"
    long = "שלום " * 100
    assert len(direction.visual(long)) == len(long)


def test_one_is_made_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "PATIENCE_SECONDS", 0.01)
    with document.ONE_AT_A_TIME, pytest.raises(document.Unavailable) as refused:
        made(row("x"))
    assert (refused.value.code, refused.value.retry_after) == ("reports_busy", document.RETRY_SECONDS)
    assert made(row("x"))


# --- Who gets it ---------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.usefixtures("champion")
def test_its_owner_has_it_from_page_and_api(client_of: Callable[[User], Client], alice: User, charlie: User) -> None:
    hers = factories.checked(factories.owner(alice), samples.AI + "\n\n```\nprint(1)\n```\n")
    for answer in (
        client_of(alice).get(f"/checks/{hers.pk}/report.pdf", {"include_text": "true"}),
        Caller(alice).get(f"/detections/{hers.pk}/report.pdf?include_text=true"),
    ):
        assert (answer.status_code, answer["Content-Type"]) == (200, "application/pdf")
        assert answer["Content-Disposition"] == f'attachment; filename="inkcloak-report-{hers.pk}.pdf"'
        assert "no-store" in answer["Cache-Control"]
        assert "rapidly evolving digital" in words(answer.content)
    spanish = Caller(alice).get(f"/detections/{hers.pk}/report.pdf", **{"Accept-Language": "es"})
    assert "Probablemente escrito por IA" in words(spanish.content)
    assert problem(Caller(charlie).get(f"/detections/{hers.pk}/report.pdf")) == (404, "not_found")


@pytest.mark.django_db
def test_a_test_key_gets_one_that_says_it_is_made_up(alice: User) -> None:
    number = fixtures.number_of(fixtures.BY_NAME["mixed"], "x")
    answer = Caller(alice, live=False).get(f"/detections/{number}/report.pdf")
    assert "Made up for a test key" in words(answer.content)

"""File names as they are shown and stored."""

import pytest

from detector.files import names
from detector.models import Submission


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("essay.pdf", "essay.pdf"),
        ("C:\\Users\\ana\\essay.pdf", "essay.pdf"),
        ("../../etc/passwd", "passwd"),
        ("  two\n lines\t.txt", "two lines .txt"),
        ("a\u202efdp.exe", "a fdp.exe"),
        ("redacción de Íñigo.docx", "redacción de Íñigo.docx"),
        ("nul\x00.txt", "nul .txt"),
        ("", ""),
    ],
)
def test_it_keeps_what_names_the_file(sent: str, shown: str) -> None:
    assert names.clean(sent) == shown


def test_a_long_name_keeps_both_ends_and_fits_its_column() -> None:
    cleaned = names.clean("a" * 300 + ".pdf")
    assert (len(cleaned), cleaned[-4:]) == (names.MAX_NAME_CHARACTERS, ".pdf")
    assert len(names.of_row("b" * 300, 10_000)) == names.MAX_NAME_CHARACTERS
    assert Submission._meta.get_field("file_name").max_length == names.MAX_NAME_CHARACTERS


def test_a_row_has_its_number() -> None:
    assert names.of_row("class.csv", 7) == "class.csv #7"


@pytest.mark.parametrize(
    ("name", "extension"),
    [
        ("a.PDF", "pdf"),
        ("a.b.html", "html"),
        ("none", ""),
        ("a.-x", ""),
        ("a.b c", ""),
        ("a." + "x" * 30, ""),
        ("ñ.ñ", ""),
    ],
)
def test_only_a_plain_extension_reaches_the_command_line(name: str, extension: str) -> None:
    assert names.extension(name) == extension

"""Many uploads at once: their order, the reader's language, the time that all of them have, and who is busy."""

import file_builders as build
import pytest
import samples
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import translation

from detector import intake
from detector.files import limits, messages, reading, runner
from detector.files.reading import Upload
from inkcloak.errors import Invalid, Unavailable

SCAN = Upload("scan.pdf", build.pdf(b"q Q"))
ESSAY = Upload("essay.txt", samples.HUMAN.encode())


def test_files_keep_their_order_and_each_fails_alone() -> None:
    table = Upload("class.csv", build.csv_of("one", "two"))
    files = reading.read_all([SCAN, ESSAY, table, SCAN])
    assert [file.name for file in files] == ["scan.pdf", "essay.txt", "class.csv", "scan.pdf"]
    assert [[text.name for text in file.texts] for file in files] == [
        [],
        ["essay.txt"],
        ["class.csv #2", "class.csv #3"],
        [],
    ]
    assert [file.error and file.error.code for file in files] == ["pdf_no_text", None, None, "pdf_no_text"]
    assert [file.is_plain for file in files] == [False, True, False, False]


def test_a_reason_is_in_the_language_of_whoever_asks() -> None:
    english = str(reading.read_all([SCAN])[0].error.message)
    with translation.override("es"):
        assert str(reading.read_all([SCAN])[0].error.message) != english


def test_what_the_database_cannot_store_is_replaced() -> None:
    [file] = reading.read_all([Upload("a.txt", f"{samples.HUMAN}\x00{samples.AI}".encode())])
    assert file.texts[0].text == f"{samples.HUMAN}\x01{samples.AI}"


def test_all_files_together_have_a_limited_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "UPLOAD_SECONDS", 0.0)
    [file] = reading.read_all([ESSAY])
    assert file.error is not None
    assert file.error.code == "upload_too_slow"


def test_while_all_places_are_taken_it_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "WAIT_FOR_A_CHILD_SECONDS", 0.01)
    for _place in range(limits.CHILDREN_AT_ONCE):
        assert runner._places.acquire(blocking=False)
    try:
        [file] = reading.read_all([ESSAY])
    finally:
        runner._places.release(limits.CHILDREN_AT_ONCE)
    assert isinstance(file.error, Unavailable)
    assert (file.error.code, file.error.retry_after) == ("files_busy", reading.BUSY_SECONDS)
    assert reading.read_all([ESSAY])[0].error is None


def test_more_than_one_request_may_hold_is_refused() -> None:
    with pytest.raises(Invalid) as many:
        reading.uploads_of([SimpleUploadedFile("a.txt", b"x")] * (limits.MAX_FILES + 1))
    with pytest.raises(Invalid) as large:
        reading.uploads_of([SimpleUploadedFile("a.txt", bytes(9_000_000))] * 4)
    assert (many.value.code, large.value.code) == ("too_many_files", "upload_size")


def test_a_file_never_shows_its_text() -> None:
    [file] = reading.read_all([ESSAY])
    assert samples.HUMAN[:20] not in f"{ESSAY!r}{file!r}"


def test_its_limit_for_a_text_is_that_of_every_way_in() -> None:
    [file] = reading.read_all([Upload("a.txt", b"x" * (intake.MAX_CHARACTERS + 1))])
    assert file.error is not None
    assert str(file.error.message) == messages.MESSAGES["too_long"] % {"limit": intake.MAX_CHARACTERS}

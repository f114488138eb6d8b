"""Every bad file by way of the API, all in one request: each has its own code, which names its limit; none costs."""

import file_attacks as attacks
import file_builders as build
import pytest
import samples
from api_calls import V1, Caller
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from billing.models import Meter, User
from detector import intake
from detector.files.limits import MAX_CSV_ROWS, MAX_FILE_BYTES, MAX_PDF_PAGES, MAX_ZIP_MEMBERS
from detector.models import Submission

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

GOOD = ("good.txt", samples.HUMAN.encode())
ENTITY = '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
# Name, content, code, and what its detail must say: the limit where there is one, else the way out.
BAD: list[tuple[str, bytes, str, str]] = [
    ("bomb.docx", build.changed(build.essay_docx("x"), {"word/media/a.xml": bytes(90 * attacks.MEGABYTE)}),
     "zip_ratio", "200 times"),
    ("large.docx", build.changed(build.essay_docx("x"), {"word/media/a.xml": bytes(101 * attacks.MEGABYTE)}),
     "zip_size", "100 MB"),
    ("parts.docx", build.zipped((f"{n}.xml", b"") for n in range(MAX_ZIP_MEMBERS + 1)),
     "zip_members", f"{MAX_ZIP_MEMBERS} parts"),
    ("macros.docm", attacks.macro_document(), "docx_macros", "Save it as DOCX"),
    ("entity.docx", build.docx_of(build.run("x"), prolog=ENTITY), "docx_entities", "Save it again"),
    ("laughs.docx", build.docx_of(build.run("x"), prolog=attacks.LAUGHS), "docx_entities", "Save it again"),
    ("locked.docx", attacks.encrypted_zip(), "file_encrypted", "protected by a password"),
    ("bomb.pdf", attacks.pdf_bomb(), "file_too_heavy", "more memory than a file may"),
    ("locked.pdf", build.encrypted_pdf(samples.HUMAN), "file_encrypted", "protected by a password"),
    ("scan.pdf", build.pdf(b"q 500 0 0 700 0 0 cm Q"), "pdf_no_text", "is it a scan?"),
    ("pages.pdf", build.pdf(*[b""] * (MAX_PDF_PAGES + 1)), "pdf_pages", f"{MAX_PDF_PAGES} pages"),
    ("million.csv", b"text\n" + b"x\n" * 1_000_000, "csv_rows", f"{MAX_CSV_ROWS} rows"),
    ("long.txt", b"a" * (intake.MAX_CHARACTERS + 1), "too_long", f"{intake.MAX_CHARACTERS} characters"),
    ("huge.txt", b"a" * (MAX_FILE_BYTES + 1), "file_size", "10 MB"),
    ("data.txt", bytes(range(256)) * 40, "file_not_text", "TXT"),
    ("empty.txt", b" \r\n\t", "file_empty", "no text"),
]  # fmt: skip


def test_each_is_refused_by_name_and_the_good_one_is_checked(alice: User, settings: Settings) -> None:
    settings.FREE_WORDS_PER_MONTH = 1_000
    caller = Caller(alice)
    sent = [SimpleUploadedFile(name, data) for name, data in [*(bad[:2] for bad in BAD), GOOD]]
    answer = caller.client.post(f"{V1}/detections/files", {"files": sent}, headers=caller.headers())
    assert answer.status_code == 202, answer.content
    found = answer.json()
    said = {file["name"]: file["problem"] for file in found["files"]}
    assert said.pop("good.txt") is None
    for name, _data, code, detail in BAD:
        problem = said[name]
        assert problem is not None, name
        assert (problem["code"], problem["status"]) == (code, 400), name
        assert detail in problem["detail"], name
    assert (found["refused"], found["in_flight"]) == (len(BAD), 1)
    good = Submission.objects.get()
    assert (Meter.objects.get().held, Meter.objects.get().used) == (good.words, 0)

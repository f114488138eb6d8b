"""Files that cannot be read, or attack whoever reads them: each is refused by its code and the limit that it breaks."""

import file_builders as build
import pytest
import samples
from file_attacks import LAUGHS, MEGABYTE, encrypted_zip, macro_document, pdf_bomb

from detector import intake
from detector.files import messages, runner
from detector.files.limits import MAX_CSV_ROWS, MAX_FILE_BYTES, MAX_PDF_PAGES, MAX_ZIP_MEMBERS, Refused


def refusal(data: bytes, extension: str) -> Refused:
    with pytest.raises(Refused) as caught:
        runner.run(data, extension, intake.MAX_CHARACTERS)
    return caught.value


BAD = [
    ("an empty file", b"", "txt", "file_empty", {}),
    ("white space", b" \r\n\t \x00", "txt", "file_empty", {}),
    ("an empty page", b"<html><p> </p>", "html", "file_empty", {}),
    ("an empty document", build.essay_docx(""), "docx", "file_empty", {}),
    ("a PDF that is a text", b"hello there", "pdf", "file_not_as_named", {"format": "pdf"}),
    ("a DOCX that is a text", b"hello there", "docx", "file_not_as_named", {"format": "docx"}),
    ("half a PDF", build.essay_pdf(samples.HUMAN)[:400], "pdf", "file_broken", {}),
    ("a PDF of a header", b"%PDF-1.7\n", "pdf", "file_broken", {}),
    ("half a DOCX", build.essay_docx(samples.HUMAN)[:3000], "docx", "file_broken", {}),
    ("a DOCX without a document", build.zipped([("[Content_Types].xml", b"<Types/>")]), "docx", "file_type", {}),
    ("an archive", build.zipped([("essay.txt", b"hello")]), "zip", "file_type", {"format": "ZIP"}),
    ("a picture", b"\x89PNG\r\n\x1a\n" + bytes(64), "png", "file_type", {"format": "PNG"}),
    ("rich text", b"{\\rtf1 hello}", "rtf", "file_type", {"format": "RTF"}),
    ("old Word", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "doc", "file_old_word", {}),
    ("data", bytes(range(256)) * 40, "txt", "file_not_text", {}),
    ("text with NULs", b"abc\x00\x00\x00def" * 30, "txt", "file_not_text", {}),
    ("half of a character", b"\xff\xfea", "txt", "bad_encoding", {}),
    ("a PDF with a password", build.encrypted_pdf(samples.HUMAN), "pdf", "file_encrypted", {}),
    ("a DOCX with a password", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "docx",
     "file_encrypted", {}),
    ("an encrypted archive", encrypted_zip(), "docx", "file_encrypted", {}),
    ("a scan", build.pdf(b"q 500 0 0 700 0 0 cm Q"), "pdf", "pdf_no_text", {}),
    ("a scan with hidden text", build.pdf(build.shown("unseen").replace(b"BT", b"BT 3 Tr")), "pdf", "pdf_hidden_only",
     {}),
    ("a page that hides all", b"<html><p hidden>unseen", "html", "hidden_only", {}),
    ("too many pages", build.pdf(*[b""] * (MAX_PDF_PAGES + 1)), "pdf", "pdf_pages", {"limit": MAX_PDF_PAGES}),
    ("macros", macro_document(), "docm", "docx_macros", {}),
    ("an external entity", build.docx_of(build.run("x"), prolog='<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
     "docx", "docx_entities", {}),
    ("entities inside each other", build.docx_of(build.run("x"), prolog=LAUGHS), "docx", "docx_entities", {}),
    ("entities in UTF-16", build.changed(build.essay_docx("x"), {"word/styles.xml": f"{LAUGHS}<a/>".encode("utf-16")}),
     "docx", "docx_entities", {}),
    ("entities in relations", build.changed(build.essay_docx("x"), {"_rels/.rels": f"{LAUGHS}<a/>".encode()}), "docx",
     "docx_entities", {}),
    ("an encoding to hide in", build.changed(build.essay_docx("x"), {
        "word/styles.xml": b'<?xml version="1.0" encoding="utf-7"?><a/>'}), "docx", "file_broken", {}),
    ("a zip bomb", build.changed(build.essay_docx("x"), {"word/media/a.xml": bytes(90 * MEGABYTE)}), "docx",
     "zip_ratio", {"limit": 200}),
    ("a large zip", build.changed(build.essay_docx("x"), {"word/media/a.xml": bytes(101 * MEGABYTE)}), "docx",
     "zip_size", {"limit": 100 * MEGABYTE}),
    ("many members", build.zipped((f"{n}.xml", b"") for n in range(MAX_ZIP_MEMBERS + 1)), "docx", "zip_members",
     {"limit": MAX_ZIP_MEMBERS}),
    ("a PDF bomb", pdf_bomb(), "pdf", "file_too_heavy", {}),
    ("a million rows", b"text\n" + b"x\n" * 1_000_000, "csv", "csv_rows", {"limit": MAX_CSV_ROWS}),
    ("no column of texts", b"name,mark\nA,1\nB,2", "csv", "csv_column", {"names": "text, content, body"}),
    ("a text without quotes", b"text\nfirst, second", "csv", "csv_ragged", {"row": 2}),
    ("a table of a header", b"text\n", "csv", "file_empty", {}),
    ("too much text", b"a" * (intake.MAX_CHARACTERS + 1), "txt", "too_long", {"limit": intake.MAX_CHARACTERS}),
    ("too much text of pages", build.essay_pdf(*[samples.HUMAN * 2] * 120), "pdf", "too_long",
     {"limit": intake.MAX_CHARACTERS}),
    ("too many bytes", b"a" * (MAX_FILE_BYTES + 1), "txt", "file_size", {"limit": MAX_FILE_BYTES}),
    ("nested elements", b"<div>" * 5_000 + b"x", "html", "html_nesting", {"limit": 2_000}),
]  # fmt: skip


@pytest.mark.parametrize(("data", "extension", "code", "values"), [case[1:] for case in BAD], ids=[c[0] for c in BAD])
def test_it_refuses(data: bytes, extension: str, code: str, values: dict[str, object]) -> None:
    refused = refusal(data, extension)
    assert refused.code == code
    assert values.items() <= refused.values.items()
    assert "%(" not in str(messages.message(refused))


def test_the_limits_as_people_read_them() -> None:
    assert "larger than 10 MB" in str(messages.message(Refused("file_size", limit=MAX_FILE_BYTES)))
    assert "200 pages" in str(messages.message(Refused("pdf_pages", limit=MAX_PDF_PAGES)))
    assert "is it a scan?" in str(messages.message(Refused("pdf_no_text")))

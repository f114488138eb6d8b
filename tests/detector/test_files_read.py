"""What is read of files that can be read: the same text as its reader sees, in every format, by the real child."""

import file_builders as build
import pytest
import samples

from detector import intake
from detector.files import runner
from detector.files.limits import Found
from gpujobs.pod.shared import prose

WORDS = "The quick survey of the old harbour took three weeks and two boats."


def read(data: bytes, extension: str) -> Found:
    answer = runner.run(data, extension, intake.MAX_CHARACTERS)
    found = Found(answer["kind"], hidden=answer["hidden"], notes=answer["notes"], encoding=answer["encoding"])
    found.parts = answer["parts"]
    return found


def text(data: bytes, extension: str) -> str:
    [[only, row]] = read(data, extension).parts
    assert row is None
    return str(only)


def on_one_line(text: str) -> str:
    return " ".join(text.split())


# --- Each format --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "extension", "kind"),
    [
        (build.essay_pdf(samples.HUMAN), "pdf", "pdf"),
        (build.essay_docx(samples.HUMAN), "docx", "docx"),
        (f"<!doctype html><p>{samples.HUMAN}</p>".encode(), "html", "html"),
        (samples.HUMAN.encode(), "txt", "text"),
        (samples.HUMAN.encode(), "md", "text"),
    ],
)
def test_it_reads_the_same_words_out_of_every_format(data: bytes, extension: str, kind: str) -> None:
    found = read(data, extension)
    assert found.kind == kind
    assert on_one_line(found.parts[0][0]) == on_one_line(samples.HUMAN)
    assert (found.hidden, found.notes, found.encoding) == ({}, [], "")


@pytest.mark.parametrize("extension", ["", "dat", "txt"])
def test_it_goes_by_content_and_not_by_name(extension: str) -> None:
    assert read(build.essay_pdf(WORDS), extension).kind == "pdf"
    assert read(build.essay_docx(WORDS), extension).kind == "docx"
    assert read(b"  <!DOCTYPE html><p>" + WORDS.encode(), extension).kind == "html"


def test_a_word_divided_at_a_line_end_of_a_pdf_is_whole_again() -> None:
    page = build.pdf(
        b"BT /F1 10 Tf 12 TL 50 700 Td (We looked at every exam-) Tj T* (ple that the archive holds.) Tj ET"
    )
    assert prose.read(text(page, "pdf")).text == "We looked at every example that the archive holds."


def test_a_sentence_goes_on_over_the_end_of_a_page() -> None:
    assert (
        text(build.essay_pdf("It began on a cold", "morning in March."), "pdf")
        == "It began on a cold\nmorning in March."
    )


def test_paragraphs_of_pdf_pages_stay_apart() -> None:
    assert text(build.essay_pdf("It ended.", "Then it began."), "pdf") == "It ended.\n\nThen it began."


def test_a_pdf_that_is_locked_against_changes_only_is_read() -> None:
    assert on_one_line(text(build.encrypted_pdf(WORDS, b""), "pdf")) == WORDS


def test_a_docx_has_what_the_finished_document_shows() -> None:
    data = build.docx_of(
        build.run("Seen "),
        "<w:ins>" + build.run("inserted") + "</w:ins>",
        "<w:sdt><w:sdtContent>" + build.run("in a control") + "</w:sdtContent></w:sdt>",
        '<w:pPr><w:numPr><w:ilvl w:val="0"/></w:numPr></w:pPr>' + build.run("an item"),
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>",
        '<w:r><w:instrText>PAGE</w:instrText></w:r><w:hyperlink w:anchor="x">' + build.run("a link") + "</w:hyperlink>",
    )
    assert text(data, "docx") == "Seen \n\ninserted\n\nin a control\n\n- an item\n\na\tb\nc\n\na link"


def test_tables_and_headings_of_a_docx_are_known_as_such() -> None:
    document = build.docx.Document()
    document.add_heading("On harbours", 2)
    table = document.add_table(2, 2)
    for cell, content in zip((c for row in table.rows for c in row.cells), "abcd", strict=True):
        cell.text = content
    document.add_paragraph(WORDS)
    assert text(build.saved(document), "docx") == f"## On harbours\n\na\tb\nc\td\n\n{WORDS}"


def test_an_essay_inside_a_table_for_the_layout_is_prose() -> None:
    document = build.docx.Document()
    document.add_table(1, 2).rows[0].cells[1].text = samples.HUMAN
    assert text(build.saved(document), "docx") == samples.HUMAN


def test_html_is_what_a_browser_shows() -> None:
    page = (
        "<title>no</title><script>no</script><h1>A head</h1><p>One <b>bold</b>\n  line<br>next"
        "<ul><li>a<li>b</ul><table><tr><td>1<td>2<tr><td>3<td>4</table><pre>x = 1\n  y</pre>"
        "<blockquote>said<p>so</blockquote>&iquest;S&iacute;?"
    )
    assert text(page.encode(), "html") == (
        "# A head\n\nOne bold line\nnext\n\n- a\n- b\n\n1\t2\n3\t4\n\n```\nx = 1\n  y\n```\n\n> said\n>\n> so\n\n¿Sí?"
    )


# --- What nobody sees ---------------------------------------------------------------------------------------


def test_hidden_text_of_a_pdf_is_left_out_and_counted() -> None:
    page = b" ".join(
        (
            build.shown(WORDS),
            build.shown("unseen", top=600).replace(b"BT", b"BT 3 Tr"),
            build.shown("white", top=550, before="1 g").replace(b"BT", b"BT 0 Tr"),
            build.shown("tiny", top=500, size=0.5, before="0 g"),
            build.shown("outside", top=2000),
        )
    )
    found = read(build.pdf(page), "pdf")
    assert on_one_line(found.parts[0][0]) == WORDS
    assert found.hidden == {"invisible": 6, "white": 5, "tiny": 4, "outside": 7}


def test_white_text_on_a_dark_ground_is_seen() -> None:
    page = build.shown(WORDS, before="0 0 0.4 rg 40 600 520 240 re f 1 1 1 rg")
    assert on_one_line(text(build.pdf(page), "pdf")) == WORDS


def test_hidden_text_of_a_docx_is_left_out_and_counted() -> None:
    styles = '<w:style w:type="character" w:styleId="Gone"><w:name w:val="Gone"/><w:rPr><w:vanish/></w:rPr></w:style>'
    data = build.docx_of(
        build.run("Seen.")
        + build.run("gone", "<w:vanish/>")
        + build.run("styled", '<w:rStyle w:val="Gone"/>')
        + build.run("white", '<w:color w:val="FFFFFF"/>')
        + build.run("tiny", '<w:sz w:val="2"/>')
        + "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        + build.run(" Not hidden.", '<w:vanish w:val="0"/>'),
        word__styles__xml=b"",
    )
    data = build.changed(data, {"word/styles.xml": f"<w:styles {build.W}>{styles}</w:styles>".encode()})
    found = read(data, "docx")
    assert found.parts[0][0] == "Seen. Not hidden."
    assert found.hidden == {"vanish": 10, "white": 5, "tiny": 4, "deleted": 7}


@pytest.mark.parametrize(
    "element",
    [
        "<p hidden>unseen</p>",
        "<p aria-hidden=true>unseen</p>",
        "<div style='display: none'><p>unseen</p></div>",
        "<p style='visibility:hidden'>unseen</p>",
        "<p style='font-size:0'>unseen</p>",
        "<p style='opacity:0'>unseen</p>",
        "<p style='position:absolute;left:-9999px'>unseen</p>",
        "<p style='color:#ffffff'>unseen</p>",
        "<style>/* x */ .a, p.trick { color: red; display:none }</style><p class=trick>unseen</p>",
    ],
)
def test_hidden_text_of_html_is_left_out_and_counted(element: str) -> None:
    found = read(f"<html><p>{WORDS}</p>{element}".encode(), "html")
    assert found.parts[0][0] == WORDS
    assert found.hidden == {"style": 6}


@pytest.mark.parametrize(
    "element",
    [
        "<p style='opacity:0.5'>seen</p>",
        "<div style='background:navy'><p style='color:white'>seen</p></div>",
        "<style>@media print { p { display:none } }</style><p>seen</p>",
    ],
)
def test_what_a_reader_of_html_does_see_stays(element: str) -> None:
    assert text(f"<html>{element}".encode(), "html") == "seen"


def test_macros_inside_a_docx_are_ignored_and_named() -> None:
    data = build.changed(build.essay_docx(WORDS), {"word/vbaProject.bin": b"\x00macro"})
    found = read(data, "docx")
    assert (found.parts[0][0], found.notes) == (WORDS, ["macros"])


# --- Encodings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_file_that_says_its_encoding_is_read_by_it(encoding: str) -> None:
    found = read(samples.SPANISH.encode(encoding), "txt")
    assert (found.parts[0][0], found.encoding) == (samples.SPANISH, "")


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman", "utf_16_le", "utf_16_be"])
def test_an_encoding_that_is_not_said_is_found_and_named(encoding: str) -> None:
    found = read(samples.SPANISH.encode(encoding), "txt")
    assert (found.parts[0][0], found.encoding) == (samples.SPANISH, encoding)


def test_a_web_page_says_its_encoding_itself() -> None:
    page = '<html><meta charset="ISO-8859-1"><p>Años — niñez'
    assert text(page.encode("cp1252"), "html") == "Años — niñez"


def test_line_ends_become_those_of_a_text_box() -> None:
    assert text(b"one\r\ntwo\rthree\n", "txt") == "one\ntwo\nthree\n"


# --- Tables of texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (build.csv_of('one, "two"', "three\nfour"), [['one, "two"', 2], ["three\nfour", 3]]),
        ("id;Texto\r\n1;hola, tú\r\n2;adiós\r\n".encode("cp1252"), [["hola, tú", 2], ["adiós", 3]]),
        (b"id\ttitle\tcontent\n1\tA\tone\n2\tB\t\n3\tC\tthree", [["one", 2], ["three", 4]]),
        (b'"The only column, without a name."\n"Another."', [["The only column, without a name.", 1], ["Another.", 2]]),
    ],
)
def test_each_row_of_a_csv_is_a_text(data: bytes, parts: list[list[object]]) -> None:
    found = read(data, "csv")
    assert (found.kind, found.parts) == ("csv", parts)

"""Files of packages become sections of paragraphs, without what is no running text."""

import gzip
import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from test_corpus_fetch import source

from gpujobs.pod.corpus.html import read_html, read_xml
from gpujobs.pod.corpus.plain import read_dict, read_mail, read_records, read_text
from gpujobs.pod.corpus.readers import documents
from gpujobs.pod.corpus.sources import SourceError


def tidy(sections: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    return [[" ".join(paragraph.split()) for paragraph in section if paragraph.strip()] for section in sections]


def test_it_parts_html_at_headings_and_leaves_code_out() -> None:
    page = b"""<body><nav>Next | Previous</nav><h1>One</h1><p>First <b>bold</b><br>line.</p><pre>x = 1</pre>
    <ul><li>An item <code>here</code>.</li></ul><h2>Two</h2><table><tr><td>Laid out<br>in a table</td></tr></table>"""
    assert tidy(read_html(page)) == [["First bold line.", "An item here."], ["Laid out", "in a table"]]


def test_it_reads_docbook_without_listings_and_fetches_no_entity(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    book = f"""<!DOCTYPE book [<!ENTITY inside SYSTEM "file://{tmp_path}/secret">]>
    <book><bookinfo><para>Legal.</para></bookinfo><section><title>T</title><para>Press <guimenu>File</guimenu>,
    &inside;please.</para><screen>ls</screen><itemizedlist><listitem><para>Item.</para></listitem></itemizedlist>
    </section></book>""".encode()
    assert tidy(read_xml(book)) == [["Press File, please.", "Item."]]


def test_it_reads_mallard() -> None:
    page = (
        b'<page xmlns="http://projectmallard.org/1.0/"><info><desc>D</desc></info><title>T</title><p>Text.</p></page>'
    )
    assert tidy(read_xml(page)) == [["Text."]]


@pytest.mark.parametrize("junk", [b"", b"   ", b"<!-- only a comment -->"])
def test_it_reads_nothing_where_nothing_is(junk: bytes) -> None:
    assert read_html(junk) == ()


def test_it_parts_plain_text_at_headings() -> None:
    text = "Title\n=====\n\nOne line\nand another.\n\n----\n\nA short heading\n\nThe divi-\nded word.\n"
    assert tidy(read_text(text)) == [["One line and another."], ["The divided word."]]


def test_it_takes_only_what_the_writer_of_a_mail_wrote() -> None:
    listing = "----\n$ git log\n\n+ a line\n----\n\n"
    mail = f"From: a\nDate: b\n\n> quoted\nMy answer is\nthis.\n\n{listing}Title\n----\n\nMore.\n\n-- \nSignature\n"
    assert tidy(read_mail(mail)) == [["My answer is this."], ["More."]]


def test_it_parts_records_and_entries() -> None:
    assert tidy(read_records("One.\n%\nTwo.\n\nThree.\n")) == [["One."], ["Two.", "Three."]]
    assert read_dict("word\n\n   Means this\n   and that.\n\n   More.\nnext\n\n   Other.\n") == [
        ("word", ("Means this\nand that.", "More.")),
        ("next", ("Other.",)),
    ]


def test_it_reads_the_files_that_the_globs_name_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"Text of b."))
    (tmp_path / "a.txt").write_text("Text of a.")
    (tmp_path / "c.txt").write_text("Text of c.")
    listed = replace(source("0" * 64), files=("*.txt", "*.gz"), exclude=("c.*",))
    assert [document.name for document in documents(listed, tmp_path)] == ["a.txt", "b.txt.gz"]
    with pytest.raises(SourceError, match="no file matches"):
        list(documents(replace(listed, files=("*.html",)), tmp_path))


def test_it_passes_over_files_younger_than_the_last_human_year(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("Date: Mon, 1 May 2006\n\nText.")
    (tmp_path / "new").write_text("Date: Mon, 1 May 2023\n\nText.")
    (tmp_path / "undated").write_text("Subject: none\n\nText.")
    listed = replace(source("0" * 64), reader="mail", year_pattern=r"Date:.*?(\d{4})")
    assert [document.name for document in documents(listed, tmp_path)] == ["old"]


def test_it_makes_one_document_of_the_rows_of_a_group(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "table.zip", "w") as packed:
        packed.writestr("t.csv", 'day,text\n1,"One, (Applause) two."\n2,Three.\n1,Four.\n')
    listed = replace(
        source("0" * 64),
        reader="table",
        text_column="text",
        group_columns=("day",),
        drop_pattern=r"\(Applause\) ",
    )
    found = {document.name: tidy(document.sections) for document in documents(listed, tmp_path)}
    assert found == {"table.zip#1": [["One, two."], ["Four."]], "table.zip#2": [["Three."]]}


def test_it_reads_tables_with_three_header_lines(tmp_path: Path) -> None:
    (tmp_path / "t.tab").write_text("Title\tContent\nstring\tstring\nmeta\tmeta\nA\tText.\n")
    listed = replace(source("0" * 64), reader="table", text_column="Content", group_columns=("Title",))
    assert [document.name for document in documents(listed, tmp_path)] == ["t.tab#A"]


def test_it_takes_dated_entries_and_drops_their_marks(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("old\n\n   A {link}.\n\n   (1999-01-01)\nnew\n\n   Text.\n\n   (2023-01-01)\n")
    listed = replace(source("0" * 64), reader="dict", year_pattern=r"\((\d{4})-", drop_pattern=r"\(\d{4}-\d\d-\d\d\)")
    (document,) = documents(listed, tmp_path)
    assert tidy(document.sections) == [["A link."]]


def test_it_refuses_a_reader_that_nobody_wrote(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no reader"):
        list(documents(replace(source("0" * 64), reader="pdf"), tmp_path))


def test_it_reads_a_bible_chapter_by_chapter(tmp_path: Path) -> None:
    sword = tmp_path / "usr" / "share" / "sword"
    texts = sword / "modules" / "tiny"
    for folder in (sword / "mods.d", texts):
        folder.mkdir(parents=True)
    (sword / "mods.d" / "tiny.conf").write_text(
        "[Tiny]\nDataPath=./modules/tiny/\nModDrv=RawText\nEncoding=UTF-8\nVersification=KJV\n"
    )
    verse = b"A verse of the book."
    for testament in ("ot", "nt"):
        (texts / testament).write_bytes(verse)
        (texts / f"{testament}.vss").write_bytes(struct.pack("<IH", 0, len(verse)) * 25_000)  # each verse is this one
    found = list(documents(replace(source("0" * 64), reader="sword"), tmp_path))
    assert found[0].name == "Genesis 1"
    assert found[-1].name == "Revelation of John 22"
    (section,) = found[0].sections
    assert " ".join(section) == " ".join([verse.decode()] * 31)

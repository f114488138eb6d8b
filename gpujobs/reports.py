"""The stored report of a model version: what was measured once, read back for the page that shows it. Never writes.

    find(version)   the report and the names of its plots, or None
    plot(version, name)   the file of one plot, or None

A report lies in REPORTS_FOLDER/<version>/: report.json and *.svg, written by the evaluation of gpujobs.pod. What can't
be read wholly is no report: half a report would show half a truth.
"""

import json
import logging
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

log = logging.getLogger(__name__)

FORMAT = 1
FILE = "report.json"
PLOT_SUFFIX = ".svg"
SECTIONS = (
    "model", "model_version", "calibration_version", "normaliser_version", "made", "default_max_fpr", "min_words",
    "data", "headline", "long", "baseline", "by", "caps", "roc", "reliability", "attacks", "form", "mixed", "writers",
    "unseen_people", "canon", "human_groups", "invariance", "speed", "leave_one_out",
)  # fmt: skip
REPORTS_KEPT = 4  # parsed reports in memory: the champion's, and a few that were it
# One step of a path, never a way out of the folder.
_STEP = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")


@dataclass(frozen=True, slots=True)
class Report:
    """version: of the model.  body: the file's bytes, as people download them.  figures: the same, parsed; shared
    between requests, so never changed.  plots: names without their suffix, in alphabetical order."""

    version: str
    body: bytes
    figures: dict[str, Any]
    plots: tuple[str, ...]


def find(version: str) -> Report | None:
    """The stored report of that model version; None where there is none, or none that can be read."""
    folder = _folder(version)
    if folder is None:
        return None
    try:
        changed = (folder / FILE).stat().st_mtime_ns, folder.stat().st_mtime_ns
        return _read(folder, version, changed)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        log.warning("report of model version %s can't be read: %s", version, error)
        return None


def plot(version: str, name: str) -> Path | None:
    """Where the plot of that name lies, or None."""
    folder = _folder(version)
    if folder is None or not _STEP.fullmatch(name):
        return None
    path = folder / f"{name}{PLOT_SUFFIX}"
    return path if path.is_file() else None


def _folder(version: str) -> Path | None:
    return settings.REPORTS_FOLDER / version if _STEP.fullmatch(version) else None


@lru_cache(maxsize=REPORTS_KEPT)
def _read(folder: Path, version: str, _changed: tuple[int, int]) -> Report:
    """Raises OSError, or ValueError for what is no report of this version in this format."""
    body = (folder / FILE).read_bytes()
    figures = json.loads(body)
    if not isinstance(figures, dict) or figures.get("format") != FORMAT:
        raise ValueError(f"not of format {FORMAT}")
    missing = [name for name in SECTIONS if name not in figures]
    if missing:
        raise ValueError(f"no {', '.join(missing)}")
    if figures["model_version"] != version:
        raise ValueError("it speaks of another model version")
    plots = sorted(path.stem for path in folder.glob(f"*{PLOT_SUFFIX}") if _STEP.fullmatch(path.stem))
    return Report(version, body, figures, tuple(plots))

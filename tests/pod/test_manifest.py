"""A model folder is whole and unchanged, or it isn't loaded."""

import json
import shutil
from pathlib import Path

import pytest

from gpujobs.pod import manifest

FOLDER = Path(manifest.__file__).parent / "shipped" / "inkcloak-small"
KEYS = {
    "format",
    "model",
    "model_version",
    "normaliser_version",
    "calibration_version",
    "files",
    "engine",
    "calibration",
    "base",
    "recipe",
    "data",
    "libraries",
    "licence",
    "min_words",
    "languages",
    "thresholds",
    "default_max_fpr",
    "rate_card",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "model"))


def test_it_reads_the_shipped_folder() -> None:
    found = manifest.read(FOLDER)
    assert set(found) == KEYS
    assert set(found["files"]) == {file.name for file in FOLDER.iterdir()} - {"manifest.json"}
    assert set(found["thresholds"]) == set(found["languages"])


@pytest.mark.parametrize("name", ["ngrams.npz", "README.md"])
def test_it_refuses_a_changed_file(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(manifest.ManifestError, match=name):
        manifest.read(folder)


def test_it_refuses_a_missing_file(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(manifest.ManifestError, match=r"tokenizer\.json"):
        manifest.read(folder)


def test_it_refuses_a_changed_threshold(folder: Path) -> None:
    path = folder / "manifest.json"
    found = json.loads(path.read_text())
    found["thresholds"]["en"]["0.01"]["document"] -= 0.1
    path.write_text(json.dumps(found))
    with pytest.raises(manifest.ManifestError, match="manifest has been changed"):
        manifest.read(folder)


def test_it_refuses_what_is_no_model_folder(tmp_path: Path) -> None:
    with pytest.raises(manifest.ManifestError, match=r"no manifest\.json"):
        manifest.read(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 2}')
    with pytest.raises(manifest.ManifestError, match="format 2"):
        manifest.read(tmp_path)


def test_it_picks_the_strictest_threshold_within_the_cap() -> None:
    table = {"0.005": {"document": 0.9, "window": 0.95}, "0.05": {"document": 0.6, "window": 0.7}}
    facts = {"thresholds": {"en": table}, "default_max_fpr": 0.05}
    assert manifest.thresholds(facts, "en").document == 0.6
    assert manifest.thresholds(facts, "en", 0.01).document == 0.9
    with pytest.raises(ValueError, match="smallest cap"):
        manifest.thresholds(facts, "en", 0.001)
    with pytest.raises(KeyError):
        manifest.thresholds(facts, "fr")


def test_it_holds_every_promised_cap_by_its_own_counts() -> None:
    for table in manifest.read(FOLDER)["thresholds"].values():
        for cap, entry in table.items():
            assert entry["human_k"] <= float(cap) * entry["human_n"]
            assert 0 < entry["document"] <= entry["window"] <= 1


def test_it_carries_a_rate_card_with_intervals() -> None:
    lines = manifest.read(FOLDER)["rate_card"]
    assert any(line["genre"] == "any" and line["language"] == "en" for line in lines)
    assert all(0 <= line["low"] <= line["k"] / line["n"] <= line["high"] <= 1 for line in lines)

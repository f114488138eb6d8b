"""The stored report of a model version: found whole or not at all, and never outside its folder."""

import json
import logging
import os
from pathlib import Path

import pytest
import stored_reports
from pytest_django import Settings

from gpujobs import reports

VERSION = "6019c4b70a3e"


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.REPORTS_FOLDER = tmp_path / "reports"
    return settings.REPORTS_FOLDER


def test_it_finds_the_report_with_the_names_of_its_drawings(folder: Path) -> None:
    place = stored_reports.store(folder, stored_reports.report(VERSION), ("roc", "length"))
    found = reports.find(VERSION)
    assert found is not None
    assert found.figures == stored_reports.report(VERSION)
    assert found.body == (place / "report.json").read_bytes()
    assert found.plots == ("length", "roc")


def test_it_finds_none_where_none_is_stored(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert reports.find(VERSION) is None
    (folder / VERSION).mkdir(parents=True)
    assert reports.find(VERSION) is None
    assert caplog.records == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "can't be read"),
        (b"\xff\xfe{}", "can't be read"),
        (b"[]", "not of format 1"),
        (b'{"format": 2}', "not of format 1"),
        (b'{"format": 1, "model": "x"}', "no model_version, calibration_version"),
    ],
)
def test_it_takes_no_report_that_is_not_whole(
    folder: Path, caplog: pytest.LogCaptureFixture, body: bytes, said: str
) -> None:
    place = stored_reports.store(folder, stored_reports.report(VERSION))
    (place / "report.json").write_bytes(body)
    with caplog.at_level(logging.WARNING):
        assert reports.find(VERSION) is None
    assert said in caplog.text


def test_it_takes_no_report_of_another_version(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = stored_reports.store(folder, stored_reports.report(VERSION))
    (place / "report.json").write_text(json.dumps(stored_reports.report("another")), encoding="utf-8")
    assert reports.find(VERSION) is None
    assert "another model version" in caplog.text


def test_it_reads_a_report_again_when_it_was_written_again(folder: Path) -> None:
    place = stored_reports.store(folder, stored_reports.report(VERSION))
    assert reports.find(VERSION) is reports.find(VERSION)
    stored_reports.store(folder, stored_reports.report(VERSION, made="2026-12-24"))
    os.utime(place / "report.json", ns=(1, 1))  # also where the clock is coarse
    found = reports.find(VERSION)
    assert found is not None
    assert found.figures["made"] == "2026-12-24"


@pytest.mark.parametrize("version", ["", "..", ".", "../secret", "a/b", "/etc", "a\x00b", ".hidden", "a..b"])
def test_it_never_leaves_its_folder(folder: Path, version: str) -> None:
    folder.mkdir()
    for place in (folder, folder.parent / "secret"):
        place.mkdir(exist_ok=True)
        (place / "report.json").write_text(json.dumps(stored_reports.report(version)), encoding="utf-8")
        (place / "roc.svg").write_text("<svg/>", encoding="utf-8")
    assert reports.find(version) is None
    assert reports.plot(version, "roc") is None


def test_it_knows_where_a_drawing_lies(folder: Path) -> None:
    place = stored_reports.store(folder, stored_reports.report(VERSION), ("human_groups",))
    assert reports.plot(VERSION, "human_groups") == place / "human_groups.svg"
    for name in ("roc", "../human_groups", "report.json", "", "human_groups.svg"):
        assert reports.plot(VERSION, name) is None

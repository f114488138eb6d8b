"""The contract doesn't change without an entry in its changelog, which is a page."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from inkcloak import docs_changelog, openapi
from inkcloak.docs_changelog import CHANGELOG, CONTRACT, Undocumented, entries, lines, stamp_of, stamped

BEFORE, MORE, LESS = ["a is 1", "b is 2"], ["a is 1", "b is 2", "c is 3"], ["a is 1"]
TEXT = f"# Changelog\n\nRules.\n\n## 2026-11-30: first\n\n- All of\n  it.\n\nContract: `{stamp_of(BEFORE)}`\n"
NEW = TEXT.replace("## 2026", "## 2026-12-01: more\n\n- New: `c`.\n\n## 2026")


def test_the_changelog_tells_of_the_contract_as_it_is() -> None:
    """When this fails, the API has changed: say so on top of docs/api-changelog.md, which also says how."""
    changed = sorted({*lines()} ^ {*docs_changelog.kept_lines()})
    assert changed == [], "make manage ARGS='api_contract --diff' shows what has changed"
    assert entries()[0].stamp == stamp_of(lines())


def test_every_entry_says_something_and_has_its_stamp() -> None:
    for entry in entries():
        assert entry.changes
        assert entry.stamp
    assert len({entry.stamp for entry in entries()}) == len(entries())


def test_an_entry_without_a_stamp_gets_the_contracts() -> None:
    text = stamped(NEW, BEFORE, MORE)
    assert [(entry.title, entry.changes, entry.stamp) for entry in entries(text)] == [
        ("2026-12-01: more", ("New: `c`.",), stamp_of(MORE)),
        ("2026-11-30: first", ("All of it.",), stamp_of(BEFORE)),
    ]
    assert stamped(text, MORE, MORE) == text
    assert text.replace(f"Contract: `{stamp_of(MORE)}`\n\n", "") == NEW


@pytest.mark.parametrize(
    ("text", "now", "why"),
    [
        (TEXT, MORE, "in an entry without a stamp"),
        (NEW.replace("- New: `c`.\n\n", ""), MORE, "says nothing"),
        (NEW, LESS, "b is 2"),
    ],
)
def test_a_change_that_nobody_told_of_is_refused(text: str, now: list[str], why: str) -> None:
    with pytest.raises(Undocumented, match=why):
        stamped(text, BEFORE, now)


def test_what_breaks_clients_must_be_called_so() -> None:
    breaking = NEW.replace("- New: `c`", "- **Breaking** from June on: no `b`")
    assert entries(stamped(breaking, BEFORE, LESS))[0].stamp == stamp_of(LESS)
    assert entries(stamped(NEW, BEFORE, LESS, compatible=True))[0].stamp == stamp_of(LESS)


def test_the_command_writes_both_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("inkcloak.docs_changelog", "inkcloak.management.commands.api_contract"):
        monkeypatch.setattr(f"{module}.CHANGELOG", tmp_path / CHANGELOG.name)
        monkeypatch.setattr(f"{module}.CONTRACT", tmp_path / CONTRACT.name)
    log, kept = tmp_path / CHANGELOG.name, tmp_path / CONTRACT.name
    log.write_text(TEXT)
    with pytest.raises(CommandError, match="without a stamp"):
        call_command("api_contract")
    assert (log.read_text(), kept.exists()) == (TEXT, False)
    log.write_text(NEW)
    call_command("api_contract")
    assert entries(log.read_text())[0].stamp == stamp_of(lines())
    assert kept.read_text().splitlines() == lines()


def test_a_line_tells_of_fields_limits_values_statuses_and_errors() -> None:
    found = set(lines())
    assert {
        "POST /api/v1/detections is create_detection",
        "POST /api/v1/detections 409",
        "POST /api/v1/detections body text: string, minLength 1, maxLength 100000, required",
        'GET /api/v1/detections/{detection_id} 200 verdict may be "ai"',
        "GET /api/v1/detections/{detection_id} 200 segments[].start: integer, required",
        "webhook detection.completed data.id: string (uuid), required",
        "error rate_limited: 429",
    } <= found


def test_words_for_people_are_no_part_of_it() -> None:
    contract = dict(openapi.contract())
    contract["paths"] = {
        path: {method: operation | {"summary": "x", "description": "y"} for method, operation in item.items()}
        for path, item in contract["paths"].items()
    }
    assert lines(contract) == lines()


def test_the_page_shows_every_entry(client: Client, db: None) -> None:
    page = client.get("/api/docs/changelog/", headers={"Accept-Language": "en"}).content.decode()
    for entry in entries():
        assert entry.title in page
        assert entry.stamp in page
    assert page.count("<li>") >= sum(len(entry.changes) for entry in entries())
    assert "<code>" in page

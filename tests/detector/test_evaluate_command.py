"""`manage.py evaluate`: what the product says of a labelled file. Scored by the shipped model itself."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import samples
import zstandard
from django.core.management import CommandError, call_command

from detector.models import Submission
from gpujobs.models import ModelVersion

RECORDS = [
    {"text": samples.HUMAN, "label": "human", "source": "novel", "language": "en", "generator": "human"},
    {"text": samples.AI, "label": "ai", "source": "essay", "language": "en", "generator": "one"},
    {"text": samples.SPANISH, "label": "human", "source": "novel", "language": "es", "generator": "human"},
    {"text": samples.SHORT, "label": "human", "source": "note", "language": "en"},
    {"text": "", "label": "ai", "source": "note", "language": "en", "generator": "one"},
]
OVERALL = {"n", "auroc", "tpr_at_fpr_1", "tpr_at_fpr_5", "fpr", "tpr", "insufficient", "ece", "brier", "texts_per_s"}

pytestmark = pytest.mark.usefixtures("shipped")


def write(path: Path, records: list[Any]) -> Path:
    data = "\n".join(json.dumps(record) for record in records).encode()
    path.write_bytes(zstandard.compress(data) if path.suffix == ".zst" else data)
    return path


def evaluate(path: Path, *arguments: str) -> str:
    said = io.StringIO()
    call_command("evaluate", str(path), *arguments, stdout=said)
    return said.getvalue()


def report(path: Path, *arguments: str) -> dict[str, Any]:
    return json.loads(evaluate(path, "--json", *arguments))


@pytest.mark.parametrize("name", ["records.jsonl", "records.jsonl.zst"])
def test_it_prints_one_object_with_every_figure(tmp_path: Path, name: str, capsys: pytest.CaptureFixture) -> None:
    found = report(write(tmp_path / name, RECORDS))
    assert found.keys() == {"overall", "by"}
    assert found["overall"].keys() >= OVERALL
    assert found["by"] == {}
    overall = found["overall"]
    assert overall["n"] == 5
    assert overall["insufficient"] == 0.4, "the short one and the empty one"
    assert (overall["human_n"], overall["ai_n"]) == (2, 1)
    assert overall["tpr_at_fpr_1"] is None, "two human texts are too few"
    assert overall["texts_per_s"] > 0
    assert "texts" in capsys.readouterr().err, "progress goes to standard error"


def test_it_slices_by_fields(tmp_path: Path) -> None:
    by = report(write(tmp_path / "r.jsonl", RECORDS), "--by", "source,generator,attack")["by"]
    assert {value: group["n"] for value, group in by["source"].items()} == {"novel": 2, "essay": 1, "note": 2}
    assert {value: group["n"] for value, group in by["generator"].items()} == {"human": 2, "one": 2, "-": 1}
    assert by["attack"].keys() == {"-"}
    assert by["source"]["note"]["insufficient"] == 1.0
    assert by["source"]["novel"]["fpr_interval"][0] >= 0


def test_it_scores_only_the_first_records(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", RECORDS)
    path.write_text("\n\n" + path.read_text())  # empty lines are no records
    assert report(path, "--limit", "2")["overall"]["n"] == 2


@pytest.mark.parametrize("limit", ["0", "-1", "x"])
def test_it_refuses_a_limit_that_is_none(tmp_path: Path, limit: str) -> None:
    with pytest.raises(CommandError, match="--limit"):
        report(write(tmp_path / "r.jsonl", RECORDS), "--limit", limit)


def test_it_prints_a_table_for_people(tmp_path: Path) -> None:
    said = evaluate(write(tmp_path / "r.jsonl", RECORDS), "--by", "language")
    assert said.splitlines()[0].split()[0] == "slice"
    assert [line.split()[0] for line in said.splitlines()[1:4]] == ["all", "language=en", "language=es"]
    assert said.splitlines()[-1].endswith("texts/s")


def test_it_leaves_no_row_of_a_corpus(tmp_path: Path) -> None:
    report(write(tmp_path / "r.jsonl", RECORDS))
    assert not Submission.objects.exists()


def test_it_reads_an_empty_file(tmp_path: Path) -> None:
    assert report(write(tmp_path / "r.jsonl", []))["overall"]["n"] == 0


def test_it_reads_a_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", RECORDS[:1])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert report(path)["overall"]["n"] == 1


def test_it_scores_characters_that_postgres_would_refuse(tmp_path: Path) -> None:
    strange = {"text": "\x00\ud800" + samples.AI, "label": "ai"}
    assert report(write(tmp_path / "r.jsonl", [strange]))["overall"]["insufficient"] == 0.0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"text": "planted words", "label"', "line 1 is not JSON"),
        (b'{"text": "a", "label": "ai"}\n["planted words"]\n', "line 2 has no `text`"),
        (b'{"label": "ai"}', "line 1 has no `text`"),
        (b'{"text": 7, "label": "ai"}', "line 1 has no `text`"),
        (b'{"text": "planted words"}', "line 1: `label` must be human or ai"),
        (b'{"text": "planted words", "label": "robot"}', "line 1: `label` must be human or ai"),
        ('{"text": "año", "label": "ai"}'.encode("latin-1"), "is not UTF-8"),
    ],
)
def test_it_says_what_is_wrong_with_a_file(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(CommandError, match=said) as refused:
        report(path)
    assert "planted" not in str(refused.value)


def test_it_says_when_the_file_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        report(tmp_path / "nowhere.jsonl")


def test_it_says_when_an_archive_is_none(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl.zst"
    path.write_bytes(json.dumps(RECORDS[0]).encode())
    with pytest.raises(CommandError, match="is no zstd file"):
        report(path)


def test_it_measures_the_version_that_was_named(tmp_path: Path, shipped: ModelVersion) -> None:
    path = write(tmp_path / "r.jsonl", RECORDS[:1])
    assert report(path, "--model", shipped.pk)["overall"]["n"] == 1
    with pytest.raises(CommandError, match="no model version nowhere"):
        report(path, "--model", "nowhere")

"""`manage.py check_text`: the same way as the page, one JSON object, and the text is forgotten afterwards."""

import io
import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import factories
import pytest
import samples
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from billing.models import Account, Meter
from detector import dispatch
from detector.models import Submission
from gpujobs.backends import BackendError
from gpujobs.models import GpuRun

pytestmark = pytest.mark.django_db(transaction=True)

KEYS = {
    "verdict",
    "reason",
    "confidence",
    "probability",
    "ai_fraction",
    "segments",
    "cleaned",
    "left_out",
    "rate_card",
    "max_fpr",
    "language",
    "words",
    "characters",
    "scored_characters",
    "tier",
    "degraded",
    "model",
    "model_version",
    "normaliser_version",
    "calibration_version",
}


class Worker:
    """Scores whatever waits, in a thread, as a worker process does."""

    def __init__(self) -> None:
        self.backend = factories.ScriptedBackend(0.99)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        while not self._ended.is_set():
            if not dispatch.next_batch(now=timezone.now(), backend=self.backend):
                time.sleep(0.02)
        connection.close()

    def end(self) -> None:
        self._ended.set()
        self._thread.join(factories.PATIENCE_SECONDS)


@pytest.fixture
def worker() -> Iterator[Worker]:
    factories.champion()
    made = Worker()
    yield made
    made.end()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(samples.MIXED, encoding="utf-8")
    return path


def check(*arguments: object) -> str:
    said = io.StringIO()
    call_command("check_text", *map(str, arguments), stdout=said)
    return said.getvalue()


def answer(*arguments: object) -> dict:
    return json.loads(check("--json", *arguments))


@pytest.mark.usefixtures("worker")
def test_it_prints_one_json_object(file: Path) -> None:
    found = answer(file)
    assert found.keys() == KEYS
    assert (found["verdict"], found["probability"], found["ai_fraction"]) == ("ai", 0.99, 1.0)
    assert (found["confidence"], found["reason"], found["max_fpr"], found["tier"]) == ("high", None, 0.01, "cpu")
    assert (found["language"], found["characters"]) == ("en", len(samples.MIXED))
    assert [part["kind"] for part in found["left_out"]] == ["code"]
    assert {cleaned["kind"] for cleaned in found["cleaned"]} >= {"invisible"}
    assert found["segments"][0].keys() == {"start", "end", "label", "probability"}
    marked = sum(segment["end"] - segment["start"] for segment in found["segments"])
    assert marked == found["scored_characters"]
    assert (found["model"], found["model_version"]) == ("inkcloak-test", "test-version-1")
    assert found["calibration_version"] == "1"


@pytest.mark.usefixtures("worker")
def test_it_forgets_the_text_and_charges_nobody(file: Path) -> None:
    answer(file)
    assert not Submission.objects.exists()
    assert GpuRun.objects.get().result is None
    assert Account.objects.get().internal
    assert Meter.objects.get().holder == f"account:{Account.objects.get().pk}"


@pytest.mark.usefixtures("worker")
def test_it_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in ((), ("-",)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(samples.HUMAN.encode())))
        assert answer(*arguments)["characters"] == len(samples.HUMAN)


@pytest.mark.usefixtures("worker")
def test_it_tells_people_what_to_make_of_it(file: Path) -> None:
    said = check(file)
    assert "verdict: ai" in said
    assert "probability that the text is AI: 99.0%" in said
    assert "share of the scored text marked AI: 100.0%" in said
    assert "left out: code" in said
    assert "must not be the only basis" in said


@pytest.mark.usefixtures("worker")
def test_it_says_when_there_is_not_enough(tmp_path: Path) -> None:
    path = tmp_path / "short.txt"
    path.write_text(samples.SHORT)
    found = answer(path)
    assert found.keys() == KEYS
    assert (found["verdict"], found["reason"]) == ("insufficient", "too_short")
    assert (found["probability"], found["ai_fraction"], found["confidence"]) == (None, None, None)
    assert "insufficient (too_short)" in check(path)


@pytest.mark.usefixtures("worker")
def test_it_takes_another_cap(file: Path, worker: Worker) -> None:
    worker.backend.probability = 0.8
    assert answer(file)["verdict"] == "human"
    found = answer(file, "--max-fpr", "0.05")
    assert (found["verdict"], found["max_fpr"]) == ("ai", 0.05)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("año ".encode("latin-1") * 100, "bad_encoding"),
        (b"", "empty"),
        (b" \n ", "empty"),
        (b"word " * 20_001, "too_long"),
        (b"x" * 500_000, "too_long"),
    ],
    ids=["latin-1", "empty", "spaces", "too many characters", "too many bytes"],
)
def test_it_refuses_a_bad_file_by_name(tmp_path: Path, content: bytes, said: str) -> None:
    factories.champion()
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(CommandError, match=f"^{said}: "):
        check(path)
    assert not Submission.objects.exists()


def test_it_refuses_what_is_no_file(tmp_path: Path) -> None:
    factories.champion()
    for path in (tmp_path / "nowhere.txt", tmp_path):
        with pytest.raises(CommandError, match="cannot read"):
            check(path)


def test_it_refuses_an_unknown_cap(file: Path) -> None:
    factories.champion()
    with pytest.raises(CommandError, match=r"unknown_max_fpr: .*0\.005, 0\.01, 0\.05"):
        check(file, "--max-fpr", "0.3")


def test_it_says_when_no_model_is_in_service(file: Path) -> None:
    with pytest.raises(CommandError, match="no_model"):
        check(file)


def test_it_says_when_no_worker_runs_and_leaves_nothing(file: Path) -> None:
    factories.champion()
    with pytest.raises(CommandError, match=r"no verdict within 0\.3 s: does a worker run"):
        check(file, "--wait", "0.3")
    assert not Submission.objects.exists()
    assert Meter.objects.get().held == 0


def test_it_says_when_scoring_failed_and_leaves_nothing(file: Path, worker: Worker) -> None:
    worker.backend.script.extend([BackendError("gpu_gone", permanent=False)] * 3)
    with pytest.raises(CommandError, match="failed: gpu_gone; nothing was charged"):
        check(file)
    assert not Submission.objects.exists()
    assert (Meter.objects.get().used, Meter.objects.get().held) == (0, 0)

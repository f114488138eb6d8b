"""The process that parses: what it has given up, what its parent does when it goes wrong, and bytes at random."""

import os
import subprocess
import sys
import time
from pathlib import Path

import file_builders as build
import pytest
import samples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from detector.files import child, kinds, messages, runner
from detector.files.limits import MAX_ANSWER_BYTES, MEMORY_BYTES, Refused

LIMIT = 100_000
ROOT = Path(__file__).resolve().parents[2]
SEEDS = [
    build.essay_pdf(samples.HUMAN),
    build.essay_docx(samples.HUMAN),
    build.csv_of(samples.HUMAN, samples.AI),
    f"<!doctype html><style>p{{display:none}}</style><table><tr><td>{samples.SHORT}".encode(),
    samples.SPANISH.encode("cp1252"),
]


def in_a_child(code: str) -> str:
    """What the code prints in a process that has given up what the parser gives up."""
    program = f"from detector.files import child\nchild.limit()\n{code}"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    return (done.stdout + done.stderr.strip().rpartition("\n")[2]).strip()


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket()",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.fork()",
        "import os; os.system('true')",
        "open('/tmp/inkcloak-written', 'w')",
        "import os; os.open('/tmp/inkcloak-written', os.O_WRONLY | os.O_CREAT)",
        "import os; os.remove('/etc/hostname')",
    ],
)
def test_it_may_not(code: str) -> None:
    assert "PermissionError" in in_a_child(code)


def test_its_memory_is_limited_and_it_leaves_no_core() -> None:
    assert "MemoryError" in in_a_child(f"bytes({MEMORY_BYTES})")
    assert in_a_child("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))") == "(0, 0)"


def test_it_loads_no_django_and_only_the_parser_of_its_kind() -> None:
    code = (
        "import sys; child.answer_to(b'hello there, world', 'txt', 100); "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & "
        "{'django', 'pdfminer', 'docx', 'selectolax', 'billing', 'gpujobs', 'inkcloak', 'detector'}))"
    )
    assert in_a_child(code) == "['detector']"


def test_it_inherits_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen from outside, in the environment of the process that the parent starts."""
    monkeypatch.setenv("SECRET_KEY", "not-for-parsers")
    seen: list[dict[str, str]] = []
    real = subprocess.Popen

    def started(*arguments: object, **options: object) -> object:
        seen.append(dict(options["env"]))  # type: ignore[call-overload]
        return real(*arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(runner.subprocess, "Popen", started)
    runner.run(b"hello there", "txt", LIMIT)
    assert set(seen[0]) == {"PYTHONPATH", "PYTHONUTF8", "PYTHONHASHSEED"}
    assert "SECRET_KEY" in os.environ


def test_it_is_killed_when_its_time_is_over() -> None:
    began = time.monotonic()
    with pytest.raises(Refused) as caught:
        runner.run(b"<div>" * 100_000, "html", LIMIT, seconds=0.5)
    assert caught.value.code == "file_too_slow"
    assert time.monotonic() - began < 10


def test_ten_megabytes_go_through_both_pipes() -> None:
    row = ("é" * 5_000).encode()
    data = b"text\n" + b"\n".join([row] * 1_000)
    answer = runner.run(data, "csv", LIMIT)
    assert len(answer["parts"]) == 1_000
    assert all(text == "é" * 5_000 for text, _row in answer["parts"])


def test_a_lone_surrogate_breaks_nothing() -> None:
    with pytest.raises(Refused):
        runner.run(b"\xff\xfe" + "a\ud800b".encode("utf-16-le", "surrogatepass"), "txt", LIMIT)
    assert runner.run(b"<html>&#xD800;x", "html", LIMIT)["parts"] == [["\ufffdx", None]]


# --- At random ----------------------------------------------------------------------------------------------


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good file with bytes changed, cut out or put in."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.sampled_from(["change", "cut", "insert", "double"])):
            case "change":
                data[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case "cut":
                del data[at : at + draw(st.integers(1, 400))]
            case "insert":
                data[at:at] = draw(st.binary(min_size=1, max_size=40))
            case "double":
                data[at:at] = data[at : at + 200]
    return bytes(data)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=damaged() | st.binary(max_size=300), extension=st.sampled_from(["", "pdf", "docx", "html", "csv", "txt"]))
def test_whatever_it_is_given_it_answers(data: bytes, extension: str) -> None:
    answer = child.answer_to(data, extension, LIMIT)
    if "error" in answer:
        assert answer["error"] in messages.MESSAGES
        assert "%(" not in str(messages.message(Refused(answer["error"], **answer["values"])))
    else:
        assert answer["kind"] in (kinds.PDF, kinds.DOCX, kinds.HTML, kinds.CSV, kinds.TEXT)
        assert all(text.strip() for text, _row in answer["parts"])
        assert set(answer["hidden"]) <= set(messages.HIDDEN)
        assert set(answer["notes"]) <= set(messages.NOTES)


def test_an_answer_has_room_for_every_file() -> None:
    """UTF-8 writes a character that took one byte in at most three, and JSON escapes few of them."""
    assert MAX_ANSWER_BYTES >= 4 * 10 * 1024 * 1024

"""What a container's health check says of a process that does not answer as it should."""

import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from devstack import ports
from inkcloak import alive


class Refusing(http.server.BaseHTTPRequestHandler):
    """Answers 503 and remembers by which name it was asked."""

    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.headers["Host"])
        self.send_response(503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def refusing() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_it_asks_the_web_process_by_a_name_that_it_answers_to(
    monkeypatch: pytest.MonkeyPatch, refusing: int, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", "inkcloak.example,other.example")
    assert alive.main(["web", str(refusing)]) == 1
    assert capsys.readouterr().err == "answers 503\n"
    assert Refusing.asked[-1] == "inkcloak.example"


def test_it_notices_that_nobody_listens() -> None:
    assert alive.web(str(ports.free_port())).startswith("no answer: ")


def test_it_notices_that_the_broker_is_away_and_keeps_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", f"redis://:hunter2@127.0.0.1:{ports.free_port()}/0")
    said = alive.worker("score")
    assert said.startswith("no broker: ")
    assert "hunter2" not in said


def test_it_notices_that_beat_stands_still(tmp_path: Path) -> None:
    clock = tmp_path / "beat-schedule"
    assert alive.beat(str(clock)) == "its clock stands still"
    (tmp_path / "beat-schedule.db").touch()  # as some libraries name it
    assert alive.beat(str(clock)) == ""
    os.utime(tmp_path / "beat-schedule.db", (0, 0))
    assert alive.beat(str(clock)) == "its clock stands still"


@pytest.mark.parametrize("words", [[], ["web"], ["cache", "x"], ["web", "1", "2"]])
def test_it_says_how_it_is_used(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert alive.main(words) == 1
    assert capsys.readouterr().err == "usage: python -m inkcloak.alive web|worker|beat NAME\n"

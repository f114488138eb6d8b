"""The command: what it prints where, how it ends, and what it keeps of a key. The service is the running application,
which answers test keys with made-up verdicts."""

import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from django.utils import timezone, translation
from pytest_django.live_server_helper import LiveServer

from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User
from detector.views import story
from inkcloak.client import printing, reports
from inkcloak.client.cli import Exit, app, main

SEED = reports.new_seed()
REPORT = {"issued_at": "2026-06-15T12:00:00+00:00", "verdict": "ai", "probability": 0.98, "title": "\x1b[2J"}


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ended]


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a past."""
    for name in ("INKCLOAK_API_KEY", "INKCLOAK_URL", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "config"
    monkeypatch.setenv("INKCLOAK_CONFIG_DIR", str(place))
    (tmp_path / "texts").mkdir()
    monkeypatch.chdir(tmp_path / "texts")
    return place


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def running(*arguments: str, stdin: str = "") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        status = main(arguments)
        out, err = capsys.readouterr()
        return Ended(status, out, err)

    return running


@pytest.fixture
def token(alice: User) -> str:
    issued = keys.issue(account=account_of(alice), name="command", scopes=Scope.values, now=timezone.now(), live=False)
    return issued.token


@pytest.fixture
def service(live_server: LiveServer, token: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a service that knows our key."""
    monkeypatch.setenv("INKCLOAK_URL", live_server.url)
    monkeypatch.setenv("INKCLOAK_API_KEY", token)
    return live_server.url


def write(**texts: str) -> None:
    for name, text in texts.items():
        Path(f"{name}.txt").write_text(text)


# --- check ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("service")
def test_one_text_is_told_with_care_and_in_full(run: Run) -> None:
    ended = run("check", stdin="inkcloak-test:mixed")
    assert ended.status == 0
    assert "standard input: Parts are likely AI-written" in ended.out
    for part in ("55.0%", "confidence: medium", "40.0%", "4 of 800 were flagged", "0-240", "0 words charged"):
        assert part in ended.out
    assert "\x1b" not in ended.out, "colours are for terminals"
    assert printing.CAUTION in ended.err
    assert "written by" not in (ended.out + ended.err).lower()


@pytest.mark.usefixtures("service")
def test_many_texts_get_a_line_each(run: Run) -> None:
    write(a="inkcloak-test:ai", b="inkcloak-test:human", c="inkcloak-test:human_unsure", d="inkcloak-test:too_short")
    ended = run("check", ".")
    assert ended.status == 0
    _heading, *lines = [line.split("  ") for line in ended.out.splitlines()]
    assert [line[-1].strip() for line in lines] == ["a.txt", "b.txt", "c.txt", "d.txt"]
    said = [line[0] for line in lines]
    assert said == [
        "Likely AI-written",
        "No sign of AI writing found",
        "No clear sign of AI writing",
        "Not enough to judge",
    ]
    assert "1 ai, 2 human, 1 insufficient." in ended.err


@pytest.mark.usefixtures("service")
def test_json_is_one_object_a_line(run: Run) -> None:
    write(a="inkcloak-test:ai", b="inkcloak-test:too_long")
    Path("t.csv").write_text("id,text\n1,inkcloak-test:human and more\n2,inkcloak-test:mixed and more\n")
    ended = run("check", "--json", "a.txt", "b.txt", "t.csv")
    lines = ended.lines()
    assert [(line["name"], line["row"]) for line in lines] == [
        ("a.txt", None),
        ("b.txt", None),
        ("t.csv", 2),
        ("t.csv", 3),
    ]
    assert [line["detection"] and line["detection"]["verdict"] for line in lines] == ["ai", None, "human", "mixed"]
    assert lines[1]["problem"]["code"] == "too_long"
    assert lines[0]["problem"] is None
    assert ended.status == 3


@pytest.mark.parametrize(
    ("texts", "limit", "status"),
    [
        (["ai", "human"], "0.9", 1),
        (["ai", "human"], "0.99", 0),
        (["human"], "0.9", 0),
        (["human"], "0.01", 1),
        (["too_short"], "0", 0),
        (["ai", "check_failed"], "0.9", 1),
        (["human", "check_failed"], "0.9", 3),
        (["human", "file_empty"], "0.9", 3),
        (["queued"], "0.9", 3),
    ],
)
@pytest.mark.usefixtures("service")
def test_its_end_tells_a_pipeline_what_was_found(run: Run, texts: list[str], limit: str, status: int) -> None:
    write(**{name: f"inkcloak-test:{name}" for name in texts})
    ended = run("check", "--fail-over", limit, "--wait", "1", *(f"{name}.txt" for name in texts))
    assert ended.status == status, ended
    assert ("Over 0.9" in ended.err) == (status == 1 and limit == "0.9")


@pytest.mark.usefixtures("service")
def test_what_cannot_be_read_takes_nothing_with_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="inkcloak-test:ai", b="x")
    Path("c.pdf").write_bytes(b"\x89PNG\r\n" + bytes(99))
    read = Path.read_bytes

    def reading(path: Path) -> bytes:
        if path.name == "b.txt":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", reading)
    ended = run("check", "a.txt", "b.txt", "c.pdf")
    assert ended.status == 3
    assert "a.txt" in ended.out
    assert "b.txt: can't be read: Permission denied" in ended.err
    assert "c.pdf: " in ended.err
    assert "(file_type, request req_" in ended.err


@pytest.mark.usefixtures("service")
def test_names_cannot_speak_to_the_terminal(run: Run) -> None:
    Path("\x1b[2J.txt").write_text("inkcloak-test:ai")
    ended = run("check", ".")
    assert "\x1b" not in ended.out
    assert "\N{REPLACEMENT CHARACTER}[2J.txt" in ended.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "none.txt"],
        ["check", "--fail-over", "2", "-"],
        ["check", "--max-fpr", "0", "-"],
        ["check", "--nonsense"],
        ["nonsense"],
        ["--url", "ftp://x", "check", "-"],
        ["verify"],
        ["verify", "none.json"],
    ],
)
@pytest.mark.usefixtures("service")
def test_called_wrongly_it_ends_with_2(run: Run, arguments: list[str]) -> None:
    ended = run(*arguments, stdin="inkcloak-test:ai")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err


def test_without_a_key_it_says_how_to_get_one(run: Run) -> None:
    ended = run("check", "-", stdin="text")
    assert ended.status == 2
    assert "inkcloak login" in ended.err


def test_a_refused_key_is_told_once_for_each_text(run: Run, service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INKCLOAK_API_KEY", "ink_live_wrong")
    write(**{f"t{n}": "text" for n in range(60)})
    ended = run("check", ".")
    assert ended.status == 3
    assert ended.err.count("malformed_key") == 20
    assert "and 40 more" in ended.err


def test_the_words_are_those_of_the_pages() -> None:
    with translation.override("en"):
        assert {name: str(words) for name, words in story.HEADLINES.items()} == printing.HEADLINES
        assert str(story.HUMAN_BUT_NEAR) == printing.HUMAN_BUT_NEAR
        assert {str(reason) for reason in story.REASONS} == set(printing.REASONS)


def test_a_reader_that_goes_away_is_no_finding(service: str) -> None:
    for n in range(40):
        Path(f"{n}.txt").write_text("inkcloak-test:ai")
    code = "import sys; from inkcloak.client.cli import Exit, app, main; sys.exit(main(['check', '--json', '.']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 141


def test_the_page_about_it_names_every_option_and_every_end() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "client.md").read_text(encoding="utf-8")
    options = [
        option.opts[0] for command in app.commands.values() for option in command.params if option.opts[0][0] == "-"
    ]
    assert [name for name in (*options, *(f"inkcloak {name}" for name in app.commands)) if name not in page] == []
    assert [end for end in Exit if str(int(end)) not in page[page.index("| exit status") :]] == []


# --- login, usage --------------------------------------------------------------------------------------------


def test_a_key_is_kept_for_its_owner_alone_and_its_service_alone(
    run: Run, live_server: LiveServer, token: str, config: Path
) -> None:
    ended = run("--url", live_server.url, "login", stdin=f"{token}\n")
    assert ended.status == 0, ended.err
    kept = config / "config.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.stat().st_mode) == 0o700
    assert token not in ended.out + ended.err
    assert run("check", "-", stdin="inkcloak-test:ai").status == 0, "the service is remembered too"
    assert run("--url", "http://127.0.0.1:9", "check", "-", stdin="inkcloak-test:ai").status == 2
    kept.chmod(0o644)
    assert "Others can read" in run("usage").err
    assert run("logout").status == 0
    assert run("usage").status == 2
    assert token not in kept.read_text()


def test_a_key_that_does_not_work_is_not_kept(run: Run, live_server: LiveServer, config: Path) -> None:
    ended = run("--url", live_server.url, "login", stdin="ink_live_wrong\n")
    assert (ended.status, config.exists()) == (3, False)
    assert "malformed_key" in ended.err
    assert run("--url", live_server.url, "login", stdin="\n").status == 2


def test_a_key_that_may_only_check_is_kept(run: Run, live_server: LiveServer, alice: User) -> None:
    account = account_of(alice)
    issued = keys.issue(account=account, name="ci", scopes=[Scope.CHECKS_WRITE], now=timezone.now(), live=False)
    assert run("--url", live_server.url, "login", stdin=issued.token).status == 0
    ended = run("check", "--json", "-", stdin="inkcloak-test:ai")
    assert (ended.status, ended.lines()[0]["detection"]["verdict"]) == (0, "ai")


@pytest.mark.usefixtures("service")
def test_the_environment_wins(run: Run, config: Path) -> None:
    config.mkdir()
    (config / "config.json").write_text(json.dumps({"url": "http://127.0.0.1:9/api/v1", "keys": {}}))
    assert run("usage").status == 0


@pytest.mark.usefixtures("service")
def test_usage_says_what_is_left(run: Run) -> None:
    ended = run("usage")
    assert "left of" in ended.out
    assert "test key" in ended.out
    assert run("usage", "--json").lines()[0]["words"]["used"] == 0


@pytest.mark.usefixtures("config")
def test_a_key_over_plain_http_is_warned_of(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INKCLOAK_API_KEY", "ink_live_x")
    assert "not encrypted" in run("--url", "http://service.example", "check", "none.txt").err


# --- verify --------------------------------------------------------------------------------------------------


def signed(name: str = "report.json", **changes: object) -> str:
    document = reports.sign(REPORT, SEED)
    document["report"] |= changes
    Path(name).write_text(json.dumps(document))
    return name


def published(seed: str = SEED, **limits: datetime) -> str:
    Path("keys.json").write_text(json.dumps({"keys": [reports.public_key(seed, **limits).as_json()]}))
    return "keys.json"


def test_a_good_report_is_told_from_a_changed_one(run: Run) -> None:
    ended = run("verify", signed(), "--keys", published())
    assert ended.status == 0
    assert "the signature is good" in ended.out
    assert "0.98" in ended.out
    assert "\x1b" not in ended.out
    bad = run("verify", "report.json", signed("bad.json", verdict="human"), "--keys", "keys.json")
    assert bad.status == 1
    assert "bad.json: NOT GOOD" in bad.out
    assert "report.json: the signature is good" in bad.out


def test_keys_of_others_and_of_other_times_do_not_count(run: Run) -> None:
    assert "unknown_key" in run("verify", signed(), "--keys", published(reports.new_seed())).out
    late = published(valid_from=datetime(2026, 6, 15, 12, tzinfo=UTC) + timedelta(days=1))
    assert "key_not_valid_then" in run("verify", "report.json", "--keys", late).out
    Path("keys.json").write_text("{}")
    assert run("verify", "report.json", "--keys", "keys.json").status == 2


@pytest.fixture
def key_server() -> Iterator[str]:
    """A service that publishes its keys; /gone does not."""
    body = json.dumps({"keys": [reports.public_key(SEED).as_json()]}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.path == reports.KEYS_PATH
            self.send_response(200 if known else 404)
            self.end_headers()
            self.wfile.write(body if known else b"")

        def log_message(self, *_arguments: object) -> None:
            """Quietly."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(10)


def test_keys_are_asked_for_once_and_kept(run: Run, key_server: str) -> None:
    signed()
    assert run("--url", key_server, "verify", "--offline", "report.json").status == 3
    assert run("--url", key_server, "verify", "report.json").status == 0
    assert run("--url", key_server, "verify", "--offline", "report.json").status == 0
    assert run("--url", f"{key_server}/gone", "verify", "report.json").status == 3
    Path("other.json").write_text(json.dumps(reports.sign(REPORT, reports.new_seed())))
    assert "unknown_key" in run("--url", key_server, "verify", "other.json").out


def test_keys_that_cannot_be_had_say_nothing_about_a_report(run: Run) -> None:
    ended = run("--url", "http://127.0.0.1:9", "verify", signed())
    assert (ended.status, ended.out) == (3, "")
    assert os.environ["INKCLOAK_CONFIG_DIR"] not in ended.err

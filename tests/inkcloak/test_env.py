"""Settings from the environment: typed, and loud on nonsense."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from inkcloak import env

ROOT = Path(__file__).resolve().parents[2]
NAME = "INKCLOAK_TEST_VALUE"


def given(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    if value is None:
        monkeypatch.delenv(NAME, raising=False)
    else:
        monkeypatch.setenv(NAME, value)


@pytest.mark.parametrize(
    ("value", "read"), [("1", True), ("Yes", True), (" on ", True), ("0", False), ("FALSE", False), (None, False)]
)
def test_it_reads_yes_and_no(monkeypatch, value: str | None, read: bool) -> None:
    given(monkeypatch, value)
    assert env.flag(NAME) is read


def test_an_empty_value_is_the_default(monkeypatch) -> None:
    given(monkeypatch, "")
    assert env.flag(NAME, True) is True
    assert env.integer(NAME, 7) == 7
    assert env.text(NAME, "x") == "x"


def test_it_reads_numbers_words_and_choices(monkeypatch) -> None:
    given(monkeypatch, "12")
    assert env.integer(NAME, 1) == 12
    given(monkeypatch, " a, ,b ")
    assert env.words(NAME) == ["a", "b"]
    given(monkeypatch, "local")
    assert env.choice(NAME, "x", ["local"]) == "local"


@pytest.mark.parametrize(
    ("value", "read", "said"),
    [
        ("maybe", lambda: env.flag(NAME), "is not one of 1, 0, true"),
        ("many", lambda: env.integer(NAME, 1), "is not a whole number of at least 0"),
        ("-1", lambda: env.integer(NAME, 1), "is not a whole number of at least 0"),
        ("1", lambda: env.integer(NAME, 2, at_least=2), "of at least 2"),
        ("runpod", lambda: env.choice(NAME, "local", ["local"]), "is not one of local"),
        (None, lambda: env.text(NAME), "is not set"),
    ],
)
def test_it_is_loud_on_nonsense(monkeypatch, value: str | None, read, said: str) -> None:
    given(monkeypatch, value)
    with pytest.raises(ImproperlyConfigured, match=said):
        read()


def test_it_never_repeats_a_value_that_may_be_secret(monkeypatch) -> None:
    given(monkeypatch, "hunter2")
    with pytest.raises(ImproperlyConfigured) as refused:
        env.integer(NAME, 1)
    assert "hunter2" not in str(refused.value)


def test_it_reads_a_secret_from_the_file_that_is_named(monkeypatch, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2\n")
    given(monkeypatch, "")  # as compose hands on a variable that nobody has set
    monkeypatch.setenv(f"{NAME}_FILE", str(secret))
    assert env.text(NAME) == "hunter2"
    secret.write_text("\n")
    assert env.text(NAME, "default") == "default"
    with pytest.raises(ImproperlyConfigured, match="is not set"):
        env.text(NAME)


def test_it_refuses_a_secret_given_twice(monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "secret"))
    given(monkeypatch, "hunter3")
    with pytest.raises(ImproperlyConfigured, match=f"{NAME} and {NAME}_FILE are both set") as refused:
        env.text(NAME)
    assert "hunter" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "said"), [(None, "No such file or directory"), (b"hunter2\xff", "it is no UTF-8 text")]
)
def test_it_says_why_a_secret_cannot_be_read(monkeypatch, tmp_path: Path, content: bytes | None, said: str) -> None:
    given(monkeypatch, None)
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
    monkeypatch.setenv(f"{NAME}_FILE", str(tmp_path / "secret"))
    with pytest.raises(ImproperlyConfigured, match=f"{NAME}_FILE names a file that can't be read: {said}") as refused:
        env.text(NAME, "default")
    assert "hunter" not in str(refused.value)


def start(**changes: str) -> subprocess.CompletedProcess[str]:
    """`manage.py check` as in production, with these changes."""
    production = {"DEBUG": "0", "ALLOWED_HOSTS": "inkcloak.example", "SECRET_KEY": "0123456789abcdef" * 4}
    environment = os.environ | production | changes
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"DATABASE_URL": "sqlite:///x.db"}, "must name a PostgreSQL database"),
        ({"SECRET_KEY": "short"}, "inkcloak.E001"),
        ({"ALLOWED_HOSTS": "*"}, "inkcloak.E002"),
        ({"MODEL_DIR": "/nonexistent"}, "inkcloak.E003"),
        ({"SCORING_POLICY": "cloud"}, "SCORING_POLICY is not one of cpu"),
    ],
)
def test_it_refuses_to_start_misconfigured(changes: dict[str, str], said: str) -> None:
    done = start(**changes)
    assert done.returncode != 0
    assert said in done.stderr


def test_it_starts_cleanly_as_in_production() -> None:
    done = start()
    assert done.returncode == 0, done.stderr

"""deploy/make-secrets: every secret that the compose file names, each of its own, and none twice or lost."""

import base64
import stat
from pathlib import Path

import composed
import pytest

from inkcloak import checks


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    return composed.make_secrets(tmp_path / "secrets")


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_it_makes_what_the_compose_file_names(secrets: Path) -> None:
    named = {name: Path(entry["file"]) for name, entry in composed.compose()["secrets"].items()}
    assert set(contents(secrets)) == set(named)
    assert all(path == Path("secrets") / name for name, path in named.items())


def test_only_containers_and_root_get_to_them(secrets: Path) -> None:
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in secrets.iterdir()} == {0o444}


def test_they_are_long_and_fit_each_other(secrets: Path) -> None:
    made = contents(secrets)
    assert len(made["secret_key"]) >= checks.MIN_SECRET_CHARS
    assert len(base64.urlsafe_b64decode(made["report_signing_key"] + "=")) == 32
    assert made["database_url"] == f"postgresql://inkcloak:{made['postgres_password']}@postgres:5432/inkcloak"
    password = made["redis_conf"].removeprefix("requirepass ")
    assert len(password) == 32
    assert made["redis_url"] == f"redis://:{password}@redis-broker:6379/0"
    assert made["cache_url"] == f"redis://:{password}@redis-cache:6379/0"


def test_twice_does_what_once_does_and_keeps_what_was_filled_in(secrets: Path) -> None:
    key = secrets / "runpod_api_key"
    key.chmod(0o600)
    key.write_text("rpa_mine")
    before = contents(secrets)
    composed.make_secrets(secrets)
    assert contents(secrets) == before


def test_no_two_installations_share_one(secrets: Path, tmp_path: Path) -> None:
    first, second = contents(secrets), contents(composed.make_secrets(tmp_path / "other"))
    assert [name for name in first if first[name] and first[name] == second[name]] == []


def test_git_and_the_image_never_see_them() -> None:
    assert "/secrets/" in (composed.ROOT / ".gitignore").read_text().splitlines()
    assert "env_file" in composed.services()["web"]
    assert not [path for path in composed.sent_to_build() if path.parts[0] in ("secrets", "var", ".git", "tests")]

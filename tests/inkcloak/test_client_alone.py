"""The client needs no Django, and the worker still finds its application without anybody importing it first."""

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import inkcloak.client

ROOT = Path(__file__).resolve().parents[2]
SERVER = ("django", "celery", "kombu", "redis", "rest_framework", "psycopg")


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


@pytest.mark.parametrize("module", ["inkcloak.client.api", "inkcloak.client.cli", "inkcloak.client.reports"])
def test_it_needs_neither_django_nor_celery(module: str) -> None:
    assert python(f"import sys, {module}; print([name for name in {SERVER} if name in sys.modules])") == "[]"


def test_webhooks_need_not_even_the_client() -> None:
    loaded = "import sys, inkcloak.client.webhooks; print('httpx' in sys.modules, 'cryptography' in sys.modules)"
    assert python(loaded) == "False False"


def test_every_name_that_it_offers_is_there() -> None:
    for name in inkcloak.client.__all__:
        assert getattr(inkcloak.client, name).__name__ == name
    with pytest.raises(AttributeError, match="Server"):
        inkcloak.client.Server  # noqa: B018


def test_the_worker_finds_its_application() -> None:
    found = "from celery.app.utils import find_app; print(find_app('inkcloak').main)"
    assert python(found) == "inkcloak"


def test_the_command_that_is_installed_exists() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _colon, name = scripts["inkcloak"].partition(":")
    assert callable(getattr(import_module(module), name))

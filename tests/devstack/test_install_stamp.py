"""When pip may be skipped: same pyproject.toml, same Python, same place, extras already there."""

import json
from pathlib import Path

import pytest

from devstack import install
from devstack.checkout import Checkout


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose environment was just installed with the extras of `make run`."""
    made = Checkout.at(tmp_path)
    made.python.parent.mkdir(parents=True)
    made.python.touch()
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    stamp = {"key": install._key(made), "extras": list(install.RUN_EXTRAS)}
    (made.venv / install.STAMP).write_text(json.dumps(stamp))
    return made


def test_it_skips_what_is_installed(checkout):
    assert install.is_installed(checkout, set(install.RUN_EXTRAS))
    assert install.is_installed(checkout, {"cpu"})


def test_it_installs_another_extra(checkout):
    assert not install.is_installed(checkout, set(install.ALL_EXTRAS))


def test_it_installs_again_after_a_change_of_the_requirements(checkout):
    (checkout.root / "pyproject.toml").write_text("[project]\nversion = '2'\n")
    assert not install.is_installed(checkout, set(install.RUN_EXTRAS))


def test_it_installs_again_when_the_folder_was_moved(checkout):
    moved = checkout.root.rename(checkout.root.with_name("elsewhere"))
    assert not install.is_installed(Checkout.at(moved), set(install.RUN_EXTRAS))


@pytest.mark.parametrize("damage", ["", "[]", '{"key": 1}', "not json"])
def test_it_installs_again_when_the_stamp_is_damaged(checkout, damage):
    (checkout.venv / install.STAMP).write_text(damage)
    assert not install.is_installed(checkout, set(install.RUN_EXTRAS))


def test_it_installs_again_when_the_environment_is_gone(checkout):
    checkout.python.unlink()
    assert not install.is_installed(checkout, set(install.RUN_EXTRAS))


def test_every_extra_of_the_project_is_installed_for_the_tests():
    import tomllib

    project = tomllib.loads((Path(install.__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert set(install.ALL_EXTRAS) == set(project["optional-dependencies"])


def test_it_tells_what_pip_does_and_counts_while_pip_is_silent(tmp_path):
    log = tmp_path / "install.log"
    log.write_text("Collecting celery\n  Downloading celery-5.whl (1 MB)\nWARNING: elsewhere\n")
    assert install._pip_says(log, tmp_path) == "Downloading celery-5.whl (1 MB)"
    log.write_text(log.read_text() + "Installing collected packages: a, b, c\n  Attempting uninstall: a\n")
    (tmp_path / "a-1.dist-info").mkdir()
    assert install._pip_says(log, tmp_path) == "unpacked 1 of 3 packages"

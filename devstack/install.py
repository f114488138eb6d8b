"""The virtual environment: made once, filled by pip, left alone while pyproject.toml and Python stay."""

import hashlib
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from devstack.checkout import Checkout
from devstack.errors import DevstackError
from devstack.lock import FileLock
from devstack.supervisor import Supervisor

OLDEST_PYTHON = (3, 11)
RUN_EXTRAS = ("cpu", "dev")
GPU_DEMO_EXTRAS = (*RUN_EXTRAS, "gpu-demo")
DEMO_EXTRAS = (*RUN_EXTRAS, "demo")
ALL_EXTRAS = (*GPU_DEMO_EXTRAS, "demo", "train", "corpus", "test", "lint")
STAMP = ".inkcloak-installed"
UNPACKING = "Installing collected packages:"  # pip's last word before it falls silent for the longest part
TELLING = ("Collecting", "Downloading", "Building", "Obtaining")


def ensure(checkout: Checkout, extras: Iterable[str], supervisor: Supervisor) -> None:
    """Have `extras` installed; instant when they are. Raises DevstackError with pip's last words."""
    wanted = set(extras)
    if is_installed(checkout, wanted):
        return
    lock = FileLock(checkout.install_lock)
    if not lock.acquire():
        with supervisor.console.step("Waiting for another installation in this checkout") as step:

            def ours() -> bool:
                step.note("")
                return lock.acquire()

            supervisor.wait_until(ours)
    try:
        _install(checkout, wanted, supervisor)
    finally:
        lock.release()


def is_installed(checkout: Checkout, extras: set[str]) -> bool:
    """Whether the stamp says that these extras of this very pyproject.toml are there."""
    stamp = _stamp(checkout)
    return checkout.python.exists() and stamp["key"] == _key(checkout) and extras <= set(stamp["extras"])


def _key(checkout: Checkout) -> str:
    wanted = (checkout.root / "pyproject.toml").read_bytes() + sys.version.encode() + os.fsencode(checkout.root)
    return hashlib.sha256(wanted).hexdigest()


def _stamp(checkout: Checkout) -> dict[str, list[str] | str]:
    try:
        stamp = json.loads((checkout.venv / STAMP).read_text())
        return {"key": str(stamp["key"]), "extras": list(stamp["extras"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {"key": "", "extras": []}


def _install(checkout: Checkout, wanted: set[str], supervisor: Supervisor) -> None:
    if is_installed(checkout, wanted):
        return  # whoever we waited for did it
    before = _stamp(checkout)
    if before["key"] == _key(checkout):
        wanted = wanted | set(before["extras"])
    log = checkout.logs / "install.log"
    log.write_text("")
    _make_venv(checkout, supervisor, log)
    (checkout.venv / STAMP).unlink(missing_ok=True)
    target = f".[{','.join(sorted(wanted))}]"
    pip = [str(checkout.python), "-m", "pip", "install", "--no-input", "--progress-bar", "off", "-e", target]
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore", "PYTHONUNBUFFERED": "1"}
    supervisor.run_step(
        f"Installing packages ({', '.join(sorted(wanted))})",
        pip,
        log=log,
        cwd=checkout.root,
        env=dict(os.environ) | quiet,
        detail=lambda: _pip_says(log, checkout.site_packages),
    )
    (checkout.venv / STAMP).write_text(json.dumps({"key": _key(checkout), "extras": sorted(wanted)}))


def _pip_says(log: Path, site_packages: Path) -> str:
    """pip's last line about one package; while it unpacks, when it says nothing, how many it has put in place."""
    lines = log.read_text(errors="replace").splitlines()
    if any(line.startswith(UNPACKING) for line in lines):
        total = next(line for line in lines if line.startswith(UNPACKING)).count(",") + 1
        return f"unpacked {min(total, len(list(site_packages.glob('*.dist-info'))))} of {total} packages"
    return next((line.strip() for line in reversed(lines) if line.strip().startswith(TELLING)), "")


def _make_venv(checkout: Checkout, supervisor: Supervisor, log: Path) -> None:
    if (checkout.site_packages / "pip").is_dir() and _runs(checkout.python):
        return
    if importlib.util.find_spec("ensurepip") is None:
        _install_venv_module(supervisor, log)
    command = [sys.executable, "-m", "venv", "--clear", str(checkout.venv)]
    supervisor.run_step("Making the virtual environment", command, log=log, cwd=checkout.root, env=dict(os.environ))


def _runs(python: Path) -> bool:
    """Its interpreter is there: a link into a Python that was removed leads nowhere."""
    return python.exists() and os.access(python, os.X_OK)


def _install_venv_module(supervisor: Supervisor, log: Path) -> None:
    """Debian ships Python without the part that makes virtual environments."""
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise DevstackError(f"This Python cannot make virtual environments. Debian: sudo apt install {package}")
    apt_install([package], supervisor, log)


def apt_install(packages: list[str], supervisor: Supervisor, log: Path) -> None:
    """Debian's packages, as root."""
    env = dict(os.environ) | {"DEBIAN_FRONTEND": "noninteractive"}
    for title, command in (
        ("Reading Debian's package lists", ["apt-get", "update"]),
        (
            f"Installing {', '.join(packages)}",
            ["apt-get", "install", "-y", "--no-install-recommends", *packages],
        ),
    ):
        supervisor.run_step(title, command, log=log, cwd=Path("/"), env=env)


def check_python() -> None:
    """Raises DevstackError on a Python that the project does not support."""
    if sys.version_info < OLDEST_PYTHON:
        raise DevstackError(
            f"InkCloak needs Python 3.11 or newer, and this is {sys.version.split()[0]}. "
            "Name another one: make run PYTHON=/path/to/python3.11"
        )

"""Which Chromium the browser tests drive: the one named, the system's, or one installed now."""

import os
import shutil
import subprocess
from pathlib import Path

from devstack.checkout import Checkout
from devstack.errors import DevstackError
from devstack.install import apt_install
from devstack.supervisor import Supervisor

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ASK_PLAYWRIGHT = (
    "from playwright.sync_api import sync_playwright\nwith sync_playwright() as p: print(p.chromium.executable_path)"
)


def ensure(checkout: Checkout, supervisor: Supervisor, log: Path) -> Path:
    """CHROMIUM if set, else the system's, else Debian's package (as root), else Playwright's own download."""
    named = os.environ.get("CHROMIUM")
    if named:
        if not os.access(named, os.X_OK):
            raise DevstackError(f"CHROMIUM={named} is no program.")
        return Path(named)
    found = _on_system() or _playwrights(checkout)
    if found is not None:
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        apt_install(["chromium"], supervisor, log)
        found = _on_system()
    if found is None:
        command = [str(checkout.python), "-m", "playwright", "install", "chromium"]
        supervisor.run_step("Downloading Chromium", command, log=log, cwd=checkout.root, env=dict(os.environ))
        found = _playwrights(checkout)
    if found is None:
        raise DevstackError("No Chromium for the browser tests. Debian: apt install chromium, or set CHROMIUM.")
    return found


def _on_system() -> Path | None:
    return next((Path(path) for path in map(shutil.which, NAMES) if path), None)


def _playwrights(checkout: Checkout) -> Path | None:
    asked = subprocess.run([checkout.python, "-c", ASK_PLAYWRIGHT], capture_output=True, text=True, check=False)
    path = Path(asked.stdout.strip())
    return path if asked.stdout.strip() and path.exists() else None

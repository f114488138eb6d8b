"""Where things lie: the checkout, its virtual environment and its state folder."""

import sys
from dataclasses import dataclass
from pathlib import Path

SITE_PACKAGES = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


@dataclass(frozen=True)
class Checkout:
    """Paths of one working copy; two of them share nothing."""

    root: Path
    venv: Path
    var: Path

    @classmethod
    def at(cls, root: Path) -> "Checkout":
        """The usual layout below `root`."""
        root = root.resolve()
        return cls(root=root, venv=root / ".venv", var=root / "var")

    @property
    def python(self) -> Path:
        """The virtual environment's interpreter."""
        return self.venv / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where pip puts the servers' wheels."""
        return self.venv / SITE_PACKAGES

    @property
    def logs(self) -> Path:
        """One file per process."""
        return self.var / "log"

    @property
    def dev_env(self) -> Path:
        """What the running stack tells `manage.py` (read by inkcloak/env.py)."""
        return self.var / "dev.env"

    @property
    def run_lock(self) -> Path:
        """Held by the one supervisor of this checkout."""
        return self.var / "run.lock"

    @property
    def install_lock(self) -> Path:
        """Held while pip changes the virtual environment."""
        return self.var / "install.lock"

    def make_var(self) -> None:
        """The state folder and its logs; raises PermissionError when they belong to somebody else."""
        self.logs.mkdir(parents=True, exist_ok=True)

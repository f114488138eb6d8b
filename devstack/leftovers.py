"""What a killed run may have left: found by what the kernel knows of a process, never by a stale pid file."""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from devstack.child import monotonic

MARK = "INKCLOAK_STACK"  # in every child's environment: the state folder it belongs to
KILL_AFTER_SECONDS = 5.0


def working_in(folder: Path) -> list[int]:
    """Processes whose working directory is `folder`: servers stay in their data folder (they overwrite their
    environment to show a title, so the mark would not be found)."""
    return [pid for pid in _others() if _readlink(pid, "cwd") == str(folder)]


def marked(var: Path) -> list[int]:
    """Processes that some supervisor of this state folder started."""
    wanted = f"{MARK}={var}".encode()
    return [pid for pid in _others() if wanted in _environment(pid)]


def mark(var: Path) -> dict[str, str]:
    """The mark to put into a child's environment."""
    return {MARK: str(var)}


def _others() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if int(entry.name) != os.getpid()]


def _readlink(pid: int, name: str) -> str:
    try:
        return str(Path(f"/proc/{pid}/{name}").readlink())
    except OSError:
        return ""  # gone, or another user's


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def send(pids: Sequence[int], number: signal.Signals) -> None:
    """Signal each that still lives and is ours."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue


class EmptyFolder:
    """Asks again and again whether a server's data folder is free of processes, and ends stragglers.

    A second server over one data folder destroys it, so `clean` (which removes a lock file that names a dead
    process, or one that another program was given since) runs only when nobody is left in there.
    """

    def __init__(self, folder: Path, polite: signal.Signals, clean: Callable[[], None]) -> None:
        self.folder = folder
        self.polite = polite
        self.clean = clean
        self._since: float | None = None

    def __call__(self) -> bool:
        """True when the server may start."""
        pids = working_in(self.folder)
        if not pids:
            self._since = None
            self.clean()
            return True
        if self._since is None:
            self._since = monotonic()
            send(pids, self.polite)
        elif monotonic() - self._since > KILL_AFTER_SECONDS:
            send(pids, signal.SIGKILL)
        return False

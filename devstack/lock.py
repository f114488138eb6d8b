"""A lock that dies with its holder: flock instead of a pid file, so that no kill -9 leaves it behind."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from devstack.errors import DevstackError


class FileLock:
    """One holder per file; the holder may leave a note about itself in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def acquire(self, *, wait: bool = False, **note: Any) -> bool:
        """Take it and write `note` (plus our process id) into it; False when somebody else holds it."""
        try:
            # Python opens it close-on-exec: a child that outlived us would hold the lock for ever.
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except PermissionError as denied:
            raise DevstackError(f"{self.path} belongs to another user: run as that user.") from denied
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(fd)
            return False
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        self.note(**note)
        return True

    def note(self, **note: Any) -> None:
        """Say who holds it and what for."""
        if self._fd is None:
            raise RuntimeError("not held")
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, json.dumps({"pid": os.getpid(), **note}).encode(), 0)

    def release(self) -> None:
        """Give it back; harmless when not held."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def holder(self) -> dict[str, Any] | None:
        """The note of whoever holds it now, empty when it left none; None when it is free."""
        try:
            fd = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _parsed(os.pread(fd, 4096, 0))
        finally:
            os.close(fd)
        return None


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        note = json.loads(raw or b"{}")
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}

"""One supervised process: how it is started, when it is ready, how long to wait before the next try."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from devstack.privileges import Identity, before_exec

FIRST_RETRY_SECONDS = 0.1
LAST_RETRY_SECONDS = 10.0
SETTLED_SECONDS = 20.0  # a process that lived this long starts again without counting what was before
LOG_LIMIT_BYTES = 5_000_000

Stop = tuple[signal.Signals, float]  # what to send, seconds to wait before the next one; SIGKILL comes last


def _always(_pid: int) -> bool:
    return True


def _clear() -> bool:
    return True


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Program:
    """What to run and how to treat it."""

    name: str
    argv: tuple[str, ...]
    log: Path
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    stops: tuple[Stop, ...] = ((signal.SIGTERM, 8.0),)
    death_signal: signal.Signals = signal.SIGKILL  # when the supervisor itself was killed
    identity: Identity | None = None
    way_is_clear: Callable[[], bool] = _clear  # asked before each start; False = ask again soon
    ready: Callable[[int], bool] = _always  # is the process with this id doing its work?
    ready_words: str = ""  # what it writes to its log when it is
    afterwards: Callable[[], None] = _nothing  # once it was stopped for good


class Child:
    """A program's present process, if any, and the history that decides when to try again."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.process: subprocess.Popen[bytes] | None = None
        self.failures = 0
        self.retry_at = 0.0
        self._started = 0.0
        self._log_offset = 0
        self._stop_left: list[Stop] = []
        self._stop_next_at = 0.0

    @property
    def pid(self) -> int | None:
        """Of the running process."""
        return self.process.pid if self.process else None

    def is_ready(self) -> bool:
        """Running, and its own check says so."""
        return self.process is not None and self._has_said_so() and self.program.ready(self.process.pid)

    def _has_said_so(self) -> bool:
        if not self.program.ready_words:
            return True
        with self.program.log.open("rb") as log:
            log.seek(self._log_offset)
            return self.program.ready_words.encode() in log.read()

    def start_if_due(self, now: float) -> bool:
        """Start it unless it runs or waits; True when it was started."""
        if self.process is not None or now < self.retry_at or not self.program.way_is_clear():
            return False
        program = self.program
        with program.log.open("ab") as log:
            self._log_offset = log.tell()
            self.process = subprocess.Popen(
                program.argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=program.cwd,
                env=dict(program.env),
                preexec_fn=before_exec(program.death_signal, program.identity),
            )
        self._started = now
        return True

    def reap(self, now: float) -> int | None:
        """The exit status of a process that has just ended (negative = signal); plans the next try."""
        status = self.process.poll() if self.process else None
        if self.process is None or status is None:
            return None
        self._kill_group(self.process.pid)
        self.process = None
        if now - self._started >= SETTLED_SECONDS:
            self.failures = 0
        self.retry_at = now + min(LAST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2**self.failures)
        self.failures += 1
        return status

    def begin_stop(self, now: float) -> None:
        """Ask it to end; `press` must follow now and then."""
        self._stop_left = list(self.program.stops)
        self._stop_next_at = now

    def press(self, now: float, *, hard: bool = False) -> bool:
        """One more step towards the end, in the end SIGKILL for the whole group; True when it has ended."""
        if self.process is None or self.process.poll() is not None:
            if self.process is not None:
                self._kill_group(self.process.pid)
                self.process = None
            return True
        if hard or (now >= self._stop_next_at and not self._stop_left):
            self._kill_group(self.process.pid)
        elif now >= self._stop_next_at:
            number, patience = self._stop_left.pop(0)
            self._send(self.process.pid, number)
            self._stop_next_at = now + patience
        return False

    @staticmethod
    def _send(pid: int, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):  # it was faster
            os.kill(pid, number)

    @staticmethod
    def _kill_group(pid: int) -> None:
        """The process and whatever it left in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def keep_log_short(path: Path) -> None:
    """Put a long log aside as NAME.old; call it while nobody writes there."""
    if path.exists() and path.stat().st_size > LOG_LIMIT_BYTES:
        path.replace(path.with_suffix(".old"))


def describe_exit(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def monotonic() -> float:
    """The clock of every deadline here."""
    return time.monotonic()

"""Child processes: each in a session of its own, logged to a file, and none left behind.

The guard is a tiny process that holds one end of a pipe. When this server ends, even by SIGKILL, the pipe closes and
the guard kills every process that carries the server's mark in its environment: workers, and whatever they forked.
"""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

MARK = "LOOPBACK_RUNPOD"
GUARD = Path(__file__).with_name("guard.py")
GUARD_PATIENCE_SECONDS = 10.0
# What a worker may know of this process's environment: enough to find its programs, nothing of ours.
INHERITED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS",
             "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONHASHSEED")  # fmt: skip


class Running(Protocol):
    """A worker's process, or the absence of one."""

    pid: int

    def exited(self) -> int | None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...
    def freeze(self) -> None: ...
    def park(self) -> None: ...
    def resume(self) -> None: ...


class Child:
    """A real process with its group."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, log: Path) -> None:
        """Raises OSError when the command cannot be started."""
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                argv,
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self._process.pid

    def exited(self) -> int | None:
        """Its exit status; None while it runs. What it left in its group ends with it."""
        status = self._process.poll()
        if status is not None:
            self._send_group(signal.SIGKILL)
        return status

    def terminate(self) -> None:
        """As a container is stopped: SIGTERM to the first process only."""
        if self._process.poll() is None:
            self._process.terminate()

    def kill(self) -> None:
        """The whole group, at once; returns when the first process is reaped."""
        self._send_group(signal.SIGKILL)
        self._process.wait()

    def freeze(self) -> None:
        """The first process stands still, its heartbeat goes on."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGSTOP)

    def park(self) -> None:
        """All of it stands still."""
        self._send_group(signal.SIGSTOP)

    def resume(self) -> None:
        """Go on."""
        self._send_group(signal.SIGCONT)

    def _send_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


class NoProcess:
    """For a worker that a test plays itself over HTTP."""

    pid = 0

    def __init__(self) -> None:
        self.status: int | None = None

    def exited(self) -> int | None:
        """As the test, or kill, decided."""
        return self.status

    def terminate(self) -> None:
        """Obeys at once."""
        self.status = 0

    def kill(self) -> None:
        """Likewise."""
        self.status = -signal.SIGKILL

    def freeze(self) -> None:
        """A test that plays a worker just does not answer."""

    park = resume = freeze


class Guard:
    """Ends what is left when this server ends. On duty before the first child starts."""

    def __init__(self) -> None:
        self.mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._process: subprocess.Popen[bytes] | None = None

    def _be_on_duty(self) -> None:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD), MARK, self.mark],
                stdin=subprocess.PIPE,
                env={},
                start_new_session=True,  # a Ctrl-C for us is none for it
            )

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        """A child's environment: the little it inherits, `own`, and the mark."""
        self._be_on_duty()
        kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return kept | dict(own) | {MARK: self.mark}

    def close(self) -> None:
        """Let it look around once and end."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(GUARD_PATIENCE_SECONDS)

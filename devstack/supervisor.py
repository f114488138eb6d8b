"""Starts children, restarts what dies, stops all: one thread, one loop, woken by signals.

One thread on purpose: the kernel ends a child with the *thread* that forked it, and a fork beside other
threads can deadlock. Whoever waits for anything (pip, a migration, a page) waits inside `wait_until`, so
children are looked after and Ctrl-C is heard meanwhile.
"""

import contextlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from devstack.child import Child, Program, describe_exit, keep_log_short, monotonic
from devstack.console import Console, Step, last_lines
from devstack.errors import DevstackError, Stopped
from devstack.privileges import Identity, before_exec

TICK_SECONDS = 0.1
STARTUP_TRIES = 3  # before the stack was ready once; afterwards it tries for ever
SHOWN_LOG_LINES = 25
STEP_STOP_SECONDS = 5.0
SIGNAL_STATUS = 128  # what a shell adds to the number of a deadly signal
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervisor:
    """Owner of every process of one stack."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.children: dict[str, Child] = {}
        self.strict = True  # a program that keeps dying ends the start instead of being tried for ever
        self.stop_asked = 0
        self.stop_signal = signal.SIGTERM
        self._wake, self._woken = socket.socketpair()
        self._wake.setblocking(False)
        self._woken.setblocking(False)
        signal.set_wakeup_fd(self._woken.fileno(), warn_on_full_buffer=False)
        self._poll = select.poll()
        self._poll.register(self._wake, select.POLLIN)
        for number in ENDING_SIGNALS:
            # nohup hands down an ignored SIGHUP, and means it; an ignored SIGINT is only a shell's `&`.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on_stop)
        self._terminal = self._watch_terminal()
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)  # only to be woken

    def _on_stop(self, number: int, _frame: FrameType | None) -> None:
        self.stop_asked += 1
        self.stop_signal = signal.Signals(number)

    def _watch_terminal(self) -> int | None:
        """Be woken when our terminal vanishes: the kernel tells only the first process in it, which may be a
        `make` that keeps it to itself."""
        if not sys.stdin or not sys.stdin.isatty() or signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
            return None
        self._poll.register(sys.stdin.fileno(), 0)  # POLLHUP and POLLERR come unasked
        return sys.stdin.fileno()

    # --- running ---

    def start(self, program: Program) -> None:
        """Look after `program` from now on."""
        keep_log_short(program.log)
        self.children[program.name] = Child(program)
        self.tick(0)

    def tick(self, seconds: float = TICK_SECONDS) -> None:
        """Sleep until a signal or for `seconds`, then reap and restart."""
        for descriptor, event in self._poll.poll(seconds * 1000):
            if descriptor == self._terminal and event & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
                self._poll.unregister(descriptor)
                self._on_stop(signal.SIGHUP, None)
        with contextlib.suppress(BlockingIOError):
            self._wake.recv(4096)
        now = monotonic()
        for child in self.children.values():
            status = child.reap(now)
            if status is not None:
                self._report_death(child, status, now)
            if not self.stop_asked and child.start_if_due(now) and child.failures:
                self.console.line(f"↻ {child.program.name} started again (process {child.pid})")

    def _report_death(self, child: Child, status: int, now: float) -> None:
        name = child.program.name
        if self.strict and child.failures >= STARTUP_TRIES:
            raise DevstackError(f"{name} does not start: it {describe_exit(status)}.\n{_excerpt(child.program.log)}")
        if not self.stop_asked:
            wait = child.retry_at - now
            self.console.line(f"! {name} {describe_exit(status)}; next try in {wait:.1f} s ({child.program.log})")

    def wait_until(self, true: Callable[[], bool], seconds: float | None = None) -> bool:
        """Look after the children until `true()`; False when `seconds` ran out. Raises Stopped."""
        deadline = None if seconds is None else monotonic() + seconds
        while not true():
            if self.stop_asked:
                raise Stopped
            if deadline is not None and monotonic() > deadline:
                return False
            self.tick()
        return True

    def wait_ready(self, step: Step, names: Sequence[str], seconds: float) -> None:
        """Until those children are ready; raises DevstackError with the slow one's log."""

        def all_ready() -> bool:
            late = [name for name in names if not self.children[name].is_ready()]
            for name in late[:1]:
                step.note(f"{name}: {''.join(last_lines(self.children[name].program.log, 1))}")
            return not late

        if not self.wait_until(all_ready, seconds):
            late = next(name for name in names if not self.children[name].is_ready())
            log = self.children[late].program.log
            raise DevstackError(f"{late} was not ready within {seconds:.0f} s.\n{_excerpt(log)}")

    # --- one-off commands ---

    def run_step(
        self,
        title: str,
        argv: Sequence[str],
        *,
        log: Path,
        cwd: Path,
        env: Mapping[str, str],
        identity: Identity | None = None,
        stdin: str = "",
        show: bool = False,
        detail: Callable[[], str] | None = None,
    ) -> None:
        """Run one command to its end with progress. Raises DevstackError with its last words if it fails.

        show: print what it said on standard output (and keep that out of the log: it may be a password).
        detail: what to show beside the elapsed time; its log's last line unless given.
        """
        with (
            self.console.step(title) as step,
            log.open("ab") as out,
            tempfile.TemporaryFile() as shown,
            tempfile.TemporaryFile() as fed,
        ):
            fed.write(stdin.encode())
            fed.seek(0)
            process = subprocess.Popen(
                list(argv),
                stdin=fed,
                stdout=shown if show else out,
                stderr=out,
                cwd=cwd,
                env=dict(env),
                preexec_fn=before_exec(signal.SIGKILL, identity),
            )
            self._finish(process, step, log, detail or (lambda: "".join(last_lines(log, 1))))
            if process.returncode:
                raise DevstackError(f"{title}: failed, it {describe_exit(process.returncode)}.\n{_excerpt(log)}")
            shown.seek(0)
            said = shown.read().decode("utf-8", "replace")
        if said.strip():
            self.console.line(said.rstrip("\n"))

    def _finish(self, process: subprocess.Popen[bytes], step: Step, log: Path, detail: Callable[[], str]) -> None:
        child = Child(Program(name=step.title, argv=(), log=log, cwd=log.parent, stops=_STEP_STOPS))
        child.process = process

        def ended() -> bool:
            step.note(detail())
            return process.poll() is not None

        try:
            self.wait_until(ended)
        finally:
            child.begin_stop(monotonic())
            while not child.press(monotonic(), hard=self.stop_asked > 1):
                self.tick()

    def run_foreground(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> int:
        """Give the terminal to one command (pytest, a shell) and look after the children; its exit status.

        It stays in our process group: only so may it read the terminal, and Ctrl-C reaches it without us.
        """
        process = subprocess.Popen(
            list(argv), cwd=cwd, env=dict(env), preexec_fn=before_exec(signal.SIGTERM, own_session=False)
        )
        try:
            self.wait_until(lambda: process.poll() is not None)
        except Stopped:
            self._end_foreground(process)
        status = process.returncode
        return status if status >= 0 else SIGNAL_STATUS - status

    def _end_foreground(self, process: subprocess.Popen[bytes]) -> None:
        if not (self.stop_signal == signal.SIGINT and sys.stdin.isatty()):  # there the terminal has told it
            process.send_signal(signal.SIGINT)
        deadline = monotonic() + 2 * STEP_STOP_SECONDS
        while process.poll() is None:
            if monotonic() > deadline or self.stop_asked > 2:
                process.kill()
            self.tick()

    # --- the end ---

    def stop(self, names: Sequence[str]) -> None:
        """End those children together, politely first; a second request to stop makes it SIGKILL."""
        children = [self.children.pop(name) for name in names if name in self.children]
        for child in children:
            child.begin_stop(monotonic())
        asked = self.stop_asked

        def ended() -> bool:
            hard = self.stop_asked > max(asked, 1)
            return all([child.press(monotonic(), hard=hard) for child in children])  # noqa: C419 - press each

        while not ended():
            self.tick(TICK_SECONDS / 2)
        for child in children:
            child.program.afterwards()

    def stop_all(self, last: Sequence[str] = ()) -> None:
        """End everything, the servers named in `last` after those that use them."""
        self.stop([name for name in self.children if name not in last])
        self.stop(list(self.children))


_STEP_STOPS = ((signal.SIGTERM, STEP_STOP_SECONDS),)


def _excerpt(log: Path) -> str:
    lines = last_lines(log, SHOWN_LOG_LINES)
    return "\n".join(["    " + line for line in lines] + [f"The whole log: {log}"])

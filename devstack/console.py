"""Progress for a person: a line that moves on a terminal, a line now and then in a log.

A terminal may vanish (closed window, broken pipe) while processes still need stopping: no write here raises.
"""

import io
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

REPORT_SECONDS = 10.0  # between two lines about the same step where no terminal shows a moving one
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
COLOURS = (36, 33, 35, 32, 34, 31)
TAIL_BYTES = 4096


class Console:
    """Writes to standard output, or to another stream; `step` shows something that takes a while."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.tty = self._is_terminal()
        if isinstance(self.stream, io.TextIOWrapper):
            self.stream.reconfigure(errors="replace")

    def _is_terminal(self) -> bool:
        return self.stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and "CI" not in os.environ

    def write(self, text: str) -> None:
        """Text as it is, at once."""
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            pass  # nobody is looking any more

    def line(self, text: str = "") -> None:
        """One whole line."""
        self.write(f"\r\x1b[K{text}\n" if self.tty else f"{text}\n")

    def prefixed(self, name: str, text: str) -> None:
        """One line of a process's log, named and coloured by the process."""
        label = f"{name:>8} │ "
        if self.tty:
            label = f"\x1b[{COLOURS[sum(name.encode()) % len(COLOURS)]}m{label}\x1b[0m"
        self.line(label + text)

    @contextmanager
    def step(self, title: str) -> "Iterator[Step]":
        """Show `title` with its elapsed time until the block ends; says whether it went well."""
        step = Step(self, title)
        try:
            yield step
        except BaseException:
            step.end("✗")
            raise
        step.end("✓")


class Step:
    """One thing that takes a while."""

    def __init__(self, console: Console, title: str) -> None:
        self.console = console
        self.title = title
        self.started = time.monotonic()
        self._reported = self.started
        self._frame = 0

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return time.monotonic() - self.started

    def note(self, text: str) -> None:
        """The newest detail; call as often as you like."""
        if self.console.tty:
            self._frame += 1
            shown = f"{FRAMES[self._frame % len(FRAMES)]} {self.title} {self.seconds:.0f} s  {text}"
            self.console.write(f"\r\x1b[K{shown[: _columns() - 1]}")
        elif time.monotonic() - self._reported >= REPORT_SECONDS:
            self._reported = time.monotonic()
            self.console.write(f"  {self.title}: {self.seconds:.0f} s  {text[:120]}\n")

    def end(self, mark: str) -> None:
        """The step's last line."""
        self.console.line(f"{mark} {self.title} ({self.seconds:.1f} s)")


def _columns() -> int:
    try:
        return max(20, os.get_terminal_size().columns)
    except OSError:
        return 80


def last_lines(path: Path, count: int) -> list[str]:
    """The newest non-empty lines of a log; an absent file has none."""
    try:
        with path.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - TAIL_BYTES * count))
            text = log.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line.rstrip() for line in text.splitlines() if line.strip()][-count:]

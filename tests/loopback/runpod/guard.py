"""Waits until the server's end of the pipe closes, then kills all that carries its mark. Standard library only.

Run as `python -I -S guard.py NAME VALUE`: processes whose environment has NAME=VALUE. Linux (/proc).
"""

import os
import select
import signal
import sys
from pathlib import Path

LOOK_SECONDS = 1.0
ROUNDS = 20  # a process may fork while we look


def marked(mark: bytes) -> list[int]:
    """Ids of the processes with this entry in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue  # gone, or another user's
    return found


def end(mark: bytes) -> None:
    """Kill them, and again, until none is found."""
    for _ in range(ROUNDS):
        pids = marked(mark)
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def main() -> None:
    """The pipe tells the server's end; a changed parent does too, should somebody else hold the pipe."""
    name, value = sys.argv[1:3]
    parent = os.getppid()
    while os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin], [], [], LOOK_SECONDS)
        if readable:
            break
    end(f"{name}={value}".encode())


if __name__ == "__main__":
    main()

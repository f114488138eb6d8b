"""What Linux says of a process: its memory, its processor time, its cores. Shared by the benchmarks."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def peak_mb(pid: int | str = "self") -> float:
    """The most memory that the process held. (getrusage would count what the parent held when it forked.)"""
    status = (PROC / str(pid) / "status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def cpu_seconds(pid: int) -> float:
    """Processor time of all its threads since its start, with that of children which have ended."""
    return sum(map(int, _stat(pid)[11:15])) / os.sysconf("SC_CLK_TCK")  # utime, stime, cutime, cstime: from field 14


def cpu_seconds_below(root: int, *, without: int) -> float:
    """Processor time of everything that descends from `root`, but for one child and what descends from it."""
    children: dict[int, list[int]] = {}
    for folder in _folders():
        with suppress(OSError):
            children.setdefault(int(_stat(int(folder.name))[1]), []).append(int(folder.name))
    total, left = 0.0, [pid for pid in children.get(root, []) if pid != without]
    while left:
        pid = left.pop()
        left += children.get(pid, [])
        with suppress(OSError):
            total += cpu_seconds(pid)
    return total


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on: the second, a name, may hold anything."""
    return (PROC / str(pid) / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()


def keep_to(cores: set[int], pid: int) -> None:
    """Lets every thread of the process run on these cores alone."""
    for task in (PROC / str(pid) / "task").iterdir():
        os.sched_setaffinity(int(task.name), cores)


def first_cores(number: int) -> set[int]:
    """The first of the cores that we may use."""
    return set(sorted(os.sched_getaffinity(0))[:number])


def find(word: str, variable: str, value: str) -> int:
    """The process with a word in its command line and this value of an environment variable.

    Raises LookupError where there is none.
    """
    wanted = f"{variable}={value}".encode()
    for folder in _folders():
        try:
            words, environment = ((folder / name).read_bytes().split(b"\0") for name in ("cmdline", "environ"))
        except OSError:
            continue  # it has ended meanwhile, or is another user's
        if word.encode() in words and wanted in environment:
            return int(folder.name)
    raise LookupError(f"no process has {word} in its command line")


def _folders() -> Iterator[Path]:
    return (folder for folder in PROC.iterdir() if folder.name.isdecimal())

"""Processor time by program: its process and all that descend from it, from /proc."""

import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

PARENT, TIMES = 1, slice(11, 15)  # fields of /proc/PID/stat behind the name: own times, and of children that ended
TICKS = os.sysconf("SC_CLK_TCK")


def used(pids: Mapping[str, int]) -> dict[str, float]:
    """name -> seconds until now."""
    parents, seconds = _table()
    children: dict[int, list[int]] = defaultdict(list)
    for pid, parent in parents.items():
        children[parent].append(pid)

    def total(pid: int) -> float:
        return seconds.get(pid, 0.0) + sum(total(child) for child in children[pid])

    return {name: total(pid) for name, pid in pids.items()}


def _table() -> tuple[dict[int, int], dict[int, float]]:
    parents, seconds = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # ended meanwhile
        pid = int(entry.parent.name)
        parents[pid] = int(fields[PARENT])
        seconds[pid] = sum(map(int, fields[TIMES])) / TICKS
    return parents, seconds

"""The movable clock, in whole seconds since 1970, with its timers. Frozen (tests) or running on (demo).

`at` notes that something may be due; `due` hands out what is, in order, so that a jump over a year does each renewal
at its own moment. A timer says only where to look: whoever is called looks whether it is really due.
"""

import heapq
import time
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

HOUR = 3600
DAY = 86_400


class Timer(NamedTuple):
    """What may be due when; `number` keeps the order of making."""

    when: int
    number: int
    kind: str
    about: str


class Clock:
    """From one event loop only."""

    def __init__(self, start: int | None = None, *, frozen: bool = True) -> None:
        self.frozen = frozen
        self._at = float(time.time() if start is None else start)
        self._since = time.monotonic()
        self._timers: list[Timer] = []
        self._made = 0

    def now(self) -> int:
        """The present second."""
        return int(self._at + (0 if self.frozen else time.monotonic() - self._since))

    def move_to(self, when: int) -> None:
        """Jump forward; never back."""
        self._at, self._since = float(max(when, self.now())), time.monotonic()

    def at(self, when: int, kind: str, about: str) -> None:
        """Look at `about` then."""
        self._made += 1
        heapq.heappush(self._timers, Timer(when, self._made, kind, about))

    def next_due(self, until: int) -> Timer | None:
        """The first timer not after `until`, taken off."""
        return heapq.heappop(self._timers) if self._timers and self._timers[0].when <= until else None

    def to_json(self) -> dict[str, object]:
        """For the state file."""
        return {"now": self.now(), "made": self._made, "timers": [list(timer) for timer in self.pending()]}

    def restore(self, data: dict[str, Any]) -> None:
        """From the state file: the clock was never behind, and does not go back."""
        self.move_to(int(data["now"]))
        self._made = int(data["made"])
        self._timers = [Timer(int(when), int(number), kind, about) for when, number, kind, about in data["timers"]]
        heapq.heapify(self._timers)

    def pending(self) -> list[Timer]:
        """All timers, the next first."""
        return sorted(self._timers)


def add_interval(anchor: int, interval: str, count: int) -> int:
    """`count` intervals after the anchor; months keep the anchor's day where there is one (31 Jan, 28 Feb, 31 Mar)."""
    if interval in ("day", "week"):
        return anchor + int(timedelta(**{f"{interval}s": count}).total_seconds())
    start = datetime.fromtimestamp(anchor, UTC)
    months = start.year * 12 + start.month - 1 + count * (12 if interval == "year" else 1)
    year, month = divmod(months, 12)
    day = min(start.day, monthrange(year, month + 1)[1])
    return int(start.replace(year=year, month=month + 1, day=day).timestamp())


def period_end(anchor: int, start: int, interval: str, count: int) -> int:
    """The end of the period that begins at `start`, counted from the anchor."""
    number = 1
    while (end := add_interval(anchor, interval, number * count)) <= start:
        number += 1
    return end

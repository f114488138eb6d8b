"""The movable clock: real time plus what a test added. Every deadline, delay and bill here reads it.

Whoever computes a future moment notes it, so that a long jump stops at each such moment and things happen in order:
a worker idle since noon is billed until its idle timeout, however far the clock was moved.
"""

import asyncio
import heapq
import time
from datetime import UTC, datetime


class Clock:
    """Seconds since 1970, as float. Use from one event loop only."""

    def __init__(self, start: float | None = None) -> None:
        self._offset = (time.time() if start is None else start) - time.monotonic()
        self._noted: list[float] = []
        self._sleepers: dict[asyncio.Event, float] = {}

    def now(self) -> float:
        """The present moment."""
        return time.monotonic() + self._offset

    def note(self, when: float) -> float:
        """Something may be due at `when`; returns it."""
        heapq.heappush(self._noted, when)
        return when

    def move_to(self, when: float) -> None:
        """Jump forward; never back (a bill would shrink)."""
        self._offset += max(0.0, when - self.now())

    def next_noted(self, until: float) -> float | None:
        """The first noted moment after now and not after `until`; it is forgotten then."""
        now = self.now()
        while self._noted and self._noted[0] <= until:
            when = heapq.heappop(self._noted)
            if when > now:
                return when
        return None

    def forget_past(self) -> None:
        """Drop noted moments that have passed: the ticker saw them."""
        now = self.now()
        while self._noted and self._noted[0] <= now:
            heapq.heappop(self._noted)

    async def sleep(self, seconds: float) -> None:
        """Until the clock, moved or not, has gone on by `seconds`."""
        woken = asyncio.Event()
        self._sleepers[woken] = self.note(self.now() + seconds)
        try:
            await woken.wait()
        finally:
            del self._sleepers[woken]

    def wake(self) -> None:
        """Let those go on whose time has come."""
        now = self.now()
        for woken, when in self._sleepers.items():
            if when <= now:
                woken.set()


def rfc3339(when: float | None) -> str | None:
    """A moment as REST v2 writes it."""
    return None if when is None else datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> float:
    """The moment of an RFC 3339 string; raises ValueError."""
    read = datetime.fromisoformat(text)
    if read.tzinfo is None:
        raise ValueError(f"{text!r} names no time zone")
    return read.timestamp()

"""Sizes and rates of the data plane, per endpoint and operation.

Source: the reference's section 1 (documented figures). The per-worker share is undocumented and 0 unless set.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

WINDOW_SECONDS = 10.0
RUN_BYTES = 10_000_000
RUNSYNC_BYTES = 20_000_000
CHUNK_BYTES = 1_000_000

# operation -> (requests in WINDOW_SECONDS, at the same time); None = no limit known
RATES: dict[str, tuple[int, int | None]] = {
    "runsync": (2000, 400),
    "status": (2000, 400),
    "stream": (2000, 400),
    "run": (1000, 200),
    "cancel": (100, 20),
    "purge-queue": (2, None),
}


class OverLimit(Exception):
    """Too many: answered with 429."""


@dataclass(frozen=True)
class Window:
    """A sliding window of REST v2: `most` requests in `seconds`."""

    name: str
    most: int
    seconds: float


class Rate:
    """Requests of one operation at one endpoint."""

    def __init__(self, most: int, at_once: int | None = None, seconds: float = WINDOW_SECONDS) -> None:
        self.most = most
        self.at_once = at_once
        self.seconds = seconds
        self._seen: deque[float] = deque()
        self._open = 0

    def left(self, now: float) -> int:
        """Requests still allowed in this window."""
        while self._seen and self._seen[0] <= now - self.seconds:
            self._seen.popleft()
        return self.most - len(self._seen)

    def reset_in(self, now: float) -> float:
        """Seconds until one more is allowed."""
        return max(0.0, self._seen[0] + self.seconds - now) if self._seen else 0.0

    @contextmanager
    def admit(self, now: float, more: int = 0) -> Iterator[None]:
        """Count one request while it is answered; raises OverLimit. more: extra requests for running workers."""
        if self.left(now) + more <= 0 or (self.at_once is not None and self._open >= self.at_once):
            raise OverLimit
        self._seen.append(now)
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1


class Rates:
    """All of one endpoint."""

    def __init__(self) -> None:
        self.per_worker: dict[str, int] = {}
        self._rates = {name: Rate(*values) for name, values in RATES.items()}

    def of(self, operation: str) -> Rate | None:
        """None where no limit is known."""
        return self._rates.get(operation)

    def set(self, operation: str, most: int, at_once: int | None) -> None:
        """Another limit, for tests that want to meet it early."""
        self._rates[operation] = Rate(most, at_once)

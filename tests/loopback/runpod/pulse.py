"""A heartbeat that many may wait for: each beat wakes all who wait at that moment."""

import asyncio
import contextlib


class Pulse:
    """Lets waiting requests look again when something has changed."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def beat(self) -> None:
        """Wake all."""
        waiting, self._next = self._next, asyncio.Event()
        waiting.set()

    async def wait(self, real_seconds: float) -> None:
        """Until the next beat, or at most that long."""
        waiting = self._next
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, real_seconds)):
                await waiting.wait()

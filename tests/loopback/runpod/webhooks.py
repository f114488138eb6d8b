"""Deliveries of finished jobs: the /status body, up to three tries 10 s apart (by the clock) until a 200 comes.

No signature is documented, so none is sent. The host must be this machine: nothing leaves it.
"""

import asyncio
import ipaddress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from tests.loopback.runpod.clock import Clock
from tests.loopback.runpod.faults import Faults

TRIES = 3
PAUSE_SECONDS = 10.0


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass
class Webhooks:
    """One delivery each; `log` for the control door."""

    clock: Clock
    faults: Faults
    log: list[dict[str, Any]] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def send(self, url: str, body: dict[str, Any], endpoint_id: str, patience: float) -> None:
        """In the background. patience: real seconds until a silent receiver counts as a failure."""
        seen = {"endpoint": endpoint_id, "job": body["id"]}
        now = self.clock.now()
        if not is_loopback(url) or self.faults.take("webhook_missing", now, **seen):
            return
        slow = self.faults.take("webhook_slow", now, **seen)
        late = slow.number("seconds_late", 60) if slow else 0.0
        for _ in range(2 if self.faults.take("webhook_duplicate", now, **seen) else 1):
            task = asyncio.create_task(self._deliver(url, body, late, patience))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _deliver(self, url: str, body: dict[str, Any], late: float, patience: float) -> None:
        if late:
            await self.clock.sleep(late)
        for attempt in range(TRIES):
            if attempt:
                await self.clock.sleep(PAUSE_SECONDS)
            status = await self._post(url, body, patience)
            self.log.append({"job": body["id"], "attempt": attempt + 1, "status": status, "at": self.clock.now()})
            if status == 200:
                return

    async def _post(self, url: str, body: dict[str, Any], patience: float) -> int:
        """The answer's status; 0 when there was none."""
        timeout = aiohttp.ClientTimeout(total=patience)
        try:
            async with aiohttp.ClientSession(timeout=timeout) as session, session.post(url, json=body) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError):
            return 0

    async def close(self) -> None:
        """Give up what is on its way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

"""The account: clock, keys, endpoints, templates, pods, bill, faults. `tick` does all that is due."""

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.loopback.runpod.clock import Clock
from tests.loopback.runpod.endpoint import Endpoint
from tests.loopback.runpod.faults import AT_ONCE, Fault, Faults
from tests.loopback.runpod.fleet import Surroundings
from tests.loopback.runpod.habits import Habits
from tests.loopback.runpod.jobs import Job
from tests.loopback.runpod.launcher import Launcher
from tests.loopback.runpod.ledger import NANO, Ledger
from tests.loopback.runpod.limits import Rate
from tests.loopback.runpod.pods import Pods
from tests.loopback.runpod.processes import Guard
from tests.loopback.runpod.settings import EndpointSettings
from tests.loopback.runpod.webhooks import Webhooks

TICK_REAL_SECONDS = 0.05
DEFAULT_KEY = "rpa_loopback"
WORKER_QUOTAS = ((200 * NANO, 20), (100 * NANO, 10), (0, 5))  # balance at least, workers over all endpoints
REST_WINDOWS = (("minute", 60, 60.0), ("hour", 3000, 3600.0), ("day", 50_000, 86_400.0))
REQUESTS_KEPT = 20_000


@dataclass(frozen=True)
class Key:
    """What an API key may do. endpoints: None = all of them."""

    rest: bool = True
    endpoints: frozenset[str] | None = None

    def may_use(self, endpoint_id: str) -> bool:
        """On the data plane."""
        return self.endpoints is None or endpoint_id in self.endpoints


@dataclass
class World:
    """Everything of one account; from one event loop only."""

    data: Path
    habits: Habits = field(default_factory=Habits)  # of endpoints that are made from now on
    clock: Clock = field(default_factory=Clock)
    faults: Faults = field(default_factory=Faults)
    keys: dict[str, Key] = field(default_factory=lambda: {DEFAULT_KEY: Key()})
    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    templates: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=REQUESTS_KEPT))
    worker_quota: int | None = None  # None = by balance
    spend_limit_nanousd: int = 80 * NANO
    closing: bool = False

    def __post_init__(self) -> None:
        self.guard = Guard()
        self.worker_key = secrets.token_hex(16)
        self.launcher = Launcher(self.guard, self.data, self.worker_key)
        self.ledger = Ledger(self.clock.now)
        self.webhooks = Webhooks(self.clock, self.faults)
        self.pods = Pods(self.clock, self.faults, self.ledger, self.launcher)
        self.rest_rates = {name: Rate(most, None, seconds) for name, most, seconds in REST_WINDOWS}

    @property
    def base_url(self) -> str:
        """Where this server listens."""
        return self.launcher.base_url

    # --- Endpoints --------------------------------------------------------------------------------------------

    def add_endpoint(self, settings: EndpointSettings, endpoint_id: str | None = None) -> Endpoint:
        """A new one, with these settings; its workers come when they are wanted."""
        around = Surroundings(self.clock, self.faults, self.ledger, self.launcher, self.room)
        made = Endpoint(endpoint_id or secrets.token_hex(7), settings, around, self._webhook, self.habits)
        self.endpoints[made.id] = made
        made.tick()
        return made

    def remove_endpoint(self, endpoint_id: str) -> None:
        """With its workers and jobs."""
        self.endpoints.pop(endpoint_id).fleet.kill_all()

    def quota(self) -> int:
        """Workers that all endpoints together may have."""
        if self.worker_quota is not None:
            return self.worker_quota
        balance = self.ledger.balance_nanousd()
        return next((quota for least, quota in WORKER_QUOTAS if balance >= least), WORKER_QUOTAS[-1][1])

    def room(self) -> int:
        """Workers that may still start; none without money."""
        if self.ledger.balance_nanousd() <= 0:
            return 0
        live = sum(worker.counts for endpoint in self.endpoints.values() for worker in endpoint.fleet.workers.values())
        return max(0, self.quota() - live)

    def _webhook(self, endpoint: Endpoint, job: Job) -> None:
        if job.webhook is not None:
            patience = endpoint.habits.webhook_patience_real_seconds
            self.webhooks.send(job.webhook, job.seen(), endpoint.id, patience)

    # --- Faults -----------------------------------------------------------------------------------------------

    def add_fault(self, data: Mapping[str, Any]) -> Fault:
        """In force from now on; raises ValueError."""
        fault = self.faults.add(data, self.clock.now())
        if fault.until is not None:
            self.clock.note(fault.until)
        if fault.kind in AT_ONCE:
            self.faults.clear(fault.id)
            self._strike(fault)
        self.tick()
        return fault

    def _strike(self, fault: Fault) -> None:
        if fault.kind == "balance":
            self.ledger.set_balance(round(fault.number("usd", 0) * NANO))
            return
        for endpoint in self.endpoints.values():
            if fault.meets({"endpoint": endpoint.id}):
                endpoint.settings.workers |= {"min": 0, "max": 0}

    # --- Time -------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """All that is due now."""
        self.clock.forget_past()
        for endpoint in self.endpoints.values():
            endpoint.tick()
        self.pods.tick()
        self.clock.wake()

    async def advance(self, seconds: float) -> None:
        """Move the clock on, stopping at each moment at which something is due."""
        target = self.clock.now() + seconds
        while (due := self.clock.next_noted(target)) is not None:
            self.clock.move_to(due)
            self.tick()
            await asyncio.sleep(0)
        self.clock.move_to(target)
        self.tick()
        await asyncio.sleep(0)

    async def run(self) -> None:
        """Tick until cancelled."""
        while True:
            await asyncio.sleep(TICK_REAL_SECONDS)
            self.tick()

    def let_go(self) -> None:
        """Answer all requests that are held open."""
        self.closing = True
        for endpoint in self.endpoints.values():
            endpoint.queue.changed.beat()
            for worker in endpoint.fleet.workers.values():
                worker.stop_pulse.beat()
            for job in endpoint.queue.jobs.values():
                job.finished.set()

    async def close(self) -> None:
        """No process stays, no delivery goes on."""
        for endpoint in self.endpoints.values():
            endpoint.fleet.kill_all()
        self.pods.kill_all()
        with contextlib.suppress(Exception):
            await self.webhooks.close()
        await asyncio.to_thread(self.guard.close)

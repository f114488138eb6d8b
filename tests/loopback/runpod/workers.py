"""One worker: its phases, its process, its lifetimes on the bill.

THROTTLED ─> PULLING ─> STARTING ─first take─> READY <──resume── PARKED (FlashBoot)
                        (billed)  │              │ idle timeout     ▲ │ too long
                                  ▼              ├──────────────────┘ │
                              UNHEALTHY          └──> STOPPING <──────┘ ──> gone
"""

import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tests.loopback.runpod.clock import rfc3339
from tests.loopback.runpod.ledger import Lifetime
from tests.loopback.runpod.processes import Running
from tests.loopback.runpod.pulse import Pulse


class Phase(StrEnum):
    """Ours; what the API shows is `shown`."""

    THROTTLED = "THROTTLED"
    PULLING = "PULLING"
    STARTING = "STARTING"
    READY = "READY"
    PARKED = "PARKED"
    STOPPING = "STOPPING"
    UNHEALTHY = "UNHEALTHY"


@dataclass(eq=False)
class Worker:
    """Moments of the clock, in seconds."""

    id: str
    gpu_type: str
    version: int
    image: str
    phase: Phase
    due_at: float  # when the present phase may end
    cold_start_seconds: float
    process: Running | None = None
    lifetime: Lifetime | None = None
    ready_at: float | None = None
    idle_since: float | None = None
    stopping_since: tuple[float, float] | None = None  # by the clock, and real
    stale_until: float | None = None  # runs an older configuration, and goes on doing so until then
    env: dict[str, str] = field(default_factory=dict)
    jobs: set[str] = field(default_factory=set)
    stops: list[str] = field(default_factory=list)  # jobs it shall stop, not fetched yet
    stop_pulse: Pulse = field(default_factory=Pulse)
    last_ping_at: float | None = None
    keeps_running: bool = False  # a stop was not honoured
    failed_as: str = ""

    @property
    def counts(self) -> bool:
        """Whether the scaler sees it."""
        return self.phase not in (Phase.STOPPING, Phase.PARKED)

    @property
    def starting(self) -> bool:
        """Not ready yet, but on its way."""
        return self.phase in (Phase.PULLING, Phase.STARTING, Phase.THROTTLED)

    @property
    def shown(self) -> str:
        """As the API names it."""
        match self.phase:
            case Phase.THROTTLED | Phase.UNHEALTHY:
                return self.phase.value
            case Phase.PULLING | Phase.STARTING:
                return "INITIALIZING"
            case Phase.PARKED:
                return "IDLE"  # a FlashBoot slot was seen as idle though its container had exited
        return "RUNNING" if self.jobs else "IDLE"

    def stopped_at(self) -> float:
        """When its stop was complete, were it so now: a jump of the clock meanwhile costs nothing."""
        assert self.stopping_since is not None
        by_clock, real = self.stopping_since
        return by_clock + (time.monotonic() - real)

    def to_json(self, endpoint_version: int, now: float) -> dict[str, Any]:
        """REST v2's Worker."""
        started = self.lifetime.started_at if self.lifetime else None
        return {
            "id": self.id,
            "status": self.shown,
            "isStale": self.version != endpoint_version,
            "version": self.version,
            "gpuCount": 1,
            "image": self.image,
            "uptimeSeconds": None if started is None else int(now - started),
            "gpuTypeId": None if self.phase is Phase.THROTTLED else self.gpu_type,
            "dataCenterId": None if self.phase is Phase.THROTTLED else "EU-RO-1",
            "startedAt": rfc3339(started),
        }

    def inside(self) -> dict[str, Any]:
        """For the control door."""
        return {
            "id": self.id,
            "phase": self.phase.value,
            "status": self.shown,
            "pid": self.process.pid if self.process else None,
            "jobs": sorted(self.jobs),
            "ready_at": self.ready_at,
            "last_ping_at": self.last_ping_at,
            "failed_as": self.failed_as,
        }

"""What is paid: one entry per lifetime of a worker or pod, in whole nano-dollars.

A lifetime runs from container start to full stop, in started seconds; image pull, throttled and unhealthy times are no
lifetime. A share of a lifetime (a billing bucket) is the difference of two running totals, so that buckets add up.
Worker disk: 0.10 USD per GB and month, in started 5-minute steps. Source: the reference's section 6.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

NANO = 1_000_000_000
HOUR_SECONDS = 3600
DISK_STEP_SECONDS = 300
MONTH_SECONDS = 30 * 24 * HOUR_SECONDS
DISK_GB_MONTH_NANOUSD = 100_000_000
STOPPED_DISK_GB_MONTH_NANOUSD = 200_000_000


@dataclass(eq=False)
class Lifetime:
    """kind: worker, pod or stopped-pod. owner: the endpoint's or pod's id. Moments of the clock in seconds."""

    kind: str
    owner: str
    id: str
    gpu_type: str
    nanousd_per_hour: int
    disk_gb: int
    started_at: float
    ended_at: float | None = None
    billed: bool = True  # unhealthy workers are not

    def seconds(self, until: float) -> int:
        """Started seconds up to a moment."""
        end = until if self.ended_at is None else min(until, self.ended_at)
        return max(0, math.ceil(round(end - self.started_at, 6)))

    def gpu_nanousd(self, until: float) -> int:
        """Rounded up once, over all seconds."""
        return -(-self.seconds(until) * self.nanousd_per_hour // HOUR_SECONDS) if self.billed else 0

    def disk_nanousd(self, until: float) -> int:
        """Likewise; a stopped pod's disk costs double."""
        if not self.billed:
            return 0
        rate = STOPPED_DISK_GB_MONTH_NANOUSD if self.kind == "stopped-pod" else DISK_GB_MONTH_NANOUSD
        steps = -(-self.seconds(until) // DISK_STEP_SECONDS)
        return -(-steps * DISK_STEP_SECONDS * self.disk_gb * rate // MONTH_SECONDS)

    def nanousd(self, until: float) -> int:
        """All of it."""
        return self.gpu_nanousd(until) + self.disk_nanousd(until)

    def to_json(self, now: float) -> dict[str, Any]:
        """For the control door."""
        return {
            "kind": self.kind,
            "owner": self.owner,
            "id": self.id,
            "gpu": self.gpu_type,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "billed": self.billed,
            "seconds": self.seconds(now),
            "nanousd_per_hour": self.nanousd_per_hour,
            "gpu_nanousd": self.gpu_nanousd(now),
            "disk_nanousd": self.disk_nanousd(now),
        }


@dataclass
class Ledger:
    """All lifetimes, and the balance they eat."""

    now: Callable[[], float]
    paid_in_nanousd: int = 100 * NANO
    lag_seconds: float = float(HOUR_SECONDS)  # billing shows nothing of the last hour, as was seen
    lifetimes: list[Lifetime] = field(default_factory=list)

    def open(self, lifetime: Lifetime) -> Lifetime:
        """It costs from now on."""
        self.lifetimes.append(lifetime)
        return lifetime

    def close(self, lifetime: Lifetime, at: float, *, billed: bool = True) -> None:
        """It costs no more."""
        lifetime.ended_at, lifetime.billed = max(at, lifetime.started_at), billed

    def spent_nanousd(self) -> int:
        """All costs up to now."""
        now = self.now()
        return sum(lifetime.nanousd(now) for lifetime in self.lifetimes)

    def balance_nanousd(self) -> int:
        """What is left."""
        return self.paid_in_nanousd - self.spent_nanousd()

    def set_balance(self, nanousd: int) -> None:
        """Pay in, or out, so much that this is left."""
        self.paid_in_nanousd += nanousd - self.balance_nanousd()

    def per_hour_nanousd(self) -> int:
        """What runs now costs an hour."""
        return sum(life.nanousd_per_hour for life in self.lifetimes if life.ended_at is None and life.billed)

    def between(
        self, start: float, end: float, kinds: tuple[str, ...], owner: str | None
    ) -> dict[str, tuple[int, int]]:
        """owner -> (GPU, disk) nano-dollars of [start, end); only those that cost something then."""
        sums: dict[str, tuple[int, int]] = {}
        for life in self.lifetimes:
            if life.kind not in kinds or (owner is not None and life.owner != owner):
                continue
            gpu = life.gpu_nanousd(end) - life.gpu_nanousd(start)
            disk = life.disk_nanousd(end) - life.disk_nanousd(start)
            if gpu or disk:
                before = sums.get(life.owner, (0, 0))
                sums[life.owner] = before[0] + gpu, before[1] + disk
        return sums

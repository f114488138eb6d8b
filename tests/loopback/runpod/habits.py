"""What the real service does in ways that nobody documents: assumptions, each to be changed from the control door."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Habits:
    """Seconds by the clock unless named real."""

    pull_seconds: float = 0.0  # image pull, not billed
    cold_start_seconds: float = 0.0  # from container start to ready, at least; the process's own start counts
    resume_seconds: float = 0.0  # FlashBoot: from demand to ready
    park_seconds: float = 360.0  # FlashBoot: how long a slot is kept
    unhealthy_seconds: float = 10.0  # until a failed worker is replaced
    unhealthy_limit: int | None = None  # so many failed starts in a row lower max workers by one
    requeue_limit: int | None = 3  # lost workers a job survives; None = all
    request_count_idle_seconds: float = 10.0  # idleTimeout does not exist for that scaler
    rollout_seconds: float = 30.0  # how long workers of an older version still serve
    take_hold_real_seconds: float = 20.0  # how long job-take is held open
    stop_grace_real_seconds: float = 5.0  # from SIGTERM to SIGKILL
    ping_real_seconds: int = 10  # how often a worker shall ping
    webhook_patience_real_seconds: float = 2.0  # with 10 s between tries: a slow receiver was called every 12 s
    queue_cap: bool = False  # the documented and since removed 429
    refuse_nan: bool = True  # a result that is no JSON: 400
    played_by_test: bool = False  # no processes: a test plays the workers over HTTP

    def changed(self, data: Mapping[str, Any]) -> "Habits":
        """Raises ValueError on an unknown name."""
        known = {entry.name for entry in fields(self)}
        if strange := set(data) - known:
            raise ValueError(f"no habit is called {', '.join(sorted(strange))}; there are {', '.join(sorted(known))}")
        return replace(self, **data)

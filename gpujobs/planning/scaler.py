"""How many workers an endpoint shall have, as far as RunPod's rule is known. Pure: the planner's simulated endpoint and
the loopback RunPod of the tests go by it alike.

QUEUE_DELAY: from zero the first waiting job starts one at once (a FlashBoot resume was measured at 1.1 s from
submission, which leaves no room for a delay); from then on each job that waits longer than the delay asks for one
more, less those already on their way.  REQUEST_COUNT: ceil((queued + in progress) / N).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Load:
    """What the scaler looks at. waits: seconds that each queued job of normal priority has waited."""

    waits: Sequence[float]
    in_progress: int
    live: int  # workers that exist, whatever they do, less those being stopped
    starting: int  # of these, not ready yet


@dataclass(frozen=True)
class QueueDelay:
    """Seconds a job may wait."""

    seconds: float

    def wanted(self, load: Load) -> int:
        """Never fewer than there are: only idleness ends a worker."""
        if not load.live:
            return 1 if load.waits else 0
        overdue = sum(wait >= self.seconds for wait in load.waits)
        return load.live + max(0, overdue - load.starting)


@dataclass(frozen=True)
class RequestCount:
    """Requests per worker."""

    requests: int

    def wanted(self, load: Load) -> int:
        """Follows the load up and down."""
        return math.ceil((len(load.waits) + load.in_progress) / self.requests)


Scaler = QueueDelay | RequestCount


def target(scaler: Scaler, load: Load, least: int, most: int) -> int:
    """Workers wanted, between the endpoint's min and max (max wins)."""
    return min(max(scaler.wanted(load), least), most)

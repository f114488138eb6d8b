"""What a worker's second costs in `make bench-billing`. The endpoint itself is the planner's (gpujobs/planning)."""

from dataclasses import dataclass

from gpujobs.planning.arrivals import HOUR_SECONDS
from gpujobs.planning.assumptions import STANDARD, Assumption
from gpujobs.planning.endpoint import COLD_START_SECONDS, Clock, Endpoint, Limits, pass_seconds, windows

__all__ = [
    "ACTIVE_16_GB",
    "COLD_START_SECONDS",
    "FLEX_16_GB",
    "Clock",
    "Endpoint",
    "Limits",
    "Price",
    "pass_seconds",
    "windows",
]


@dataclass(frozen=True)
class Price:
    """Of a worker's second, in nano-dollars; where it was read, and when it held."""

    nanousd_per_second: int
    what: str
    source: str
    as_of: str

    def dollars(self, seconds: float) -> float:
        return seconds * self.nanousd_per_second / 1e9


def _of(row: Assumption) -> Price:
    return Price(STANDARD.nanousd(row.name) // HOUR_SECONDS, row.what, row.source, row.as_of)


FLEX_16_GB, ACTIVE_16_GB = _of(STANDARD["price.serverless_flex"]), _of(STANDARD["price.serverless_active"])

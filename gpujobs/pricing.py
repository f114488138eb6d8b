"""What time and space cost, in nano-dollars. Pure: prices come in as values, rounding is up, and once.

A long whole that is posted in pieces (the time of a machine, hour by hour) takes its pieces from running totals:
`between` is the difference of two of them, so that the pieces add up to the whole however it was cut.
"""

from dataclasses import dataclass

HOUR_MS = 3_600_000
SECOND_MS = 1_000
MONTH_SECONDS = 30 * 24 * 3600  # what a provider's "GB and month" means
DISK_STEP_SECONDS = 300  # a worker's disk is billed in started steps of 5 minutes


@dataclass(frozen=True, slots=True)
class Rate:
    """Of one machine. price_id: of the row that it came from, None where there is no row (a plan, a test)."""

    nanousd_per_hour: int
    price_id: int | None = None


def cost(rate: Rate, milliseconds: int) -> int:
    """Of so much time, rounded up. Raises ValueError for a negative time."""
    if milliseconds < 0:
        raise ValueError("a time is negative")
    return -(-rate.nanousd_per_hour * milliseconds // HOUR_MS)


def between(rate: Rate, start_ms: int, end_ms: int) -> int:
    """Of the piece [start, end) of a whole that began at 0."""
    return cost(rate, end_ms) - cost(rate, start_ms)


def started_seconds(milliseconds: int) -> int:
    """As billed: a second that has begun counts whole. In milliseconds."""
    return -(-milliseconds // SECOND_MS) * SECOND_MS


def disk(nanousd_per_gb_month: int, gb: int, milliseconds: int) -> int:
    """Of a machine's disk over its life, in started steps of 5 minutes, rounded up."""
    steps = -(-milliseconds // (DISK_STEP_SECONDS * SECOND_MS))
    return -(-steps * DISK_STEP_SECONDS * gb * nanousd_per_gb_month // MONTH_SECONDS)


def stored(nanousd_per_gb_month: int, gb: int, milliseconds: int) -> int:
    """Of so many GB kept for so long, rounded up."""
    return -(-gb * milliseconds * nanousd_per_gb_month // (MONTH_SECONDS * SECOND_MS))

"""Whether and when to ask again. Pure: the answer in, seconds out.

What failed by accident is asked again, with pauses that double and differ from client to client; what was refused is
not. Every try of a call carries the same Idempotency-Key, so that a try whose answer got lost is not charged twice.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from inkcloak.client.errors import CHECK_FAILED

MAX_TRIES = 5
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 20.0
# A service that wants to be left alone for longer has said no: the caller decides, not a sleeping program.
LONGEST_RETRY_AFTER_SECONDS = 65.0  # a minute's requests are counted anew after at most 60
JITTER = 0.25  # of the pause that the service names

TRANSIENT = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
NEVER = frozenset({HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.HTTP_VERSION_NOT_SUPPORTED})
# Asked again they'd be the same: a month's words, and the stored end of this very check.
FINAL_CODES = frozenset({"words_used", CHECK_FAILED})
IN_FLIGHT = "idempotency_in_flight"  # our own first try, whose answer got lost, is still at work


@dataclass(frozen=True, slots=True)
class Policy:
    """chance: a number in [0, 1) each time; the client's random one unless given."""

    tries: int = MAX_TRIES
    chance: Callable[[], float] = random.random

    def pause(self, tried: int, retry_after: float | None = None) -> float | None:
        """Seconds before the next try; None when there is none. tried: how many there were."""
        if tried >= self.tries:
            return None
        if retry_after is None:
            return float(self.chance() * min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2**tried))
        if retry_after > LONGEST_RETRY_AFTER_SECONDS:
            return None
        return retry_after * (1 + JITTER * self.chance())


def is_transient(status: int, code: str) -> bool:
    """Whether the same request may be answered otherwise a little later."""
    if code in FINAL_CODES:
        return False
    if code == IN_FLIGHT:
        return True
    return status in TRANSIENT or (status >= HTTPStatus.INTERNAL_SERVER_ERROR and status not in NEVER)


def seconds_of(header: str | None, *, now: datetime | None = None) -> float | None:
    """What Retry-After says, seconds or a date (RFC 9110); None for nothing and for nonsense."""
    if not header:
        return None
    if header.isascii() and header.isdigit() and len(header) < 10:
        return float(header)
    try:
        until = parsedate_to_datetime(header)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())

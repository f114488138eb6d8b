"""A circuit breaker: after several failures in a row nobody asks for a while, then one asks on behalf of all.

        closed --N failures in a row, or one that is about the door itself--> open --cool-down over--> half open
          ^                                                                    ^                         |
          +-----------------------------the probe succeeds--------------------- +---the probe fails------+

Its state is one hash in the cache's Redis, not a row. All workers must see it within one call, it is written at every
failure and read before every batch, and it expires by itself; losing it (a restart of Redis) costs a few failing calls
until it is open again. A row would need a lock in the middle of an outage. While Redis is away the breaker counts as
closed: the calls fail on their own, and the scoring tier must not hang on the cache.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

import redis
from django.conf import settings

log = logging.getLogger(__name__)

FAILURES_IN_A_ROW = 5
COOL_DOWN_SECONDS = (10.0, 300.0)  # the first, and the longest after repeated openings; doubled each time
PROBE_SECONDS = 120  # how long the one that asks has until another may; a cold start fits in
MEMORY_SECONDS = 3600  # a breaker that nothing happened to is forgotten
REDIS_TIMEOUT_SECONDS = 2

State = Literal["closed", "open", "half_open"]


class BreakerOpen(RuntimeError):
    """Nobody may ask now. code: what opened it.  retry_in_seconds: until the next probe, 0 while one is under way."""

    def __init__(self, code: str, retry_in_seconds: float) -> None:
        super().__init__(code)
        self.code = code
        self.retry_in_seconds = retry_in_seconds


@dataclass(frozen=True, slots=True)
class Reading:
    """For pages and policies.

    code: the last failure's.  opened: times in a row that it was opened.  until: seconds since the epoch, 0 = closed.
    """

    state: State
    failures: int
    code: str
    opened: int
    until: float


def cool_down(opened: int) -> float:
    """Seconds that nobody asks after that many openings in a row."""
    first, longest = COOL_DOWN_SECONDS
    return min(first * 2.0 ** min(opened - 1, 16), longest)


class Breaker:
    """One per outside service. now: seconds since the epoch."""

    def __init__(self, name: str, *, now: Callable[[], float] = time.time) -> None:
        self.name = name
        self._key, self._probe = f"breaker:{name}", f"breaker:{name}:probe"
        self._now = now

    def read(self) -> Reading:
        """How it stands, without taking the probe."""
        found = self._facts()
        until = float(found.get("until", 0))
        state: State = "closed" if not until else "open" if self._now() < until else "half_open"
        return Reading(state, int(found.get("failures", 0)), found.get("code", ""), int(found.get("opened", 0)), until)

    def lets_in(self) -> bool:
        """Whether `enter` would pass: for whoever would rather do something else than be refused. Takes nothing."""
        state = self.read().state
        if state != "half_open":
            return state == "closed"
        try:
            return not _redis().exists(self._probe)
        except redis.RedisError:
            return True

    def enter(self) -> None:
        """Call before asking. Raises BreakerOpen, but to one caller after each cool-down."""
        seen = self.read()
        if seen.state == "closed":
            return
        if seen.state == "open":
            raise BreakerOpen(seen.code, seen.until - self._now())
        try:
            mine = _redis().set(self._probe, 1, nx=True, ex=PROBE_SECONDS)
        except redis.RedisError:
            return
        if not mine:
            raise BreakerOpen(seen.code, 0.0)

    def succeeded(self) -> None:
        """It works: closed, all failures forgotten."""
        try:
            was_open = bool(_redis().hget(self._key, "until"))
            _redis().delete(self._key, self._probe)
        except redis.RedisError as error:
            log.warning("breaker %s: %s", self.name, type(error).__name__)
            return
        if was_open:
            log.warning("breaker %s: closed, it works again", self.name)

    def failed(self, code: str, *, at_once: bool = False) -> None:
        """One more failure in a row. at_once: opens whatever the count, as for a key that is refused."""
        try:
            self._count(code, at_once)
        except redis.RedisError as error:
            log.warning("breaker %s: %s", self.name, type(error).__name__)

    def undecided(self) -> None:
        """The call told nothing about the door (it never got there): another may be the probe."""
        try:
            _redis().delete(self._probe)
        except redis.RedisError as error:
            log.warning("breaker %s: %s", self.name, type(error).__name__)

    def _count(self, code: str, at_once: bool) -> None:
        client = _redis()
        failures = client.hincrby(self._key, "failures", 1)
        client.hset(self._key, "code", code)
        client.expire(self._key, MEMORY_SECONDS)
        state = self.read().state
        if state == "open" or (state == "closed" and failures < FAILURES_IN_A_ROW and not at_once):
            return
        opened = client.hincrby(self._key, "opened", 1)
        pause = cool_down(opened)
        client.hset(self._key, "until", repr(self._now() + pause))
        client.delete(self._probe)
        log.error("breaker %s: open for %d s after %d failures in a row: %s", self.name, pause, failures, code)

    def _facts(self) -> dict[str, str]:
        try:
            found = cast(dict[bytes, bytes], _redis().hgetall(self._key))
        except redis.RedisError as error:
            log.warning("breaker %s: %s", self.name, type(error).__name__)
            return {}
        return {name.decode(): value.decode() for name, value in found.items()}


def _redis() -> redis.Redis:
    return _client(settings.CACHE_URL)


@lru_cache(maxsize=2)
def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=REDIS_TIMEOUT_SECONDS, socket_connect_timeout=REDIS_TIMEOUT_SECONDS)

"""Several failures in a row close the door for a while; then one asks on behalf of all. On the real Redis."""

import logging
from collections.abc import Iterator

import pytest
import redis
from django.conf import settings

from gpujobs import breaker
from gpujobs.breaker import COOL_DOWN_SECONDS, FAILURES_IN_A_ROW, Breaker, BreakerOpen

FIRST, LONGEST = COOL_DOWN_SECONDS


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def door(clock: Clock) -> Iterator[Breaker]:
    made = Breaker("test", now=clock)
    made.succeeded()
    yield made
    made.succeeded()


def fail(door: Breaker, times: int = FAILURES_IN_A_ROW) -> None:
    for _ in range(times):
        door.failed("gone")


def refused(door: Breaker) -> BreakerOpen:
    with pytest.raises(BreakerOpen) as caught:
        door.enter()
    return caught.value


def test_it_opens_after_failures_in_a_row(door: Breaker, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    fail(door, FAILURES_IN_A_ROW - 1)
    door.enter()
    assert door.read().state == "closed"
    with caplog.at_level(logging.ERROR):
        door.failed("gone")
    error = refused(door)
    assert (error.code, error.retry_in_seconds) == ("gone", FIRST)
    assert "breaker test: open" in caplog.text
    seen = door.read()
    assert (seen.state, seen.failures, seen.opened, seen.until) == ("open", FAILURES_IN_A_ROW, 1, clock.now + FIRST)


def test_a_success_between_failures_keeps_it_closed(door: Breaker) -> None:
    for _ in range(3):
        fail(door, FAILURES_IN_A_ROW - 1)
        door.succeeded()
    door.enter()
    assert door.read().failures == 0


def test_a_refused_key_opens_it_at_once(door: Breaker) -> None:
    door.failed("unauthorized", at_once=True)
    assert refused(door).code == "unauthorized"


def test_all_processes_see_it(door: Breaker, clock: Clock) -> None:
    fail(door)
    refused(Breaker("test", now=clock))
    Breaker("another", now=clock).enter()


def test_one_asks_on_behalf_of_all(door: Breaker, clock: Clock) -> None:
    fail(door)
    clock.now += FIRST
    assert door.read().state == "half_open"
    door.enter()
    assert refused(door).retry_in_seconds == 0
    door.succeeded()
    door.enter()
    assert door.read().state == "closed"


def test_another_asks_when_the_first_learnt_nothing(door: Breaker, clock: Clock) -> None:
    fail(door)
    clock.now += FIRST
    door.enter()
    door.undecided()
    door.enter()
    refused(door)


def test_it_stays_closed_to_all_for_longer_when_the_probe_fails(door: Breaker, clock: Clock) -> None:
    fail(door)
    pauses = []
    for _ in range(8):
        pauses.append(door.read().until - clock.now)
        clock.now = door.read().until
        door.enter()
        door.failed("still gone")
        assert refused(door).code == "still gone"
    assert pauses == [min(FIRST * 2**n, LONGEST) for n in range(8)]


def test_a_late_failure_prolongs_nothing(door: Breaker, clock: Clock) -> None:
    fail(door)
    until = door.read().until
    clock.now += 1
    fail(door, 3)
    assert (door.read().until, door.read().opened) == (until, 1)


def test_it_is_forgotten_by_itself(door: Breaker) -> None:
    fail(door)
    with redis.Redis.from_url(settings.CACHE_URL) as client:
        assert 0 < client.ttl("breaker:test") <= breaker.MEMORY_SECONDS


def test_it_lets_everybody_ask_while_redis_is_away(settings, door: Breaker) -> None:
    fail(door)
    settings.CACHE_URL = "redis://127.0.0.1:1/0"
    door.enter()
    door.failed("gone")
    door.succeeded()
    assert door.read().state == "closed"

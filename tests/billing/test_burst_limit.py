"""Posts per minute by address, counted in Redis; without Redis they pass."""

import logging

import pytest
from django.core.cache import caches
from django.test import RequestFactory
from pytest_django import Settings
from rest_framework.throttling import SimpleRateThrottle

from billing.throttling import check_burst
from inkcloak.errors import Exhausted

HERE, THERE = "203.0.113.5", "203.0.113.6"


@pytest.fixture(autouse=True)
def _two_a_minute(settings: Settings, db: None) -> None:
    settings.POSTS_PER_MINUTE = 2


def post(address: str = HERE) -> None:
    check_burst(RequestFactory().post("/check", REMOTE_ADDR=address))


def test_it_lets_the_first_posts_pass_and_says_when_the_next_may_come() -> None:
    post()
    post()
    with pytest.raises(Exhausted) as refused:
        post()
    assert refused.value.code == "too_many_posts"
    assert 1 <= (refused.value.retry_after or 0) <= 60


def test_it_counts_each_address_on_its_own() -> None:
    post()
    post()
    post(THERE)


def test_it_stores_no_address() -> None:
    post()
    assert not [key for key in caches["default"]._cache.get_client().keys("*") if HERE.encode() in key]  # type: ignore[attr-defined]


def test_it_lets_posts_pass_while_redis_is_away(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    nowhere = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {"default": nowhere}
    monkeypatch.setattr(SimpleRateThrottle, "cache", caches["default"])
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            post()
    assert "no burst limit: ConnectionError" in caplog.text

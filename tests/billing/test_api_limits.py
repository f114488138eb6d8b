"""Requests a minute by plan, words a month by account: both in the headers of every answer, errors included."""

import logging
import re
from collections.abc import Callable

import pytest
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings

from billing import keys, throttling
from billing.models import User

USAGE = "/api/v1/usage"
LIMIT = re.compile(r'"requests";r=(\d+);t=(\d+)')
MadeKey = Callable[..., keys.Issued]


@pytest.fixture(autouse=True)
def _early_in_the_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds into a minute: no test counts over its end."""
    monkeypatch.setattr(throttling.time, "time", lambda: 1_800_000_010.4)


@pytest.fixture
def three_a_minute(settings: Settings) -> None:
    settings.API_REQUESTS_PER_MINUTE = settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 3


def left(answer) -> int:
    found = LIMIT.search(answer["RateLimit"])
    assert found
    assert answer["X-RateLimit-Remaining"] == found[1]
    return int(found[1])


def test_it_counts_down_and_says_when_the_next_may_come(api: Client, three_a_minute: None) -> None:
    assert [left(api.get(USAGE)) for _n in range(3)] == [2, 1, 0]
    refused = api.get(USAGE)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused["Retry-After"] == "50"
    assert left(refused) == 0


def test_the_next_minute_starts_anew(api: Client, three_a_minute: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for _n in range(4):
        api.get(USAGE)
    monkeypatch.setattr(throttling.time, "time", lambda: 1_800_000_060.0)
    assert left(api.get(USAGE)) == 2


def test_it_writes_both_limits_as_the_draft_does(api: Client, settings: Settings) -> None:
    answer = api.get(USAGE)
    assert re.fullmatch(r'"requests";q=60;w=60, "words";q=10000;w=\d+', answer["RateLimit-Policy"])
    assert re.fullmatch(r'"requests";r=59;t=50, "words";r=10000;t=\d+', answer["RateLimit"])
    assert answer["X-RateLimit-Limit"] == "60"
    assert answer["X-RateLimit-Reset"] == "1800000060"


def test_keys_of_one_account_share_its_limit(alice: User, key_of: MadeKey, three_a_minute: None) -> None:
    clients = [Client(headers={"Authorization": f"Bearer {key_of(alice).token}"}) for _n in range(2)]
    assert [left(client.get(USAGE)) for client in clients] == [2, 1]


def test_another_account_has_its_own(api: Client, bob: User, key_of: MadeKey, three_a_minute: None) -> None:
    api.get(USAGE)
    assert left(Client(headers={"Authorization": f"Bearer {key_of(bob).token}"}).get(USAGE)) == 2


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("get", USAGE, 401),
        ("get", "/api/v1/nothing/here", 404),
        ("post", USAGE, 401),
    ],
)
def test_without_a_key_the_address_is_counted(db: None, method: str, address: str, status: int) -> None:
    answer = getattr(Client(), method)(address)
    assert answer.status_code == status
    assert left(answer) == 29


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("post", USAGE, 405),
        ("get", f"{USAGE}?key=1", 400),
        ("get", f"{USAGE}/entries?cursor=x", 400),
        ("get", "/api/v1/nothing", 404),
    ],
)
def test_errors_have_the_headers_too(api: Client, method: str, address: str, status: int) -> None:
    answer = getattr(api, method)(address)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert {"RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-Request-ID"} <= set(answer.headers)


def test_who_tries_keys_is_stopped(db: None, three_a_minute: None) -> None:
    wrong = Client(headers={"Authorization": f"Bearer {keys.new_token(live=True)}"})
    assert [wrong.get(USAGE).status_code for _n in range(4)] == [401, 401, 401, 429]


def test_requests_pass_while_redis_is_away(api: Client, settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.CACHE_URL = "redis://127.0.0.1:1/0"
    settings.API_REQUESTS_PER_MINUTE = 1
    with caplog.at_level(logging.WARNING):
        assert [api.get(USAGE).status_code for _n in range(3)] == [200, 200, 200]
    assert "no rate limit: ConnectionError" in caplog.text


def test_a_database_that_restarts_takes_no_other_header_along(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_args: object) -> None:
        raise OperationalError("server closed the connection")

    monkeypatch.setattr(throttling.quota, "balance", away)
    answer = api.get(f"{USAGE}/entries")
    assert answer.status_code == 200
    assert answer["RateLimit"] == '"requests";r=59;t=50'

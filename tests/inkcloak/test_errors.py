"""Errors that people may read become pages with the right status; others stay ours."""

import json

import pytest
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.test import Client, RequestFactory

from inkcloak import middleware
from inkcloak.errors import DomainError, Exhausted, Forbidden, Invalid, Unavailable


@pytest.mark.parametrize(("kind", "status"), [(Invalid, 400), (Forbidden, 403), (Exhausted, 429), (Unavailable, 503)])
def test_each_kind_has_its_status(kind: type[DomainError], status: int) -> None:
    error = kind("some_code", "Words for people.", retry_after=7)
    assert (error.status, error.code, error.retry_after, str(error)) == (status, "some_code", 7, "some_code")


@pytest.mark.parametrize("away", [OperationalError("server closed"), InterfaceError("connection already closed")])
def test_a_database_that_restarts_is_no_bare_500(away: Exception) -> None:
    error = middleware.readable(away)
    assert (error.code, error.status) == ("restarting", 503)
    assert error.retry_after > 0
    assert "server closed" not in str(error.message)


def test_an_oversized_request_is_named() -> None:
    assert middleware.readable(RequestDataTooBig("too big")).code == "too_large"


def test_a_defect_of_ours_is_not_dressed_up() -> None:
    assert middleware.readable(KeyError("x")) is None


def test_it_says_when_to_come_back() -> None:
    error = Exhausted("visitor_checks_used", "Come back <b>later</b>.", retry_after=90)
    page = middleware.error_page(RequestFactory().get("/"), error)
    assert (page.status_code, page["Retry-After"]) == (429, "90")
    assert "Come back &lt;b&gt;later&lt;/b&gt;." in page.content.decode()


def test_health_needs_neither_database_nor_redis(client: Client, settings) -> None:
    """No database fixture: pytest-django would refuse a query."""
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1"}
    }
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content, answer["Cache-Control"]) == (200, b"ok\n", "no-store")


def test_pages_run_no_foreign_script(client: Client, db) -> None:
    policy = client.get("/accounts/login/")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe-inline" not in policy
    assert json.dumps(policy).count("http") == 0

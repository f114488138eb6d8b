"""The people of every test, a model in service, and a clean Redis. Postgres and Redis are always the real ones."""

import io
import os
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit, urlunsplit

import factories
import pytest
import redis
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from billing.models import User
from gpujobs import registry
from gpujobs.models import ModelVersion
from inkcloak.celery import app

QUEUES = ("score", "default")
DATABASE_FIXTURES = {"db", "transactional_db"}


def pytest_configure() -> None:
    """Parallel test processes (`-n`) have a Redis database each for messages and for the cache, as they have a
    PostgreSQL database each: queues are emptied and counters forgotten between tests."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if worker:
        messages, counters = 2 * int(worker) + 2, 2 * int(worker) + 3
        settings.REDIS_URL = settings.CELERY_BROKER_URL = app.conf.broker_url = numbered(settings.REDIS_URL, messages)
        settings.CACHE_URL = settings.CACHES["default"]["LOCATION"] = numbered(settings.CACHE_URL, counters)


def numbered(url: str, database: int) -> str:
    """The address of another database of the same Redis."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


@pytest.fixture
def alice(db: None) -> User:
    """Has an account of her own."""
    return factories.person("alice")


@pytest.fixture
def bob(db: None) -> User:
    """Alice's colleague, with an account of his own."""
    return factories.person("bob")


@pytest.fixture
def charlie(db: None) -> User:
    """A stranger who knows addresses that he shouldn't."""
    return factories.person("charlie")


@pytest.fixture
def champion(db: None) -> ModelVersion:
    """A model in service, by its manifest; scores come from factories.ScriptedBackend."""
    return factories.champion()


@pytest.fixture
def shipped(db: None) -> ModelVersion:
    """The model that ships, in service: real scores, loaded once for all tests (0.5 s)."""
    call_command("register_shipped_model", stdout=io.StringIO())
    return registry.resolve()


@pytest.fixture
def client_of(db: None) -> Callable[[User], Client]:
    """client_of(alice): a browser in which she is signed in."""

    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    """The Redis that carries Celery's messages, its queues empty."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.delete(*QUEUES)
        yield client


@pytest.fixture(autouse=True)
def _forget_what_redis_knows(request: pytest.FixtureRequest) -> Iterator[None]:
    """Counters of one test are not another's."""
    asks = not DATABASE_FIXTURES.isdisjoint(request.fixturenames)
    uses_rows = asks or request.node.get_closest_marker("django_db") is not None
    if uses_rows:
        cache.clear()
    yield
    if uses_rows:
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            client.delete(*QUEUES)

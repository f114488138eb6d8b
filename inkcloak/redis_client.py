"""The process's connections to the Redis that counts and tells, shared by its threads.

Django's cache keeps its connections by request under ASGI: each request that counts something would open one.
"""

from functools import lru_cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

TIMEOUT_SECONDS = 2  # whoever counts goes on without Redis


def client() -> redis.Redis:
    """Speaks to CACHE_URL. A connection that Redis has closed meanwhile is opened again once, at once."""
    return _client(settings.CACHE_URL)


@lru_cache(maxsize=4)
def _client(url: str) -> redis.Redis:
    once_more = Retry(NoBackoff(), 1)
    return redis.Redis.from_url(
        url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS, retry=once_more
    )

"""Requests per minute: of the API by plan, and a burst limit on the pages' posts by address.

While Redis is away requests pass: the quota in the database still holds, and nobody is locked out by our outage.
"""

import logging
import time
from dataclasses import dataclass
from typing import Any, cast

import redis
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from billing import plans, quota
from billing.accounts import Owner, allowance_of, keyed_address
from billing.models import ApiKey
from inkcloak import redis_client
from inkcloak.errors import Exhausted

log = logging.getLogger(__name__)

WINDOW_SECONDS = 60
COUNTER_SECONDS = 2 * WINDOW_SECONDS


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests of one holder in the running minute. used: with this one; None while nobody counts."""

    limit: int
    used: int | None
    seconds_left: int
    key: ApiKey | None = None

    @property
    def left(self) -> int:
        return self.limit if self.used is None else max(0, self.limit - self.used)

    @property
    def is_over(self) -> bool:
        return self.used is not None and self.used > self.limit


class PostBurst(SimpleRateThrottle):
    """POSTS_PER_MINUTE for one address."""

    scope = "post"

    def get_rate(self) -> str:
        return f"{settings.POSTS_PER_MINUTE}/min"

    def get_cache_key(self, request: Any, view: Any) -> str:
        return f"burst:{self.scope}:{keyed_address(request)}"


def check_burst(request: HttpRequest) -> None:
    """Counts this post. Raises Exhausted, with the seconds to wait, when the address has posted too often."""
    throttle = PostBurst()
    try:
        # It looks at nothing but what get_cache_key takes from the request, and at no view.
        allowed = throttle.allow_request(cast(Request, request), cast(APIView, None))
    except (redis.RedisError, OSError) as error:
        log.warning("no burst limit: %s", type(error).__name__)
        return
    if not allowed:
        seconds = max(1, round(throttle.wait() or 1))
        raise Exhausted(
            "too_many_posts", _("That was a lot of checks at once. Please wait a moment."), retry_after=seconds
        )


# --- The API ------------------------------------------------------------------------------------------------


def admit(request: Request, key: ApiKey | None) -> None:
    """Counts this request, once. Raises Exhausted when its account, or without a key its address, has had its share."""
    rate = rate_of(request, key)
    if rate.is_over:
        message = _("More requests in a minute than your plan has. Please wait for the time that Retry-After names.")
        raise Exhausted("rate_limited", message, retry_after=rate.seconds_left)


def headers(request: Request) -> dict[str, str]:
    """Both limits, as the IETF's draft writes them (draft-ietf-httpapi-ratelimit-headers-10) and as programs know it.

    Read after the work is done, so that words which this request took are taken off.
    """
    rate = rate_of(request)
    policies = [f'"requests";q={rate.limit};w={WINDOW_SECONDS}']
    limits = [f'"requests";r={rate.left};t={rate.seconds_left}']
    if rate.key is not None and (words := _words(rate.key, request)) is not None:
        policies.append(words[0])
        limits.append(words[1])
    return {
        "RateLimit-Policy": ", ".join(policies),
        "RateLimit": ", ".join(limits),
        "X-RateLimit-Limit": str(rate.limit),
        "X-RateLimit-Remaining": str(rate.left),
        "X-RateLimit-Reset": str(int(time.time()) + rate.seconds_left),
    }


def said(request: Request, balance: quota.Balance) -> quota.Balance:
    """The same balance, which the answer names: the headers will, too, without asking again."""
    request._request.balance = balance  # type: ignore[attr-defined]
    return balance


def _words(key: ApiKey, request: Request) -> tuple[str, str] | None:
    """Policy and limit of the month's words; None while the database is away, which the answer itself says already."""
    now = timezone.now()
    allowance = allowance_of(Owner(account=key.account), now)
    period = int((allowance.period_end - allowance.period_start).total_seconds())
    resets = max(1, int((allowance.period_end - now).total_seconds()))
    try:
        left = (getattr(request._request, "balance", None) or quota.balance(allowance)).left
    except (OperationalError, InterfaceError):
        return None
    return f'"words";q={allowance.limit};w={period}', f'"words";r={left};t={resets}'


def rate_of(request: Request, key: ApiKey | None = None) -> Rate:
    """What was counted for this request; counted now where nothing was."""
    counted: Rate | None = getattr(request._request, "rate", None)
    if counted is None:
        counted = _count_account(key) if key is not None else _count_address(request._request)
        request._request.rate = counted  # type: ignore[attr-defined]
    return counted


def _count_account(key: ApiKey) -> Rate:
    return _count(f"account:{key.account_id}", plans.plan_of(key.account).requests_per_minute, key)


def _count_address(request: HttpRequest) -> Rate:
    return _count(f"address:{keyed_address(request)}", settings.API_ANONYMOUS_REQUESTS_PER_MINUTE, None)


def _count(holder: str, limit: int, key: ApiKey | None) -> Rate:
    """One more in the running minute of the clock: Redis adds up, so that no two requests take the same place."""
    minute, second = divmod(int(time.time()), WINDOW_SECONDS)
    counter = f"requests:{holder}:{minute}"
    used: int | None = None
    try:
        with redis_client.client().pipeline(transaction=False) as together:
            together.incr(counter)
            together.expire(counter, COUNTER_SECONDS)
            used = int(together.execute()[0])
    except (redis.RedisError, OSError) as error:
        log.warning("no rate limit: %s", type(error).__name__)
    return Rate(limit, used, WINDOW_SECONDS - second, key)

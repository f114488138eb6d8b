"""Requests per minute: a burst limit on posts, by the keyed address that the daily allowance counts by.

While Redis is away requests pass: the quota in the database still holds, and nobody is locked out by our outage.
"""

import logging
from typing import Any, cast

import redis
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from billing.accounts import keyed_address
from inkcloak.errors import Exhausted

log = logging.getLogger(__name__)


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

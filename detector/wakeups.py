"""Wake-ups: tell workers that rows wait, and waiting pages that a verdict is there.

Only hints go through Redis, never a text. Losing one costs the sweep's interval or one tick of a poll; nothing else.
"""

import asyncio
import logging
import uuid

import redis
import redis.asyncio
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connection
from kombu.exceptions import OperationalError

from detector.models import Submission
from inkcloak.celery import app

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5  # whoever waits asks the row itself too, in case a hint was lost: at first after so long,
POLL_GROWTH = 1.5  # then less and less often: hundreds may wait in one process
LONGEST_POLL_SECONDS = 4.0
HINT_TIMEOUT_SECONDS = 2


def queue_has_work() -> None:
    """Wakes the scoring workers; which of them may take what waits, the policy says. While the broker is away the
    rows wait for the sweep.
    """
    try:
        app.send_task("detector.tasks.dispatch_queued")
        if settings.RUNPOD_ENDPOINT_ID:
            app.send_task("detector.tasks.dispatch_gpu")
    except (OperationalError, redis.RedisError) as error:
        log.warning("no wake-up sent: %s", type(error).__name__)


def look_after(run_id: uuid.UUID, *, seconds: float) -> None:
    """Has somebody ask after a run in so many seconds. Lost, it is the sweep's to say so again."""
    try:
        app.send_task("detector.tasks.look_after", args=[str(run_id)], countdown=seconds)
    except (OperationalError, redis.RedisError) as error:
        log.warning("run %s: no wake-up sent: %s", run_id, type(error).__name__)


def announce(*submission_ids: uuid.UUID) -> None:
    """Tells whoever waits for these submissions that they are finished; one round trip for all."""
    try:
        with _client().pipeline(transaction=False) as together:
            for submission_id in submission_ids:
                together.publish(_channel(submission_id), "finished")
            together.execute()
    except redis.RedisError as error:
        log.warning("no announcement sent: %s", type(error).__name__)


async def wait_until_finished(submission_id: uuid.UUID, *, seconds: float) -> bool:
    """Waits for the row to be done or failed, at most `seconds`. True if it is finished (or gone)."""
    client = redis.asyncio.from_url(settings.CACHE_URL, socket_connect_timeout=HINT_TIMEOUT_SECONDS)
    try:
        return await _wait(client, submission_id, seconds)
    finally:
        await client.aclose()


async def _wait(client: redis.asyncio.Redis, submission_id: uuid.UUID, seconds: float) -> bool:
    hints = client.pubsub(ignore_subscribe_messages=True)
    await _subscribe(hints, submission_id)
    try:
        deadline = asyncio.get_running_loop().time() + seconds
        pause = POLL_SECONDS
        while not await _is_finished(submission_id):  # first look after subscribing: no hint falls between
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return False
            await _next_hint(hints, min(left, pause))
            pause = min(pause * POLL_GROWTH, LONGEST_POLL_SECONDS)
        return True
    finally:
        await hints.aclose()  # type: ignore[no-untyped-call]


async def _subscribe(hints: redis.asyncio.client.PubSub, submission_id: uuid.UUID) -> None:
    try:
        await hints.subscribe(_channel(submission_id))
    except redis.RedisError as error:
        log.warning("waiting without hints: %s", type(error).__name__)


async def _next_hint(hints: redis.asyncio.client.PubSub, seconds: float) -> None:
    """Returns at the next hint or after `seconds`, whichever comes first; without Redis it just waits."""
    if not hints.subscribed:
        await asyncio.sleep(seconds)
        return
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    try:
        while (left := until - loop.time()) > 0:
            if await hints.get_message(timeout=left) is not None:
                return
    except redis.RedisError:
        await asyncio.sleep(max(0.0, until - loop.time()))


@sync_to_async
def _is_finished(submission_id: uuid.UUID) -> bool:
    """Gives its connection back at once: a page waits for seconds, and sixteen of them are a whole pool."""
    pending = (Submission.Status.QUEUED, Submission.Status.SCORING)
    try:
        return not Submission.objects.filter(pk=submission_id, status__in=pending).exists()
    finally:
        if not connection.in_atomic_block:
            connection.close()


def _channel(submission_id: uuid.UUID) -> str:
    return f"submission:{submission_id}"


def _client() -> redis.Redis:
    global _shared
    if _shared is None:
        _shared = redis.Redis.from_url(settings.CACHE_URL, socket_timeout=HINT_TIMEOUT_SECONDS)
    return _shared


_shared: redis.Redis | None = None

"""Hints through Redis: they make waiting short, and losing each of them costs little."""

import asyncio
import json
import threading
import time
import uuid
from collections.abc import Callable

import factories
import pytest
import redis
from asgiref.sync import async_to_sync
from factories import ScriptedBackend

from detector import dispatch, wakeups
from detector.models import Submission

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def waiting() -> Submission:
    factories.champion()
    return factories.accepted(factories.visitor())


def wait(submission_id: uuid.UUID, seconds: float) -> tuple[bool, float]:
    """What waiting said, and how long it took."""
    begin = time.monotonic()
    finished = async_to_sync(wakeups.wait_until_finished)(submission_id, seconds=seconds)
    return finished, time.monotonic() - begin


def later(seconds: float, work: Callable[[], object]) -> threading.Timer:
    """Does it from another thread, as another process would."""

    def run() -> None:
        factories.together(lambda _n: work(), 1)

    timer = threading.Timer(seconds, run)
    timer.start()
    return timer


def score_all() -> None:
    dispatch.next_batch(now=factories.NOW, backend=ScriptedBackend())


def test_it_ends_at_the_announcement_and_not_at_the_next_poll(waiting: Submission, monkeypatch) -> None:
    monkeypatch.setattr(wakeups, "POLL_SECONDS", 60.0)
    timer = later(0.3, score_all)
    finished, seconds = wait(waiting.pk, 30)
    timer.join()
    assert finished
    assert seconds < 5


def test_it_ends_at_once_when_the_verdict_is_there(waiting: Submission) -> None:
    score_all()
    finished, seconds = wait(waiting.pk, 30)
    assert finished
    assert seconds < 1


def test_it_ends_at_its_time(waiting: Submission) -> None:
    finished, seconds = wait(waiting.pk, 0.7)
    assert not finished
    assert 0.7 <= seconds < 2


def test_it_ends_when_the_text_is_gone(waiting: Submission) -> None:
    timer = later(0.2, lambda: Submission.objects.all().delete())
    finished, seconds = wait(waiting.pk, 30)
    timer.join()
    assert finished
    assert seconds < 5


def test_it_ends_by_looking_when_the_hint_was_lost(waiting: Submission) -> None:
    timer = later(0.3, lambda: Submission.objects.update(status="failed"))
    finished, seconds = wait(waiting.pk, 30)
    timer.join()
    assert finished
    assert seconds < 3


def test_it_ends_by_looking_while_redis_is_away(waiting: Submission, settings) -> None:
    settings.CACHE_URL = NOWHERE
    timer = later(0.3, lambda: Submission.objects.update(status="done"))
    finished, seconds = wait(waiting.pk, 30)
    timer.join()
    assert finished
    assert seconds < 5


def test_it_keeps_its_time_while_redis_is_away(waiting: Submission, settings) -> None:
    settings.CACHE_URL = NOWHERE
    finished, seconds = wait(waiting.pk, 1.0)
    assert not finished
    assert seconds < 3


def test_many_wait_at_once_in_one_process(waiting: Submission) -> None:
    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*(wakeups.wait_until_finished(waiting.pk, seconds=20) for _ in range(20)))

    timer = later(0.5, score_all)
    begin = time.monotonic()
    assert async_to_sync(all_of_them)() == [True] * 20
    timer.join()
    assert time.monotonic() - begin < 10


def test_it_announces_a_failure_too(waiting: Submission, monkeypatch) -> None:
    monkeypatch.setattr(wakeups, "POLL_SECONDS", 60.0)
    timer = later(0.3, lambda: dispatch.sweep(now=waiting.deadline_at.replace(year=2050)))
    finished, seconds = wait(waiting.pk, 30)
    timer.join()
    assert finished
    assert seconds < 5


def test_its_message_to_a_worker_says_nothing_but_look(broker: redis.Redis) -> None:
    wakeups.queue_has_work()
    (raw,) = broker.lrange("score", 0, -1)
    message = json.loads(raw)
    assert message["headers"]["task"] == "detector.tasks.dispatch_queued"
    assert message["headers"]["argsrepr"] == "()"
    assert message["headers"]["kwargsrepr"] == "{}"

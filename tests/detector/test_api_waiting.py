"""`Prefer: wait=N`: an answer that waits for its verdict, and what a client that hangs up leaves behind."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import factories
import pytest
import redis
import samples
from api_calls import V1, Caller
from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.db import connection
from django.utils import timezone

from billing.models import User
from detector import dispatch, retention, wakeups
from detector.models import Submission

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE_SECONDS = 20.0
MOMENT_SECONDS = 0.3


@pytest.fixture
def caller(alice: User) -> Caller:
    factories.champion()
    return Caller(alice)


@pytest.fixture
def meanwhile() -> Iterator[Callable[..., None]]:
    """meanwhile(work): does it from another thread as soon as a check is there, as another process would."""
    threads = []

    def work_when_there(work: Callable[[], object]) -> None:
        try:
            factories.eventually(Submission.objects.exists)
            time.sleep(MOMENT_SECONDS)  # by then it is waited for, mostly; either way the answer is the same
            work()
        finally:
            connection.close()

    def start(work: Callable[[], object]) -> None:
        threads.append(threading.Thread(target=work_when_there, args=[work]))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join()


def score_all() -> None:
    dispatch.next_batch(now=timezone.now(), backend=factories.ScriptedBackend())


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.monotonic()
    return call(), time.monotonic() - begin


def test_a_create_answers_when_the_verdict_is_there(caller: Caller, meanwhile) -> None:
    meanwhile(score_all)
    answer, seconds = timed(lambda: caller.post("/detections", {"text": samples.AI}, prefer="wait=30"))
    assert (answer.status_code, answer.json()["verdict"]) == (201, "ai")
    assert answer["Preference-Applied"] == "wait=30"
    assert answer["Location"]
    assert "Retry-After" not in answer
    assert seconds < PATIENCE_SECONDS


def test_a_create_answers_202_when_the_time_is_over(caller: Caller) -> None:
    answer, seconds = timed(lambda: caller.post("/detections", {"text": samples.AI}, prefer="wait=1"))
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    assert answer["Retry-After"]
    assert seconds >= 1


def test_the_longest_wait_is_a_minute(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    async def at_once(_submission_id: object, *, seconds: float) -> bool:
        asked.append(seconds)
        return False

    monkeypatch.setattr(wakeups, "wait_until_finished", at_once)
    for prefer in ("wait=3600", "respond-async, wait=7; x=y", "handling=lenient"):
        caller.post("/detections", {"text": samples.AI}, prefer=prefer)
    assert asked == [60, 7, 10]


def test_a_reader_may_wait_too(caller: Caller, meanwhile) -> None:
    made = caller.check(samples.AI)
    meanwhile(score_all)
    answer = caller.get(f"/detections/{made['id']}", prefer="wait=30")
    assert (answer.status_code, answer.json()["verdict"]) == (200, "ai")


def test_who_waits_for_a_check_that_is_deleted_hears_so(caller: Caller, meanwhile) -> None:
    meanwhile(lambda: retention.delete(Submission.objects.get()))
    answer = caller.post("/detections", {"text": samples.AI}, prefer="wait=30")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_who_waits_for_a_check_that_fails_hears_so(caller: Caller, meanwhile) -> None:
    meanwhile(lambda: dispatch.sweep(now=timezone.now().replace(year=2050)))
    answer = caller.post("/detections", {"text": samples.AI}, prefer="wait=30")
    assert (answer.status_code, answer.json()["code"]) == (503, "check_failed")
    assert answer["Content-Type"] == "application/problem+json"


# --- The server's own face: a client that hangs up, and many that don't ----------------------------------------


class Request:
    """One request to the ASGI application; the client hangs up when `gone` is set."""

    def __init__(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> None:
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [*raw, (b"host", b"localhost"), (b"content-length", str(len(body)).encode())],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        self.body: bytes | None = body
        self.gone = asyncio.Event()
        self.sent: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        if self.body is not None:
            body, self.body = self.body, None
            return {"type": "http.request", "body": body}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    async def run(self, application: Any) -> int:
        """To its end; the status, 0 without an answer."""
        await application(self.scope, self.receive, self.send)
        return next((message["status"] for message in self.sent if "status" in message), 0)


def create(caller: Caller, text: str, **more: str) -> Request:
    headers = caller.headers("wait=60", **more) | {"content-type": "application/json"}
    return Request("POST", f"{V1}/detections", headers, json.dumps({"text": text}).encode())


def subscriptions() -> int:
    """How many wait for hints."""
    with redis.Redis.from_url(settings.CACHE_URL) as client:
        return len(client.pubsub_channels("submission:*"))


async def until(look: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not await asyncio.to_thread(look):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


def test_a_client_that_hangs_up_leaves_nothing_behind(caller: Caller) -> None:
    async def hang_up() -> tuple[Request, int]:
        request = create(caller, samples.AI)
        running = asyncio.create_task(request.run(get_asgi_application()))
        await until(lambda: subscriptions() == 1)
        request.gone.set()
        status = await asyncio.wait_for(running, PATIENCE_SECONDS)
        await until(lambda: subscriptions() == 0)
        return request, status

    request, status = async_to_sync(hang_up)()
    assert (status, request.sent) == (0, [])
    assert Submission.objects.get().status == "queued"  # what was accepted is still done
    score_all()
    assert caller.ledger() == [("charged", Submission.objects.get().words)]


def test_who_hung_up_and_asks_again_under_the_same_key_pays_once(caller: Caller) -> None:
    key = {"Idempotency-Key": "essay-17"}

    async def hang_up() -> None:
        request = create(caller, samples.AI, **key)
        running = asyncio.create_task(request.run(get_asgi_application()))
        await until(lambda: subscriptions() == 1)
        request.gone.set()
        await asyncio.wait_for(running, PATIENCE_SECONDS)

    async_to_sync(hang_up)()
    score_all()
    again = caller.post("/detections", {"text": samples.AI}, prefer="wait=30", **key)
    submission = Submission.objects.get()
    assert (again.status_code, again.json()["id"], again["Idempotency-Replayed"]) == (201, str(submission.pk), "true")
    assert sorted(caller.ledger()) == [("charged", submission.words), ("replayed", 0)]


def test_many_wait_in_one_process_and_it_still_answers(caller: Caller, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = settings.FREE_WORDS_PER_MONTH = 10**6
    count = 25  # two hundred, and a server: flows/test_api.py

    async def all_of_them() -> tuple[list[int], int]:
        application = get_asgi_application()
        waiting = [asyncio.create_task(create(caller, f"{samples.AI} {n}").run(application)) for n in range(count)]
        await until(lambda: subscriptions() == count)
        alive = await asyncio.wait_for(Request("GET", "/healthz", {}).run(application), 2)
        await asyncio.to_thread(lambda: factories.together(lambda _n: score_all(), 1))
        return await asyncio.gather(*waiting), alive

    statuses, alive = async_to_sync(all_of_them)()
    assert statuses == [201] * count
    assert alive == 200

"""The client when things go wrong on the way: what it asks again, when, and always under the same key."""

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from inkcloak.client import (
    AsyncClient,
    CheckFailed,
    Client,
    ConnectionFailed,
    KeyRefused,
    LimitReached,
    NotFinished,
    NotFound,
    Problem,
    UnexpectedAnswer,
)
from inkcloak.client import api as api_module
from inkcloak.client.retrying import Policy, is_transient, seconds_of

KEY = "ink_live_secret"
ID = "0198c1f0-0000-7000-8000-000000000001"
URL = "https://inkcloak.example"
Step = httpx.Response | Exception


def detection(**changes: Any) -> dict[str, Any]:
    """As the API has it, before there is a verdict; `changes` on top."""
    usage = {"words_charged": 0, "words_held": 7, "balance": None}
    return {"id": ID, "status": "queued", "created_at": "2026-06-15T12:00:00Z", "usage": usage} | changes


def done(**changes: Any) -> dict[str, Any]:
    return detection(status="done", verdict="ai", probability=0.98, **changes)


def answer(status: int, body: Any = None, **headers: str) -> httpx.Response:
    return httpx.Response(status, json=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


def problem(status: int, code: str, **headers: str) -> httpx.Response:
    return answer(
        status, {"status": status, "code": code, "detail": "No.", "request_id": "req_1", "errors": []}, **headers
    )


class Script:
    """A service that does one thing after the other, and remembers what it was asked."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    def keys(self) -> list[str | None]:
        return [request.headers.get("Idempotency-Key") for request in self.asked]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client would have slept."""
    found: list[float] = []
    monkeypatch.setattr(api_module.time, "sleep", found.append)
    return found


def client(script: Callable[[httpx.Request], httpx.Response], *, tries: int = 5) -> Client:
    policy = Policy(tries=tries, chance=lambda: 1.0)
    return Client(KEY, URL, policy=policy, transport=httpx.MockTransport(script))


@pytest.mark.parametrize("status", [408, 425, 500, 502, 503, 504])
def test_it_asks_again_what_failed_by_accident(status: int, pauses: list[float]) -> None:
    script = Script(answer(status, None), answer(status, None), answer(201, done()))
    assert client(script).detect("text").verdict == "ai"
    assert pauses == [1.0, 2.0]


def test_a_connection_that_breaks_after_the_text_arrived_is_asked_again_under_the_same_key(pauses: list[float]) -> None:
    script = Script(
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("gone"),
        httpx.ReadTimeout("slow"),
        httpx.ConnectError("away"),
        answer(201, done()),
    )
    assert client(script).detect("text").id == ID
    first, *others = script.keys()
    assert first
    assert others == [first] * 4
    assert len({request.content for request in script.asked}) == 1


def test_each_call_has_a_key_of_its_own(pauses: list[float]) -> None:
    script = Script(answer(201, done()), answer(201, done()), answer(201, done()))
    http = client(script)
    http.detect("text")
    http.detect("text")
    http.detect("text", idempotency_key="mine")
    assert len(set(script.keys())) == 3
    assert script.keys()[2] == "mine"


def test_it_waits_as_long_as_the_service_says(pauses: list[float]) -> None:
    script = Script(problem(429, "rate_limited", Retry_After="7"), answer(200, {"items": [], "next_cursor": None}))
    assert list(client(script).list()) == []
    assert pauses == [7 * 1.25]


def test_pauses_differ_from_client_to_client() -> None:
    quick, slow = Policy(chance=lambda: 0.0), Policy(chance=lambda: 0.99)
    assert (quick.pause(1, 7), slow.pause(1, 7)) == (7, pytest.approx(7 * 1.2475))
    assert quick.pause(3) == 0
    assert 3.9 < (slow.pause(3) or 0) < 4
    assert (Policy(tries=99, chance=lambda: 1.0).pause(50)) == 20


@pytest.mark.parametrize(
    "refused",
    [
        problem(429, "rate_limited", Retry_After="3600"),
        problem(429, "words_used", Retry_After="5"),
        problem(429, "words_used"),
    ],
)
def test_it_does_not_sleep_for_hours(refused: httpx.Response, pauses: list[float]) -> None:
    script = Script(refused)
    with pytest.raises(LimitReached) as found:
        client(script).detect("text")
    assert pauses == []
    assert found.value.request_id == "req_1"


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "too_long", Problem),
        (401, "revoked_key", KeyRefused),
        (403, "missing_scope", KeyRefused),
        (404, "not_found", NotFound),
        (409, "not_finished", Problem),
        (422, "idempotency_mismatch", Problem),
        (501, "http_501", Problem),
        (503, "check_failed", CheckFailed),
    ],
)
def test_what_is_refused_is_not_asked_again(status: int, code: str, kind: type[Problem], pauses: list[float]) -> None:
    script = Script(problem(status, code))
    with pytest.raises(kind) as found:
        client(script).detect("text")
    assert (found.value.status, found.value.code, len(script.asked)) == (status, code, 1)


def test_it_gives_up_in_the_end(pauses: list[float]) -> None:
    with pytest.raises(ConnectionFailed) as found:
        client(Script(*[httpx.ConnectError("away")] * 3), tries=3).usage()
    assert isinstance(found.value.__cause__, httpx.ConnectError)
    with pytest.raises(Problem) as refused:
        client(Script(*[answer(502, None)] * 3), tries=3).usage()
    assert (refused.value.status, refused.value.code) == (502, "http_502")
    assert len(pauses) == 4


def test_its_own_first_try_may_still_be_at_work(pauses: list[float]) -> None:
    busy = [problem(409, "idempotency_in_flight", Retry_After="1") for _ in range(9)]
    script = Script(httpx.ReadTimeout("slow"), *busy, answer(201, done()))
    assert client(script, tries=3).detect("text").verdict == "ai"
    assert len(set(script.keys())) == 1


def test_it_follows_202_until_there_is_a_verdict() -> None:
    here = f"{URL}/api/v1/detections/{ID}"
    script = Script(answer(202, detection(), Location=here), answer(200, done()))
    assert client(script).detect("text", wait=100).probability == 0.98
    post, get = script.asked
    assert (post.headers["Prefer"], str(get.url), get.method) == ("wait=60", here, "GET")
    assert get.headers["Prefer"] == "wait=60"
    assert get.extensions["timeout"]["read"] == 30 + 60


def test_the_key_follows_to_no_other_place() -> None:
    script = Script(answer(202, detection(), Location="https://elsewhere.example/api/v1/x"), answer(200, done()))
    client(script).detect("text")
    assert {request.url.host for request in script.asked} == {"inkcloak.example"}
    with pytest.raises(UnexpectedAnswer):
        client(Script(answer(307, None, Location="https://elsewhere.example/"))).usage()


def test_the_wait_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(api_module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(api_module.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    script = Script(*[answer(202, detection())], *[answer(200, detection()) for _ in range(4)])
    with pytest.raises(NotFinished) as found:
        client(script).detect("text", wait=5)
    assert found.value.detection.id == ID
    assert now[0] == 5
    asked = [request.headers.get("Prefer") for request in script.asked]
    assert asked == ["wait=5", "wait=5", "wait=3", "wait=1", None], "and a last look at the end"


def test_who_does_not_want_to_wait_gets_the_check_as_it_stands() -> None:
    script = Script(answer(202, detection()))
    found = client(script).detect("text", wait=0)
    assert (found.status, found.verdict, found.is_finished) == ("queued", None, False)
    assert script.asked[0].headers["Prefer"] == "wait=0"


def test_a_check_that_fails_while_it_is_waited_for_is_an_error() -> None:
    script = Script(answer(202, detection()), answer(200, detection(status="failed", failure="deadline")))
    with pytest.raises(CheckFailed):
        client(script).detect("text")


def test_a_deletion_whose_answer_got_lost_is_done(pauses: list[float]) -> None:
    client(Script(httpx.ReadError("reset"), problem(404, "not_found"))).delete(ID)
    with pytest.raises(NotFound):
        client(Script(problem(404, "not_found"))).delete(ID)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"id": 1}', b"[" * 100_000])
def test_an_answer_that_is_none_is_named_so(body: bytes) -> None:
    with pytest.raises(UnexpectedAnswer):
        client(lambda _request: httpx.Response(200, content=body)).get(ID)


def batch(status: str, items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "b1", "status": status, "items": list(items)}


def test_many_texts_are_followed_together_and_come_in_order(pauses: list[float]) -> None:
    refused = {"place": 1, "detection": None, "problem": {"status": 400, "code": "empty", "detail": "No text."}}
    running = [{"place": 0, "detection": detection(), "problem": None}, refused, {"place": 2, "detection": detection()}]
    later = [{"place": 2, "detection": done(id="d2")}, {"place": 0, "detection": done(id="d0")}]
    script = Script(
        answer(202, batch("running", running)),
        answer(200, batch("running", later[:1])),
        answer(200, batch("finished", later)),
    )
    told: list[tuple[int, int]] = []
    items = client(script).detect_many(["a", "", "c"], progress=lambda *counts: told.append(counts), store=False)
    assert [item.detection and item.detection.id for item in items] == ["d0", None, "d2"]
    assert items[1].problem is not None
    assert items[1].problem.code == "empty"
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert json.loads(script.asked[0].content)["texts"][0] == {"text": "a", "store": False}


def test_a_thousand_texts_fit_and_one_more_needs_another_request() -> None:
    def service(request: httpx.Request) -> httpx.Response:
        texts = json.loads(request.content)["texts"]
        asked.append((len(texts), request.headers["Idempotency-Key"]))
        return answer(202, batch("finished", [{"place": at, "detection": done()} for at in range(len(texts))]))

    asked: list[tuple[int, str]] = []
    items = client(service).detect_many((f"text {n}" for n in range(1_001)), idempotency_key="k")
    assert asked == [(1_000, "k-0"), (1, "k-1")]
    assert [item.place for item in items] == list(range(1_001))


def test_texts_that_utf8_cannot_say_are_sent_all_the_same() -> None:
    script = Script(answer(201, done()))
    client(script).detect("\ud800 and \x00")
    assert json.loads(script.asked[0].content)["text"] == "\ud800 and \x00"


def test_a_later_request_that_fails_takes_no_accepted_text_with_it(pauses: list[float]) -> None:
    accepted = answer(202, batch("finished", [{"place": at, "detection": done()} for at in range(1_000)]))
    items = client(Script(accepted, problem(401, "revoked_key"))).detect_many(["x"] * 1_001)
    assert sum(item.problem is None for item in items) == 1_000
    assert items[-1].problem is not None
    assert items[-1].problem.code == "revoked_key"


def test_the_client_that_is_awaited_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def asleep(seconds: float) -> None:
        slept.append(seconds)

    script = Script(httpx.ReadError("reset"), problem(429, "rate_limited", Retry_After="2"), answer(201, done()))

    async def check() -> str | None:
        policy = Policy(chance=lambda: 1.0)
        async with AsyncClient(KEY, URL, policy=policy, transport=httpx.MockTransport(script)) as http:
            return (await http.detect("text")).verdict

    monkeypatch.setattr(api_module.asyncio, "sleep", asleep)
    assert asyncio.run(check()) == "ai"
    assert slept == [1.0, 2.5]
    assert len(set(script.keys())) == 1


# --- Small things -------------------------------------------------------------------------------------------


def test_mistakes_are_told_before_anything_is_sent() -> None:
    http = client(Script())
    with pytest.raises(TypeError, match="max_fprs"):
        http.detect("text", max_fprs=0.01)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="several"):
        http.detect_many("text")
    with pytest.raises(TypeError, match="string"):
        http.detect_many([b"text"])  # type: ignore[list-item]
    for number in ("", "../usage", "x/y"):
        with pytest.raises(ValueError, match="no id"):
            http.get(number)


@pytest.mark.parametrize("url", ["ftp://x", "inkcloak.example", "https://", "https://user:word@x", "https://x/?key=1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        Client(KEY, url)


@pytest.mark.parametrize("url", [URL, f"{URL}/", f"{URL}/api/v1", f"{URL}/api/v1/"])
def test_an_address_may_have_the_api_behind_it_or_not(url: str) -> None:
    assert Client(KEY, url).base_url == f"{URL}/api/v1"


def test_the_key_comes_from_the_environment_and_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INKCLOAK_API_KEY", raising=False)
    with pytest.raises(ValueError, match="INKCLOAK_API_KEY"):
        Client(None, URL)
    monkeypatch.setenv("INKCLOAK_API_KEY", KEY)
    monkeypatch.setenv("INKCLOAK_URL", URL)
    script = Script(problem(401, "revoked_key"))
    made = Client(transport=httpx.MockTransport(script))
    with pytest.raises(KeyRefused) as refused:
        made.usage()
    assert script.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(made) + str(refused.value)
    with pytest.raises(ValueError, match="no API key") as wrong:
        Client("ink_live_ä\n", URL)
    assert "ä" not in str(wrong.value)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("9" * 12, None),
        ("0", 0),
        ("30", 30),
        ("Mon, 15 Jun 2026 12:00:30 GMT", 30),
        ("Mon, 15 Jun 2026 11:00:00 GMT", 0),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert seconds_of(header, now=datetime(2026, 6, 15, 12, tzinfo=UTC)) == seconds


def test_what_is_transient() -> None:
    assert is_transient(409, "idempotency_in_flight")
    assert is_transient(503, "restarting")
    assert not is_transient(409, "not_finished")
    assert not is_transient(505, "http_505")

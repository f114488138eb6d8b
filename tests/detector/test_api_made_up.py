"""Test keys: made-up answers for every verdict and every error, out of nothing and for nothing."""

from typing import Any

import factories
import pytest
import redis
import samples
from api_calls import Caller, problem
from django.utils import timezone
from pytest_django import Settings

from billing.models import Meter, User
from detector import dispatch
from detector.api import fixtures
from detector.models import Batch, Submission

pytestmark = pytest.mark.django_db

SHOWN = {
    "human": ("human", None, "high"),
    "human_unsure": ("human", None, "low"),
    "mixed": ("mixed", None, "medium"),
    "ai": ("ai", None, "high"),
    "ai_unsure": ("ai", None, "medium"),
    "degraded": ("ai", None, "high"),
    "cached": ("human", None, "high"),
    "too_short": ("insufficient", "too_short", None),
    "no_prose": ("insufficient", "no_prose", None),
    "unsupported_language": ("insufficient", "unsupported_language", None),
}


@pytest.fixture
def tester(alice: User) -> Caller:
    return Caller(alice, live=False)


def asks_for(name: str) -> dict[str, Any]:
    return {"text": f"Some text. inkcloak-test:{name} And more."}


@pytest.mark.parametrize("name", SHOWN)
def test_each_verdict_can_be_had(tester: Caller, name: str) -> None:
    answer = tester.post("/detections", asks_for(name))
    found = answer.json()
    assert (answer.status_code, found["live"], found["status"]) == (201, False, "done")
    assert (found["verdict"], found["reason"], found["confidence"]) == SHOWN[name]
    assert (found["degraded"], found["cached"]) == (name == "degraded", name == "cached")
    scored = sum(segment["end"] - segment["start"] for segment in found["segments"])
    marked = sum(s["end"] - s["start"] for s in found["segments"] if s["label"] == "ai")
    assert scored == found["scored_characters"]
    if scored:
        assert found["ai_fraction"] == marked / scored
    assert caller_sees_it_again(tester, found)


def caller_sees_it_again(tester: Caller, found: dict[str, Any]) -> bool:
    return tester.get(f"/detections/{found['id']}").json() == found


def test_each_error_can_be_had(tester: Caller, settings: Settings) -> None:
    settings.API_REQUESTS_PER_MINUTE = 10_000
    assert {"words_used", "rate_limited", "too_large", "no_model", "internal"} <= fixtures.ERRORS.keys()
    for name, status in fixtures.ERRORS.items():
        answer = tester.post("/detections", asks_for(name))
        assert problem(answer) == (status, name)
        wait = fixtures.WAITS.get(name)
        assert answer.headers.get("Retry-After") == (str(wait) if wait else None)


def test_a_check_that_never_ends_and_one_that_fails_can_be_had(tester: Caller) -> None:
    answer = tester.post("/detections", asks_for("queued"), prefer="wait=60")
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    assert answer["Retry-After"]
    assert problem(tester.post("/detections", asks_for("check_failed"))) == (503, "check_failed")


def test_any_other_text_is_human_and_the_same_each_time(tester: Caller) -> None:
    first, again = (tester.post("/detections", {"text": samples.AI}).json() for _ in range(2))
    assert first == again
    assert first["verdict"] == "human"
    assert tester.post("/detections", {"text": samples.HUMAN}).json()["id"] != first["id"]


def test_a_name_that_is_none_is_answered_with_those_that_are(tester: Caller) -> None:
    answer = tester.post("/detections", asks_for("perhaps"))
    assert problem(answer) == (400, "unknown_fixture")
    assert "human_unsure" in answer.json()["detail"]


def test_what_is_refused_of_a_live_key_is_refused_of_a_test_key(tester: Caller) -> None:
    assert problem(tester.post("/detections", {"text": " "})) == (400, "empty")
    assert problem(tester.post("/detections", {"text": "x" * 100_001})) == (400, "too_long")
    assert problem(tester.post("/detections", {"text": "x", "txt": "y"})) == (400, "invalid")


def test_a_made_up_check_has_every_name_that_a_real_one_has(alice: User, tester: Caller) -> None:
    factories.champion()
    live = Caller(alice)
    made = live.check(samples.AI)
    dispatch.next_batch(now=timezone.now(), backend=factories.ScriptedBackend())
    real = live.get(f"/detections/{made['id']}").json()
    made_up = tester.post("/detections", asks_for("ai")).json()
    assert made_up.keys() == real.keys()
    assert made_up["usage"].keys() == real["usage"].keys()
    assert made_up["rate_card"].keys() == real["rate_card"].keys()
    quotes = [caller.post("/detections", {"text": samples.HUMAN, "dry_run": True}).json() for caller in (live, tester)]
    assert quotes[0].keys() == quotes[1].keys()


def test_nothing_is_queued_stored_or_charged_and_the_ledger_says_test(tester: Caller, broker: redis.Redis) -> None:
    tester.post("/detections", asks_for("ai"))
    tester.post("/detections", asks_for("queued"))
    tester.post("/detections/batch", {"texts": [asks_for("human"), asks_for("words_used")]})
    assert not Submission.objects.exists()
    assert not Batch.objects.exists()
    assert not Meter.objects.exists()
    assert broker.llen("score") == 0
    assert tester.ledger() == [("test", 0)] * 3


def test_made_up_checks_can_be_listed_deleted_and_run_again(tester: Caller) -> None:
    listed = tester.get("/detections").json()["items"]
    assert {row["verdict"] for row in listed} == {"human", "mixed", "ai", "insufficient", None}
    assert len(tester.get("/detections?limit=3").json()["items"]) == 3
    made = tester.post("/detections", asks_for("mixed")).json()
    assert tester.post(f"/detections/{made['id']}/rerun").json() == made
    assert tester.delete(f"/detections/{made['id']}").status_code == 204
    for row in listed:
        assert tester.get(f"/detections/{row['id']}").json()["verdict"] == row["verdict"]


def test_a_made_up_batch_holds_each_texts_own_answer(tester: Caller) -> None:
    body = {"texts": [asks_for("ai"), asks_for("words_used"), {"text": 17}, asks_for("queued")]}
    answer = tester.post("/detections/batch", body)
    found = answer.json()
    assert answer.status_code == 202
    assert [item["problem"] and item["problem"]["code"] for item in found["items"]] == [
        None,
        "words_used",
        "invalid",
        None,
    ]
    assert (found["refused"], found["done"], found["in_flight"], found["status"]) == (2, 1, 1, "running")
    assert tester.get(f"/batches/{found['id']}").json()["live"] is False
    priced = tester.post("/detections/batch", body | {"dry_run": True}).json()
    assert [bool(item["quote"]) for item in priced["items"]] == [True, False, False, True]


def test_a_live_key_sees_nothing_made_up(alice: User, tester: Caller) -> None:
    made = tester.post("/detections", asks_for("ai")).json()
    batch = tester.post("/detections/batch", {"texts": [asks_for("ai")]}).json()
    live = Caller(alice)
    assert problem(live.get(f"/detections/{made['id']}")) == (404, "not_found")
    assert problem(live.get(f"/batches/{batch['id']}")) == (404, "not_found")


def test_the_same_idempotency_key_is_the_same_answer(tester: Caller) -> None:
    header = {"Idempotency-Key": "one"}
    first, again = (tester.post("/detections", asks_for("ai"), **header) for _ in range(2))
    assert again["Idempotency-Replayed"] == "true"
    assert first.json() == again.json()

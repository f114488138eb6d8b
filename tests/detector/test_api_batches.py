"""Up to a thousand texts in one request: each one's own check, each refused alone, an end that comes once."""

from datetime import timedelta
from typing import Any

import factories
import pytest
import samples
from api_calls import Caller, problem
from django.utils import timezone
from factories import ScriptedBackend
from pytest_django import Settings

from billing.models import IdempotentCall, Meter, User
from detector import dispatch, retention
from detector.api import batches as batch_views
from detector.api import serializers
from detector.models import Batch, Submission

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


@pytest.fixture
def caller(alice: User) -> Caller:
    return Caller(alice)


def work() -> None:
    while dispatch.next_batch(now=timezone.now(), backend=ScriptedBackend()):
        pass


def texts(count: int) -> list[dict[str, Any]]:
    """Different ones, so that none repeats another."""
    return [{"text": f"{samples.HUMAN} Number {n}.", "metadata": {"n": str(n)}} for n in range(count)]


def sent(caller: Caller, items: list[Any], **headers: str) -> dict[str, Any]:
    answer = caller.post("/detections/batch", {"texts": items}, **headers)
    assert answer.status_code == 202, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_each_text_is_a_check_of_its_own(caller: Caller) -> None:
    answer = caller.post("/detections/batch", {"texts": texts(3)})
    found = answer.json()
    assert answer.status_code == 202
    assert answer["Location"].endswith(f"/api/v1/batches/{found['id']}")
    assert (found["texts"], found["refused"], found["in_flight"], found["status"]) == (3, 0, 3, "running")
    assert [item["place"] for item in found["items"]] == [0, 1, 2]
    assert [item["detection"]["metadata"]["n"] for item in found["items"]] == ["0", "1", "2"]
    rows = Submission.objects.all()
    assert {(row.lane, row.source, row.batch_id) for row in rows} == {(1, "api", Batch.objects.get().pk)}
    assert Meter.objects.get().held == sum(row.words for row in rows)


def test_it_ends_when_its_last_text_does(caller: Caller) -> None:
    made = sent(caller, texts(3))
    work()
    found = caller.get(f"/batches/{made['id']}").json()
    assert (found["status"], found["done"], found["failed"], found["in_flight"]) == ("finished", 3, 0, 0)
    assert found["finished_at"]
    assert {item["detection"]["verdict"] for item in found["items"]} == {"ai"}
    assert "segments" not in found["items"][0]["detection"]


def test_each_text_fails_alone_and_by_name(caller: Caller) -> None:
    bad: list[Any] = [
        {"text": ""},
        {"text": "x" * 100_001},
        {"text": 17},
        {},
        "a string",
        None,
        [],
        {"text": samples.AI, "surprise": 1},
        {"text": samples.AI, "max_fpr": 0.02},
        {"text": samples.AI, "model": "nobody"},
        {"text": samples.AI, "metadata": {"a": 1}},
        {"text": samples.AI, "dry_run": True},
    ]
    found = sent(caller, [*texts(1), *bad, {"text": samples.SHORT}])
    problems = [item["problem"] for item in found["items"] if item["problem"]]
    assert [one["code"] for one in problems] == [
        "empty",
        "too_long",
        *["invalid"] * 6,
        "unknown_max_fpr",
        "unknown_model",
        "invalid",
        "dry_run_of_one",
    ]
    assert {one["status"] for one in problems} == {400}
    assert (found["texts"], found["refused"], found["done"], found["in_flight"]) == (14, 12, 1, 1)
    assert found["items"][0]["detection"]["status"] == "queued"
    assert found["items"][-1]["detection"]["verdict"] == "insufficient"


def test_words_are_reserved_text_by_text(caller: Caller, settings: Settings) -> None:
    words = caller.post("/detections", {"text": texts(1)[0]["text"], "dry_run": True}).json()["words"]
    settings.FREE_WORDS_PER_MONTH = 2 * words + 10
    found = sent(caller, texts(4))
    assert [item["problem"] and item["problem"]["code"] for item in found["items"]] == [
        None,
        None,
        "words_used",
        "words_used",
    ]
    assert Meter.objects.get().held == 2 * words


def test_a_batch_of_nothing_but_refusals_is_finished_at_once(caller: Caller) -> None:
    found = sent(caller, [{"text": ""}, {"text": " "}])
    assert (found["status"], found["refused"], found["done"]) == ("finished", 2, 0)


def test_more_than_one_chunk_keeps_its_order(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_views, "CHUNK_TEXTS", 2)
    found = sent(caller, [{"text": samples.SHORT, "metadata": {"n": str(n)}} for n in range(5)])
    assert [item["detection"]["metadata"]["n"] for item in found["items"]] == list("01234")
    assert (found["status"], found["done"]) == ("finished", 5)


def test_the_same_request_is_the_same_batch(caller: Caller) -> None:
    header = {"Idempotency-Key": "class-7b"}
    items = [*texts(2), {"text": ""}]
    first = sent(caller, items, **header)
    again = caller.post("/detections/batch", {"texts": items}, **header)
    assert again["Idempotency-Replayed"] == "true"
    assert again.json()["id"] == first["id"]
    assert [item["problem"] for item in again.json()["items"]] == [item["problem"] for item in first["items"]]
    assert (Batch.objects.count(), Submission.objects.count()) == (1, 2)


def test_what_a_process_that_died_had_stored_is_not_stored_again(caller: Caller) -> None:
    """It dies after the first chunk; its key is free for others when its time is over, and one of them takes over."""
    header = {"Idempotency-Key": "class-7b"}
    items = texts(4)
    first = sent(caller, items, **header)
    Submission.objects.filter(place__gte=2).delete()
    Batch.objects.update(refused=None, finished_at=None)
    IdempotentCall.objects.update(status=None, busy_until=timezone.now() - timedelta(seconds=1))
    again = sent(caller, items, **header)
    assert again["id"] == first["id"]
    assert Submission.objects.count() == 4
    assert [item["detection"]["id"] for item in again["items"][:2]] == [
        item["detection"]["id"] for item in first["items"][:2]
    ]


def test_the_sweep_ends_what_dead_processes_left_open(caller: Caller) -> None:
    """One died between the last verdict and the batch's end, one before it had taken all of its texts."""
    finished, half = sent(caller, texts(2)), sent(caller, texts(3))
    work()
    Batch.objects.update(finished_at=None, done=0)
    Batch.objects.filter(pk=half["id"]).update(refused=None, texts=5)
    dispatch.sweep(now=timezone.now())
    assert caller.get(f"/batches/{finished['id']}").json()["status"] == "finished"
    assert caller.get(f"/batches/{half['id']}").json()["status"] == "running"  # its request may still be at work
    dispatch.sweep(now=timezone.now() + timedelta(minutes=11))
    found = caller.get(f"/batches/{half['id']}").json()
    assert (found["status"], found["done"], found["refused"]) == ("finished", 3, 2)


def test_a_dry_run_prices_each_text_and_stores_nothing(caller: Caller) -> None:
    answer = caller.post("/detections/batch", {"texts": [*texts(2), {"text": ""}], "dry_run": True})
    found = answer.json()
    assert (answer.status_code, found["object"], found["affordable"]) == (200, "batch_quote", True)
    assert found["words_to_charge"] == sum(item["quote"]["words"] for item in found["items"][:2])
    assert found["items"][2]["problem"]["code"] == "empty"
    assert not Batch.objects.exists()
    assert not Submission.objects.exists()


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no texts": ({}, "required"),
    "an object for texts": ({"texts": {"text": "a"}}, "invalid"),
    "no text among them": ({"texts": []}, "count"),
    "1,001 texts": ({"texts": [{"text": "a"}] * (serializers.MAX_BATCH_TEXTS + 1)}, "count"),
}


@pytest.mark.parametrize(("body", "code"), BAD.values(), ids=BAD)
def test_it_refuses_a_batch_that_is_none(caller: Caller, body: dict[str, Any], code: str) -> None:
    answer = caller.post("/detections/batch", body)
    assert problem(answer) == (400, "invalid")
    assert answer.json()["errors"][0]["code"] == code
    assert not Batch.objects.exists()


def test_it_refuses_more_characters_than_a_request_may_have(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_views, "MAX_BATCH_CHARACTERS", 1_000)
    answer = caller.post("/detections/batch", {"texts": texts(2)})
    assert problem(answer) == (400, "batch_too_long")
    assert "1000" in answer.json()["detail"]
    assert not Batch.objects.exists()


def test_its_texts_are_listed_by_it(caller: Caller) -> None:
    made = sent(caller, texts(3))
    caller.check(samples.AI)
    listed = caller.get(f"/detections?batch={made['id']}").json()["items"]
    assert [row["metadata"]["n"] for row in listed] == ["2", "1", "0"]  # newest first


@pytest.mark.django_db(transaction=True)
def test_a_deleted_text_does_not_hold_its_batch_up(alice: User) -> None:
    factories.champion(model_version="of-this-test")
    caller = Caller(alice)
    made = sent(caller, texts(2))
    work_one = Submission.objects.get(place=0)
    Submission.objects.filter(pk=work_one.pk).update(status="failed")
    retention.delete(Submission.objects.get(place=1))
    found = caller.get(f"/batches/{made['id']}").json()
    assert (found["status"], found["done"], found["failed"], found["in_flight"]) == ("finished", 0, 1, 0)

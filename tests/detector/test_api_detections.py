"""A text by the API: accepted, scored, read, deleted; what it cost, and that the same request is the same check."""

from datetime import timedelta

import factories
import pytest
import samples
from api_calls import V1, Caller, problem
from django.utils import timezone
from factories import ScriptedBackend
from pytest_django import Settings

from billing.models import Meter, User
from detector import dispatch
from detector.models import Submission
from gpujobs.backends import BackendError
from gpujobs.models import ModelVersion

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


@pytest.fixture
def caller(alice: User) -> Caller:
    return Caller(alice)


def work(probability: float = 0.99) -> ScriptedBackend:
    backend = ScriptedBackend(probability)
    while dispatch.next_batch(now=timezone.now(), backend=backend):
        pass
    return backend


def taken() -> tuple[int, int]:
    """Used and held words."""
    meter = Meter.objects.first()
    return (meter.used, meter.held) if meter else (0, 0)


def test_a_text_is_accepted_and_its_words_are_held(caller: Caller) -> None:
    answer = caller.post("/detections", {"text": samples.HUMAN, "metadata": {"essay": "17"}})
    found = answer.json()
    assert answer.status_code == 202
    assert answer["Location"].endswith(f"{V1}/detections/{found['id']}")
    assert int(answer["Retry-After"]) >= 1
    assert (found["status"], found["source"], found["metadata"]) == ("queued", "api", {"essay": "17"})
    assert (found["verdict"], found["probability"], found["segments"]) == (None, None, None)
    assert found["usage"]["words_held"] == found["words"] == taken()[1] > 100
    assert found["usage"]["balance"]["left"] == found["usage"]["balance"]["limit"] - found["words"]
    stored = Submission.objects.get()
    assert (stored.account, stored.api_key, stored.lane) == (caller.account, caller.key, Submission.Lane.INTERACTIVE)


def test_its_verdict_is_read_by_its_address(caller: Caller) -> None:
    made = caller.check(samples.AI)
    work()
    answer = caller.get(f"/detections/{made['id']}")
    found = answer.json()
    assert (answer.status_code, found["status"], found["verdict"], found["probability"]) == (200, "done", "ai", 0.99)
    assert found["segments"][0].keys() == {"start", "end", "label", "probability"}
    assert (found["model_version"], found["tier"], found["degraded"]) == ("test-version-1", "cpu", False)
    assert (found["usage"]["words_charged"], found["usage"]["words_held"]) == (found["words"], 0)
    assert caller.ledger() == [("charged", found["words"])]
    assert "no-store" in answer["Cache-Control"]


def test_what_is_known_at_once_is_answered_at_once_and_freely(caller: Caller) -> None:
    answer = caller.post("/detections", {"text": samples.SHORT})
    found = answer.json()
    assert (answer.status_code, found["status"], found["verdict"]) == (201, "done", "insufficient")
    assert (found["reason"], found["probability"], found["usage"]["words_charged"]) == ("too_short", None, 0)
    assert caller.ledger() == [("abstained", 0)]


def test_a_repeat_costs_nothing_and_says_so(caller: Caller) -> None:
    first = caller.check(samples.AI)
    work()
    answer = caller.post("/detections", {"text": samples.AI})
    again = answer.json()
    assert (answer.status_code, again["cached"], again["verdict"]) == (201, True, "ai")
    assert again["id"] != first["id"]
    assert again["usage"]["words_charged"] == 0
    assert [kind for kind, _words in caller.ledger()] == ["charged", "cached"]


def test_a_failed_check_is_free_and_the_same_request_is_another_try(caller: Caller) -> None:
    header = {"Idempotency-Key": "one"}
    made = caller.post("/detections", {"text": samples.AI}, **header).json()
    dispatch.sweep(now=timezone.now() + timedelta(days=1))
    found = caller.get(f"/detections/{made['id']}").json()
    assert (found["status"], found["failure"], found["verdict"]) == ("failed", "deadline", None)
    assert (found["usage"]["words_charged"], found["usage"]["words_held"], taken()) == (0, 0, (0, 0))
    assert caller.ledger() == [("failed", 0)]
    again = caller.post("/detections", {"text": samples.AI}, **header)
    assert (again.status_code, again.json()["status"]) == (202, "queued")
    assert again.json()["id"] != made["id"]


def test_a_check_that_no_worker_can_score_fails(caller: Caller) -> None:
    made = caller.check(samples.AI)
    broken = ScriptedBackend(script=[BackendError("gpu_gone", permanent=False)] * 3)
    while dispatch.next_batch(now=timezone.now(), backend=broken):
        pass
    assert caller.get(f"/detections/{made['id']}").json()["failure"] == "gpu_gone"


# --- The same request again ---------------------------------------------------------------------------------


def test_the_same_key_and_body_are_the_same_check(caller: Caller) -> None:
    first, again = (
        caller.post("/detections", {"text": samples.AI}, **{"Idempotency-Key": "essay-17"}) for _ in range(2)
    )
    assert (first.json()["id"], first.status_code) == (again.json()["id"], again.status_code)
    assert "Idempotency-Replayed" not in first
    assert again["Idempotency-Replayed"] == "true"
    assert Submission.objects.count() == 1
    assert ("replayed", 0) in caller.ledger()


def test_a_replay_is_as_good_as_the_detection_is_by_then(caller: Caller) -> None:
    header = {"Idempotency-Key": "essay-17"}
    caller.post("/detections", {"text": samples.AI}, **header)
    work()
    again = caller.post("/detections", {"text": samples.AI}, **header)
    assert (again.status_code, again.json()["verdict"]) == (201, "ai")


def test_another_body_under_the_same_key_is_refused(caller: Caller) -> None:
    header = {"Idempotency-Key": "essay-17"}
    caller.post("/detections", {"text": samples.AI}, **header)
    assert problem(caller.post("/detections", {"text": samples.HUMAN}, **header)) == (422, "idempotency_mismatch")
    assert Submission.objects.count() == 1


def test_a_deleted_check_is_not_replayed(caller: Caller) -> None:
    header = {"Idempotency-Key": "essay-17"}
    first = caller.post("/detections", {"text": samples.AI}, **header).json()
    caller.delete(f"/detections/{first['id']}")
    assert caller.post("/detections", {"text": samples.AI}, **header).json()["id"] != first["id"]


# --- What a caller may ask for ------------------------------------------------------------------------------


def test_a_dry_run_gives_the_price_and_stores_nothing(caller: Caller) -> None:
    answer = caller.post("/detections", {"text": samples.HUMAN, "dry_run": True})
    found = answer.json()
    assert (answer.status_code, found["object"], found["sufficient"], found["affordable"]) == (200, "quote", True, True)
    assert found["words_to_charge"] == found["words"] > 100
    assert (found["language"], found["cached"]) == ("en", False)
    assert not Submission.objects.exists()
    assert (taken(), caller.ledger()) == ((0, 0), [])


def test_a_dry_run_knows_what_would_be_free_and_what_would_not_fit(caller: Caller, settings: Settings) -> None:
    assert caller.post("/detections", {"text": samples.SHORT, "dry_run": True}).json()["reason"] == "too_short"
    caller.check(samples.AI)
    work()
    quote = caller.post("/detections", {"text": samples.AI, "dry_run": True}).json()
    assert (quote["cached"], quote["words_to_charge"]) == (True, 0)
    settings.FREE_WORDS_PER_MONTH = taken()[0] + 10
    assert not caller.post("/detections", {"text": samples.HUMAN, "dry_run": True}).json()["affordable"]


def test_a_text_that_shall_not_be_stored_is_gone_with_its_verdict(caller: Caller) -> None:
    made = caller.check(samples.AI, store=False)
    assert Submission.objects.get().text == samples.AI  # a worker must read it
    work()
    stored = Submission.objects.get()
    assert (stored.text, stored.status, stored.verdict.label) == ("", "done", "ai")
    found = caller.get(f"/detections/{made['id']}").json()
    assert (found["store"], found["verdict"], found["characters"]) == (False, "ai", len(samples.AI))
    assert problem(caller.post(f"/detections/{made['id']}/rerun")) == (409, "text_not_stored")


@pytest.mark.parametrize("text", [samples.SHORT, samples.AI], ids=["too short", "failed"])
def test_it_is_gone_too_where_there_is_no_verdict(caller: Caller, text: str) -> None:
    caller.check(text, store=False)
    dispatch.sweep(now=factories.NOW + timedelta(days=3650))
    assert Submission.objects.get().text == ""


def test_the_caller_chooses_the_false_positive_limit(caller: Caller) -> None:
    made = [caller.check(samples.AI, max_fpr=cap) for cap in (0.005, 0.05)]
    work(0.8)
    found = [caller.get(f"/detections/{one['id']}").json() for one in made]
    assert [(one["verdict"], one["max_fpr"]) for one in found] == [("human", 0.005), ("ai", 0.05)]


def test_a_limit_that_was_not_measured_is_refused_with_those_that_were(caller: Caller) -> None:
    answer = caller.post("/detections", {"text": samples.AI, "max_fpr": 0.02})
    assert problem(answer) == (400, "unknown_max_fpr")
    assert "0.005, 0.01, 0.05" in answer.json()["detail"]


def test_the_callers_word_does_not_make_a_text_another_language(caller: Caller) -> None:
    assert caller.check(samples.SPANISH, language="en")["language"] == "es"
    assert caller.check(samples.HUMAN, language="de")["language"] == "en"
    found = caller.check(samples.GERMAN, language="en")
    assert (found["language"], found["verdict"], found["reason"]) == ("de", "insufficient", "unsupported_language")


def test_null_means_the_default(caller: Caller) -> None:
    nothing = dict.fromkeys(("language", "model", "max_fpr", "store", "metadata", "dry_run"))
    found = caller.check(samples.HUMAN, **nothing)
    assert (found["store"], found["metadata"], found["pinned"]) == (True, {}, False)


def test_when_no_words_are_left_it_says_when_there_are(caller: Caller, settings: Settings) -> None:
    settings.FREE_WORDS_PER_MONTH = 10
    answer = caller.post("/detections", {"text": samples.HUMAN})
    assert problem(answer) == (429, "words_used")
    assert int(answer["Retry-After"]) > 0
    assert not Submission.objects.exists()


def test_without_a_model_in_service_it_says_so(caller: Caller, champion: ModelVersion) -> None:
    champion.aliases.all().delete()
    assert problem(caller.post("/detections", {"text": samples.HUMAN})) == (503, "no_model")


# --- Deleting -----------------------------------------------------------------------------------------------


def test_deleted_is_gone(caller: Caller) -> None:
    made = caller.check(samples.AI)
    answer = caller.delete(f"/detections/{made['id']}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert not Submission.objects.exists()
    assert (taken(), caller.ledger()) == ((0, 0), [("deleted", 0)])
    for call in (caller.get, caller.delete):
        assert problem(call(f"/detections/{made['id']}")) == (404, "not_found")


@pytest.mark.parametrize(("scope", "status"), [("checks:read", 403), ("usage:read", 403), ("checks:write", 202)])
def test_each_method_asks_for_its_own_scope(alice: User, scope: str, status: int) -> None:
    caller = Caller(alice, scopes=(scope,))
    assert caller.post("/detections", {"text": samples.AI}).status_code == status
    assert caller.get("/detections").status_code == (200 if scope == "checks:read" else 403)

"""The same request twice is one request: replayed, refused for another body, told to wait while under way."""

import json
import threading
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from factories import together
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from billing import idempotency, keys, tasks
from billing.models import ApiKey, IdempotentCall, User, WordEntry
from inkcloak.api import Refused
from inkcloak.errors import Exhausted, Invalid
from inkcloak.strict_json import StrictJSONParser

MadeKey = Callable[..., keys.Issued]
NOW = timezone.now()


@pytest.fixture
def key(alice: User, key_of: MadeKey) -> ApiKey:
    return key_of(alice).key


class Checks:
    """What a view does: counts how often it was really done."""

    def __init__(self) -> None:
        self.made: list[uuid.UUID] = []
        self.lock = threading.Lock()

    def __call__(self) -> Response:
        with self.lock:
            self.made.append(uuid.uuid4())
        return Response({"id": str(self.made[-1]), "b": 1, "a": 2}, 201, headers={"Location": "/there"})


def post(key: ApiKey, body: dict | None = None, name: str | None = "k-1", path: str = "/api/v1/x") -> Request:
    headers = {"HTTP_IDEMPOTENCY_KEY": name} if name is not None else {}
    content = json.dumps(body or {"text": "words"})
    raw = APIRequestFactory().post(path, content, content_type="application/json", **headers)
    request = Request(raw, parsers=[StrictJSONParser()])
    request.auth = key  # type: ignore[assignment]
    return request


def test_without_the_header_each_request_is_done(key: ApiKey) -> None:
    checks = Checks()
    for _n in range(2):
        idempotency.run_once(post(key, name=None), checks)
    assert len(checks.made) == 2
    assert not IdempotentCall.objects.exists()


def test_the_second_gets_the_stored_answer_and_is_told_so(key: ApiKey) -> None:
    checks = Checks()
    first = idempotency.run_once(post(key), checks)
    second = idempotency.run_once(post(key), checks)
    assert len(checks.made) == 1
    assert (second.status_code, second.data, second["Location"]) == (201, first.data, "/there")
    assert list(second.data) == ["id", "b", "a"]
    assert second["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first


def test_a_replay_is_a_zero_line_in_the_ledger(key: ApiKey) -> None:
    checks = Checks()
    for _n in range(3):
        idempotency.run_once(post(key), checks)
    lines = WordEntry.objects.values_list("check_id", "kind", "words")
    assert list(lines) == [(checks.made[0], "replayed", 0)] * 2


@pytest.mark.parametrize("other", [{"body": {"text": "other words"}}, {"path": "/api/v1/y"}, {"path": "/api/v1/x?z=1"}])
def test_another_request_under_the_same_key_is_refused(key: ApiKey, other: dict) -> None:
    checks = Checks()
    idempotency.run_once(post(key), checks)
    with pytest.raises(Refused) as refused:
        idempotency.run_once(post(key, **other), checks)
    assert (refused.value.status_code, refused.value.get_codes()) == (422, "idempotency_mismatch")
    assert len(checks.made) == 1


def test_the_order_of_names_makes_no_other_request(key: ApiKey) -> None:
    checks = Checks()
    idempotency.run_once(post(key, {"a": 1, "b": "\ud800"}), checks)
    assert idempotency.run_once(post(key, {"b": "\ud800", "a": 1}), checks)["Idempotency-Replayed"] == "true"


def test_while_the_first_is_under_way_the_second_waits(key: ApiKey) -> None:
    call = idempotency.begin(post(key))
    assert isinstance(call, idempotency.Call)
    with pytest.raises(Refused) as refused:
        idempotency.begin(post(key))
    assert (refused.value.status_code, refused.value.get_codes()) == (409, "idempotency_in_flight")
    assert refused.value.retry_after == 1


@pytest.mark.django_db(transaction=True)
def test_twenty_parallel_posts_make_one_check(key: ApiKey) -> None:
    checks = Checks()
    found = together(lambda _n: idempotency.run_once(post(key), checks), 20)
    assert len(checks.made) == 1
    answers = [one for one in found if isinstance(one, Response)]
    assert {one.data["id"] for one in answers} == {str(checks.made[0])}
    others = [one for one in found if not isinstance(one, Response)]
    assert all(isinstance(one, Refused) and one.status_code == 409 for one in others)
    assert sum("Idempotency-Replayed" not in one for one in answers) == 1


@pytest.mark.parametrize("error", [Exhausted("words_used", "None left."), Invalid("empty", "No text."), KeyError("x")])
def test_a_request_that_did_nothing_may_come_again(key: ApiKey, error: Exception) -> None:
    def fail() -> Response:
        raise error

    with pytest.raises(type(error)):
        idempotency.run_once(post(key), fail)
    checks = Checks()
    assert "Idempotency-Replayed" not in idempotency.run_once(post(key), checks)
    assert len(checks.made) == 1


def test_a_refusal_that_is_answered_is_not_kept(key: ApiKey) -> None:
    idempotency.run_once(post(key), lambda: Response({"code": "x"}, 400))
    assert not IdempotentCall.objects.exists()


def test_a_better_answer_takes_the_place_of_the_first(key: ApiKey) -> None:
    call = idempotency.begin(post(key))
    assert isinstance(call, idempotency.Call)
    call.keep(Response({"id": "1"}, 202), "check:1")
    call.keep(Response({"id": "1", "verdict": "human"}, 201), "check:1")
    call.abandon()  # too late: it was kept
    row = IdempotentCall.objects.get()
    assert (row.status, row.body) == (201, '{"id": "1", "verdict": "human"}')


def test_a_call_whose_process_died_is_taken_over_under_the_same_number(key: ApiKey) -> None:
    dead = idempotency.begin(post(key), now=NOW - timedelta(minutes=10))
    again = idempotency.begin(post(key), now=NOW)
    assert isinstance(again, idempotency.Call)
    assert isinstance(dead, idempotency.Call)
    assert again.nonce == dead.nonce
    with pytest.raises(Refused):
        idempotency.begin(post(key), now=NOW)


def test_after_a_day_the_key_is_free(key: ApiKey) -> None:
    old = idempotency.begin(post(key), now=NOW - timedelta(hours=25))
    assert isinstance(old, idempotency.Call)
    old.keep(Response({"id": "1"}, 201))
    fresh = idempotency.begin(post(key, {"text": "other"}), now=NOW)
    assert isinstance(fresh, idempotency.Call)


def test_old_answers_are_forgotten(key: ApiKey) -> None:
    idempotency.begin(post(key, name="old"), now=NOW - timedelta(hours=25))
    idempotency.begin(post(key, name="new"), now=NOW)
    tasks.forget()
    tasks.forget()
    assert IdempotentCall.objects.get().key == "new"


def test_accounts_and_environments_have_keys_of_their_own(key: ApiKey, alice: User, bob: User, key_of: MadeKey) -> None:
    checks = Checks()
    for who in (key, key_of(bob).key, key_of(alice, live=False).key):
        idempotency.run_once(post(who), checks)
    assert len(checks.made) == 3


@pytest.mark.parametrize("name", ["", " ", "x" * 256, "two words", "é"])
def test_it_refuses_a_key_that_is_none(key: ApiKey, name: str) -> None:
    with pytest.raises(Invalid) as refused:
        idempotency.run_once(post(key, name=name), Checks())
    assert refused.value.code == "bad_idempotency_key"


def upload(key: ApiKey, content: bytes, name: str = "a.txt") -> Request:
    form = {"files": SimpleUploadedFile(name, content), "max_fpr": "0.01"}
    raw = APIRequestFactory().post("/api/v1/x", form, format="multipart", HTTP_IDEMPOTENCY_KEY="f")
    request = Request(raw, parsers=[MultiPartParser()])
    request.auth = key  # type: ignore[assignment]
    return request


def test_files_are_told_apart_by_their_bytes(key: ApiKey) -> None:
    checks = Checks()
    first = upload(key, b"one")
    idempotency.run_once(first, checks)
    assert first.data["files"].read() == b"one"
    assert "Idempotency-Replayed" in idempotency.run_once(upload(key, b"one"), checks)
    for other in (upload(key, b"two"), upload(key, b"one", "b.txt")):
        with pytest.raises(Refused):
            idempotency.run_once(other, checks)

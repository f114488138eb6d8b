"""/detections/{id}/shares: what a program gets, once for an Idempotency-Key, and what it is refused."""

import uuid
from typing import Any

import factories
import pytest
import samples
from api_calls import Caller, problem
from django.test import Client
from django.utils import timezone
from test_api_contract import faults

from billing.models import IdempotentCall, Scope, User
from detector import intake, sharing
from detector.api import fixtures, shares
from detector.models import Share, Submission

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


@pytest.fixture
def caller(alice: User) -> Caller:
    return Caller(alice)


@pytest.fixture
def checked(alice: User) -> Submission:
    return factories.checked(factories.owner(alice), samples.AI, now=timezone.now())


def path_of(checked: Submission) -> str:
    return f"/detections/{checked.pk}/shares"


def test_it_makes_lists_and_revokes(caller: Caller, checked: Submission) -> None:
    answer = caller.post(path_of(checked), {"expires_in_days": 7, "include_text": True})
    made = answer.json()
    assert answer.status_code == 201
    assert (made["object"], made["detection"], made["include_text"], made["live"]) == (
        "share",
        str(checked.pk),
        True,
        True,
    )
    assert faults("SharedLink", made) == []
    assert Client().get(made["url"]).status_code == 200
    assert caller.get(path_of(checked)).json()["items"] == [made]
    assert caller.delete(f"{path_of(checked)}/{made['id']}").status_code == 204
    assert Client().get(made["url"]).status_code == 404
    assert caller.get(path_of(checked)).json() == {"items": [], "next": None, "next_cursor": None}
    assert problem(caller.delete(f"{path_of(checked)}/{made['id']}")) == (404, "not_found")


def test_without_a_word_it_is_thirty_days_without_the_text(caller: Caller, checked: Submission) -> None:
    for body in ({}, {"expires_in_days": None, "include_text": None}):
        caller.post(path_of(checked), body)
    for share in Share.objects.all():
        assert ((share.expires_at - share.created_at).days, share.with_text) == (30, False)


@pytest.mark.parametrize(
    "body",
    [
        {"expires_in_days": 2},
        {"expires_in_days": "30"},
        {"expires_in_days": 30.5},
        {"expires_in_days": True},
        {"include_text": "true"},
        {"include_text": 1},
        {"text": True},
    ],
)
def test_what_only_resembles_an_option_is_refused(caller: Caller, checked: Submission, body: dict[str, Any]) -> None:
    assert problem(caller.post(path_of(checked), body)) == (400, "invalid")
    assert not Share.objects.exists()


def test_the_same_request_twice_is_one_link_and_nothing_of_it_is_kept_beside(
    caller: Caller, checked: Submission
) -> None:
    first, second = (caller.post(path_of(checked), {}, **{"Idempotency-Key": "a1"}) for _n in range(2))
    assert first.json() == second.json()
    assert second["Idempotency-Replayed"] == "true"
    assert Share.objects.count() == 1
    assert first.json()["url"].split("/")[-2] not in str(list(IdempotentCall.objects.values()))
    other = caller.post(path_of(checked), {"include_text": True}, **{"Idempotency-Key": "a1"})
    assert problem(other) == (422, "idempotency_mismatch")
    caller.delete(f"{path_of(checked)}/{first.json()['id']}")
    assert problem(caller.post(path_of(checked), {}, **{"Idempotency-Key": "a1"})) == (404, "not_found")


def test_sharing_costs_nothing(caller: Caller, checked: Submission) -> None:
    before = caller.ledger()
    for _n in range(2):
        caller.post(path_of(checked), {}, **{"Idempotency-Key": "a1"})
    assert caller.ledger() == before


def test_its_limits_are_named(caller: Caller, checked: Submission, alice: User, monkeypatch) -> None:
    monkeypatch.setattr(sharing, "MAX_SHARES", 1)
    caller.post(path_of(checked))
    assert problem(caller.post(path_of(checked))) == (400, "too_many_shares")
    waiting = factories.accepted(factories.owner(alice), samples.HUMAN, now=timezone.now())
    assert problem(caller.post(path_of(waiting))) == (409, "not_finished")
    unkept = factories.accepted(
        factories.owner(alice), "Too short.", now=timezone.now(), asked=intake.Asked(store=False)
    )
    assert problem(caller.post(path_of(unkept), {"include_text": True})) == (409, "text_not_stored")


def test_each_needs_its_scope(alice: User, checked: Submission) -> None:
    reader = Caller(alice, scopes=(Scope.CHECKS_READ,))
    writer = Caller(alice, scopes=(Scope.CHECKS_WRITE,))
    made = writer.post(path_of(checked)).json()
    assert problem(writer.get(path_of(checked))) == (403, "missing_scope")
    assert problem(reader.post(path_of(checked))) == (403, "missing_scope")
    assert problem(reader.delete(f"{path_of(checked)}/{made['id']}")) == (403, "missing_scope")
    assert reader.get(path_of(checked)).json()["items"] == [made]


def test_a_link_is_not_revoked_under_another_check(caller: Caller, checked: Submission, alice: User) -> None:
    other = factories.checked(factories.owner(alice), samples.HUMAN, now=timezone.now())
    made = caller.post(path_of(checked)).json()
    for nested in (f"{path_of(other)}/{made['id']}", f"{path_of(checked)}/{uuid.uuid4()}", f"{path_of(checked)}/x"):
        assert problem(caller.delete(nested)) == (404, "not_found")
    assert Share.objects.count() == 1


def test_a_test_key_shares_what_is_made_up(alice: User, checked: Submission) -> None:
    tester = Caller(alice, live=False)
    row = tester.check("inkcloak-test:mixed")
    made = tester.post(f"/detections/{row['id']}/shares", {"expires_in_days": 1}).json()
    assert (made["id"], made["live"]) == (str(shares.MADE_UP), False)
    assert faults("SharedLink", made) == []
    assert Client().get(made["url"]).status_code == 404
    assert tester.get(f"/detections/{row['id']}/shares").json()["items"][0]["id"] == made["id"]
    assert tester.delete(f"/detections/{row['id']}/shares/{made['id']}").status_code == 204
    assert problem(tester.delete(f"/detections/{row['id']}/shares/{uuid.uuid4()}")) == (404, "not_found")
    queued = fixtures.number_of(fixtures.BY_NAME["queued"], "x")
    assert problem(tester.post(f"/detections/{queued}/shares")) == (409, "not_finished")
    assert problem(tester.post(path_of(checked))) == (404, "not_found")
    assert not Share.objects.exists()

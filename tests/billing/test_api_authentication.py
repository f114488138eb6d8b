"""A key gets in by its header alone, and each way to have none has its own name."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from billing import keys
from billing.accounts import account_of
from billing.models import ApiKey, Scope, User

USAGE = "/api/v1/usage"
MadeKey = Callable[..., keys.Issued]


def ask(header: str | None, address: str = USAGE, **more: str):
    headers = {} if header is None else {"Authorization": header}
    return Client().get(address, headers=headers | more)


def test_it_lets_a_good_key_in(alice: User, key_of: MadeKey) -> None:
    answer = ask(f"Bearer {key_of(alice).token}")
    assert answer.status_code == 200
    assert answer.json()["account"] == str(account_of(alice).pk)


def test_it_takes_the_scheme_in_any_case(alice: User, key_of: MadeKey) -> None:
    assert ask(f"bearer {key_of(alice).token}").status_code == 200


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "missing_key"),
        ("Basic YWxpY2U6c2VjcmV0", "wrong_scheme"),
        ("Bearer", "malformed_key"),
        ("Bearer ink_live_short", "malformed_key"),
        ("Bearer ink_live_" + "0" * 38, "malformed_key"),
        ("Bearer ink_live_" + "é" * 38, "malformed_key"),
    ],
)
def test_it_names_what_is_wrong_with_a_header(db: None, header: str | None, code: str) -> None:
    answer = ask(header)
    assert (answer.status_code, answer.json()["code"]) == (401, code)
    assert answer["WWW-Authenticate"] == 'Bearer realm="api"'


def test_it_refuses_a_well_made_key_that_nobody_issued(db: None) -> None:
    answer = ask(f"Bearer {keys.new_token(live=True)}")
    assert (answer.status_code, answer.json()["code"]) == (401, "unknown_key")


def test_a_mistyped_key_costs_no_query(db: None, django_assert_num_queries: Callable) -> None:
    token = keys.new_token(live=True)
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    with django_assert_num_queries(0):
        assert ask(f"Bearer {wrong}").json()["code"] == "malformed_key"


def test_it_finds_a_key_with_one_query(alice: User, key_of: MadeKey, django_assert_num_queries: Callable) -> None:
    token, account = key_of(alice).token, account_of(alice)
    keys.verify(token, timezone.now())  # writes when it was used
    with django_assert_num_queries(1):
        assert keys.verify(token, timezone.now()).account == account


def test_it_refuses_a_revoked_key_at_once(alice: User, key_of: MadeKey) -> None:
    issued = key_of(alice)
    assert ask(f"Bearer {issued.token}").status_code == 200
    keys.revoke(issued.key, now=timezone.now())
    assert ask(f"Bearer {issued.token}").json()["code"] == "revoked_key"


def test_it_refuses_an_expired_key(alice: User, key_of: MadeKey) -> None:
    issued = key_of(alice, expires_at=timezone.now() + timedelta(hours=1))
    ApiKey.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert ask(f"Bearer {issued.token}").json()["code"] == "expired_key"


def test_it_refuses_a_key_of_somebody_who_was_shut_out(alice: User, key_of: MadeKey) -> None:
    token = key_of(alice).token
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert ask(f"Bearer {token}").json()["code"] == "revoked_key"


def test_a_key_outlives_the_person_who_made_it(alice: User, bob: User, key_of: MadeKey) -> None:
    issued = keys.issue(account=account_of(alice), name="ci", scopes=Scope.values, now=timezone.now(), created_by=bob)
    bob.delete()
    assert ask(f"Bearer {issued.token}").status_code == 200


def test_it_refuses_a_key_without_the_scope(alice: User, key_of: MadeKey) -> None:
    answer = ask(f"Bearer {key_of(alice, scopes=['checks:read']).token}")
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")
    assert "usage:read" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["api_key", "key", "access_token", "anything"])
def test_it_refuses_a_key_in_the_address_even_beside_a_good_one(alice: User, key_of: MadeKey, name: str) -> None:
    token = key_of(alice).token
    answer = ask(f"Bearer {token}", f"{USAGE}?{name}={token}")
    assert (answer.status_code, answer.json()["code"]) == (400, "key_in_address")
    assert token not in answer.content.decode()


def test_a_session_is_no_key(alice: User, client_of: Callable[[User], Client]) -> None:
    assert client_of(alice).get(USAGE).status_code == 401


def test_it_notes_the_use_of_a_key_once_a_minute(alice: User, key_of: MadeKey) -> None:
    issued = key_of(alice)
    start = timezone.now()
    for seconds in (0, 30, 59, 61):
        keys.verify(issued.token, start + timedelta(seconds=seconds))
        if seconds == 59:
            assert ApiKey.objects.get().last_used_at == start
    assert ApiKey.objects.get().last_used_at == start + timedelta(seconds=61)


def test_it_answers_in_the_language_of_the_reader_with_the_same_code(db: None) -> None:
    english, spanish = ask(None).json(), ask(None, **{"Accept-Language": "es"}).json()
    assert english["code"] == spanish["code"] == "missing_key"
    assert english["type"] == spanish["type"]

"""A text that comes with a bad key, or with a good one in the wrong place: refused by name, and nothing is checked."""

from collections.abc import Callable
from datetime import timedelta

import pytest
import samples
from api_calls import Caller, problem
from django.utils import timezone

from billing import keys
from billing.models import ApiKey, Meter, User, WordEntry
from detector.models import Submission

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

BODY = {"text": samples.HUMAN}


def revoked(caller: Caller) -> None:
    keys.revoke(caller.key, now=timezone.now())


def expired(caller: Caller) -> None:
    ApiKey.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


def mistyped(caller: Caller) -> None:
    caller.token = caller.token[:-1] + ("0" if caller.token[-1] != "0" else "1")


def invented(caller: Caller) -> None:
    caller.token = keys.new_token(live=True)


def changed_over(caller: Caller) -> None:
    """A live key that says that it is a test key: the checksum stands over both."""
    caller.token = caller.token.replace("ink_live_", "ink_test_")


@pytest.fixture
def nothing_checked() -> Callable[[], bool]:
    rows = (Submission.objects, WordEntry.objects, Meter.objects.filter(held__gt=0), Meter.objects.filter(used__gt=0))
    return lambda: not any(found.exists() for found in rows)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (revoked, "revoked_key"),
        (expired, "expired_key"),
        (mistyped, "malformed_key"),
        (invented, "unknown_key"),
        (changed_over, "malformed_key"),
    ],
)
def test_a_key_that_has_ended_or_never_was_checks_nothing(
    alice: User, spoil: Callable[[Caller], None], code: str, nothing_checked: Callable[[], bool]
) -> None:
    caller = Caller(alice)
    spoil(caller)
    for path, body in (("/detections", BODY), ("/detections/batch", {"texts": [BODY]})):
        assert problem(caller.post(path, body)) == (401, code)
    assert problem(caller.client.post("/api/v1/detections/files", {}, headers=caller.headers())) == (401, code)
    assert nothing_checked()


def test_a_key_without_the_scope_is_told_which(alice: User, nothing_checked: Callable[[], bool]) -> None:
    answer = Caller(alice, scopes=("checks:read", "usage:read", "webhooks:manage")).post("/detections", BODY)
    assert problem(answer) == (403, "missing_scope")
    assert "checks:write" in answer.json()["detail"]
    assert nothing_checked()


def test_a_test_key_makes_no_webhook(alice: User) -> None:
    answer = Caller(alice, live=False).post("/webhooks", {"url": "https://example.com/", "events": ["quota.warning"]})
    assert problem(answer) == (403, "wrong_environment")
    assert "ink_live_" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["api_key", "key", "token", "access_token", "Authorization", "q"])
def test_a_key_in_the_address_is_refused_beside_a_good_header(
    alice: User, name: str, nothing_checked: Callable[[], bool]
) -> None:
    caller = Caller(alice)
    answer = caller.post(f"/detections?{name}={caller.token}", BODY)
    assert problem(answer) == (400, "key_in_address")
    assert caller.token not in answer.content.decode()
    assert nothing_checked()


@pytest.mark.parametrize("name", ["api_key", "apiKey", "Authorization", "access_token"])
def test_a_key_in_the_body_is_refused_beside_a_good_header(
    alice: User, name: str, nothing_checked: Callable[[], bool]
) -> None:
    caller = Caller(alice)
    answer = caller.post("/detections", BODY | {name: caller.token})
    assert problem(answer) == (400, "key_in_body")
    assert caller.token not in answer.content.decode()
    assert nothing_checked()

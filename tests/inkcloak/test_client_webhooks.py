"""The receiver's side: old, replayed and forged messages are refused, also by and for the reference library."""

import json
import subprocess
import sys
import textwrap
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from inkcloak.client.webhooks import WebhookError, sign, verify

NOW = 1_750_000_000
SECRET, OTHER = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_" + "b3RoZXItc2VjcmV0LW90aGVyLXNlY3JldA=="
EVENT = {"type": "detection.completed", "timestamp": "2026-06-15T12:00:00Z", "data": {"id": "d1"}}
BODY = json.dumps(EVENT).encode()


def signed(secrets: str | list[str] = SECRET, body: bytes = BODY, at: int = NOW) -> dict[str, str]:
    return sign(secrets, "evt_1", at, body)


def refusal(headers: dict[str, str], body: bytes | str = BODY, secrets: str | list[str] = SECRET, **options) -> str:
    with pytest.raises(WebhookError) as refused:
        verify(body, headers, secrets, **{"now": NOW} | options)
    return refused.value.code


def test_it_believes_what_was_signed() -> None:
    assert verify(BODY, signed(), SECRET, now=NOW) == EVENT
    assert verify(BODY.decode(), {name.title(): value for name, value in signed().items()}, SECRET, now=NOW) == EVENT


def test_the_signature_is_the_standards_own() -> None:
    """The worked example of the standard's reference implementations."""
    headers = sign(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_reference_library_believes_us_and_we_it() -> None:
    now = datetime.now(UTC)
    ours = sign([OTHER, SECRET], "evt_1", int(now.timestamp()), BODY)
    assert Webhook(SECRET).verify(BODY, ours) == EVENT
    theirs = {
        "webhook-id": "evt_2",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(SECRET).sign("evt_2", now, BODY.decode()),
    }
    assert verify(BODY, theirs, SECRET) == EVENT
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(BODY + b" ", ours)


@pytest.mark.parametrize(("age", "code"), [(301, "too_old"), (86_400, "too_old"), (-301, "too_new")])
def test_it_refuses_old_and_future_ones(age: int, code: str) -> None:
    assert refusal(signed(at=NOW - age)) == code


@pytest.mark.parametrize("age", [300, 0, -300])
def test_five_minutes_are_allowed_for_clocks(age: int) -> None:
    assert verify(BODY, signed(at=NOW - age), SECRET, now=NOW) == EVENT


def test_the_tolerance_is_the_receivers_choice() -> None:
    assert refusal(signed(at=NOW - 11), tolerance=10) == "too_old"
    assert verify(BODY, signed(at=NOW - 900), SECRET, now=NOW, tolerance=1_000) == EVENT


def test_a_new_time_on_an_old_message_is_a_forgery() -> None:
    assert refusal(signed(at=NOW - 900) | {"webhook-timestamp": str(NOW)}) == "bad_signature"


def test_it_refuses_a_replayed_one() -> None:
    known: set[str] = set()

    def seen(message_id: str) -> bool:
        before = message_id in known
        known.add(message_id)
        return before

    assert verify(BODY, signed(), SECRET, now=NOW, seen=seen) == EVENT
    assert refusal(signed(), seen=seen) == "replayed"
    assert refusal(signed(at=NOW + 5), seen=seen) == "replayed", "the same message, sent again"


def test_a_forgery_is_not_remembered() -> None:
    asked: list[str] = []
    assert refusal(signed(OTHER), seen=lambda message_id: bool(asked.append(message_id))) == "bad_signature"
    assert asked == []


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("webhook-id", "evt_2", "bad_signature"),
        ("webhook-id", "", "missing_header"),
        ("webhook-timestamp", "", "missing_header"),
        ("webhook-timestamp", "soon", "bad_timestamp"),
        ("webhook-timestamp", f"{NOW}.0", "bad_timestamp"),
        ("webhook-timestamp", f"-{NOW}", "bad_timestamp"),
        ("webhook-timestamp", "nan", "bad_timestamp"),
        ("webhook-timestamp", "9" * 5_000, "bad_timestamp"),
        ("webhook-timestamp", "١٧٥٠٠٠٠٠٠٠", "bad_timestamp"),
        ("webhook-signature", "", "missing_header"),
        ("webhook-signature", "v1", "bad_signature"),
        ("webhook-signature", "v1,", "bad_signature"),
        ("webhook-signature", "v1,é", "bad_signature"),
        ("webhook-signature", "v1,AAAA v1a,AAAA ,", "bad_signature"),
        ("webhook-signature", "garbage", "bad_signature"),
    ],
)
def test_it_refuses_headers_that_are_not_the_messages(name: str, value: str, code: str) -> None:
    assert refusal(signed() | {name: value}) == code


def test_it_refuses_a_changed_body() -> None:
    assert refusal(signed(), BODY.replace(b"d1", b"d2")) == "bad_signature"


def test_a_signature_counts_under_its_own_version_only() -> None:
    headers = signed()
    assert (
        refusal(headers | {"webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")}) == "bad_signature"
    )


def test_it_takes_either_secret_while_they_are_rotated() -> None:
    both = signed([OTHER, SECRET])
    for known in (SECRET, OTHER, [SECRET, OTHER]):
        assert verify(BODY, both, known, now=NOW) == EVENT
    assert verify(BODY, signed(SECRET), [OTHER, SECRET], now=NOW) == EVENT
    assert refusal(signed(SECRET), secrets=OTHER) == "bad_signature"


@pytest.mark.parametrize("body", [b"", b"[1]", b'"text"', b"{", b"\xff", b"[" * 100_000])
def test_it_refuses_signed_nonsense(body: bytes) -> None:
    assert refusal(signed(body=body), body) == "bad_payload"


@pytest.mark.parametrize("secrets", ["", "whsec_", "whsec_é", "whsec_!", []])
def test_a_secret_that_is_none_is_the_callers_mistake(secrets: str | list[str]) -> None:
    with pytest.raises(ValueError, match="secret"):
        verify(BODY, signed(), secrets, now=NOW)


def test_it_needs_neither_django_nor_celery() -> None:
    names = ("django", "celery", "kombu", "redis", "rest_framework")
    code = f"import sys, inkcloak.client.webhooks; sys.exit(any(name in sys.modules for name in {names}))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_the_receiver_of_the_documentation_works() -> None:
    """The code of docs/webhooks.md, as it stands there."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "webhooks.md").read_text(encoding="utf-8")
    block = page[page.index("from inkcloak.client.webhooks") : page.index("`verify` refuses")].partition("```")[0]
    known, handled = set(), []

    def known_before(message_id: str) -> bool:
        return message_id in known or bool(known.add(message_id))

    names = {"SECRET": SECRET, "known_before": known_before, "handle_later": handled.append}
    exec(textwrap.dedent(block), names)  # noqa: S102 - our own page
    receive = names["receive"]
    headers = sign(SECRET, "evt_1", int(time.time()), BODY)
    assert [receive(BODY, headers), receive(BODY, headers), receive(b"{}", headers)] == [200, 200, 400]
    assert handled == [EVENT]

"""A webhook of the running product: from the API's create through workers and beat to a receiver, signed."""

import os
from collections.abc import Iterator

import httpx
import pytest
import samples
from product import Product, eventually

from inkcloak.client.webhooks import verify
from tests.loopback import webhook_receiver
from tests.loopback.webhook_receiver import Receiver

EMAIL = "webhooks@example.com"
MAKE_USER = f"from billing.models import User; User.objects.filter(email='{EMAIL}').exists() or \
User.objects.create_user('{EMAIL}', 'a long enough password')"
SCOPES = "checks:write,checks:read,webhooks:manage"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver.receiver() as made:
        yield made


@pytest.fixture
def api(product: Product) -> Iterator[httpx.Client]:
    product.manage("shell", "-c", MAKE_USER)
    key = product.manage("create_api_key", "--email", EMAIL, "--scopes", SCOPES).stdout.strip()
    with httpx.Client(
        base_url=f"{product.url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=60
    ) as client:
        yield client


def ask(api: httpx.Client, path: str, body: dict, status: int) -> dict:
    answer = api.post(path, json=body)
    assert answer.status_code == status, answer.text
    found: dict = answer.json()
    return found


def test_a_verdict_reaches_the_receiver_signed_and_once(api: httpx.Client, receiver: Receiver) -> None:
    events = {"url": receiver.url, "events": ["detection.completed"]}
    made = ask(api, "/webhooks", events, 201)
    text = f"{samples.HUMAN} {os.urandom(8).hex()}"  # no repeat of another run's
    checked = api.post("/detections", json={"text": text}, headers={"Prefer": "wait=60"})
    assert checked.status_code == 201, checked.text
    eventually(lambda: len(receiver.got) == 1)
    (got,) = receiver.got
    event = verify(got.body, got.headers, made["secret"])
    assert (event["type"], event["data"]["id"]) == ("detection.completed", checked.json()["id"])
    assert event["data"]["probability"] == checked.json()["probability"]
    assert b"Woodhouse" not in got.body
    log = eventually(
        lambda: [
            line
            for line in api.get(f"/webhooks/{made['id']}/deliveries").json()["items"]
            if line["status"] == "delivered"
        ]
    )
    assert [line["attempts"] for line in log] == [1]


def test_a_failed_one_comes_again_by_itself(api: httpx.Client, receiver: Receiver) -> None:
    """Nobody asks for it: the five seconds pass, and beat wakes a worker."""
    receiver.says(500)
    made = ask(api, "/webhooks", {"url": receiver.url, "events": ["detection.failed"]}, 201)
    ask(api, f"/webhooks/{made['id']}/test", {}, 202)
    eventually(lambda: len(receiver.got) == 2)
    first, second = receiver.got
    assert first.webhook_id == second.webhook_id
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) >= 5

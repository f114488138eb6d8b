"""/api/v1/webhooks: made, shown, changed, rotated, tried, read and sent again by their own account alone."""

import uuid
from collections.abc import Iterator

import factories
import pytest
from django.test import Client
from django.utils import timezone
from webhook_rows import Clock, deliver

from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User
from detector import retention
from detector.models import WebhookDelivery, WebhookEndpoint
from inkcloak.client.webhooks import verify
from tests.loopback import webhook_receiver
from tests.loopback.webhook_receiver import Receiver, Says

pytestmark = pytest.mark.django_db

LIST = "/api/v1/webhooks"
ASKED = {"events": ["detection.completed", "batch.completed"], "description": "our intake"}


def program(of: User, *, live: bool = True, scopes: list[str] | None = None) -> Client:
    """A program with a key of this person's account."""
    key = keys.issue(
        account=account_of(of), name="a test", scopes=scopes or Scope.values, now=timezone.now(), live=live
    )
    return Client(headers={"Authorization": f"Bearer {key.token}"})


@pytest.fixture(autouse=True)
def _enough_requests(settings) -> None:
    settings.API_REQUESTS_PER_MINUTE = 10_000


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOWED_HOSTS = ["127.0.0.1"]
    with webhook_receiver.receiver() as made:
        yield made


@pytest.fixture
def api(alice: User) -> Client:
    return program(alice)


@pytest.fixture
def made(api: Client, receiver: Receiver) -> dict:
    """An endpoint of Alice's, as it was answered."""
    return posted(api, LIST, ASKED | {"url": receiver.url}, 201)


@pytest.fixture
def clock() -> Clock:
    return Clock(timezone.now())


def posted(api: Client, path: str, body: object = None, status: int = 200) -> dict:
    answer = api.post(path, body if body is not None else {}, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def changed(api: Client, path: str, body: object, status: int = 200) -> dict:
    answer = api.patch(path, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def path_of(made: dict, *steps: str) -> str:
    return "/".join([LIST, made["id"], *steps])


def test_it_is_made_and_shows_its_secret_once(api: Client, made: dict, receiver: Receiver) -> None:
    assert made["secret"].startswith("whsec_")
    assert made["url"] == receiver.url
    assert made["events"] == sorted(ASKED["events"])
    assert (made["description"], made["disabled"], made["disabled_reason"]) == ("our intake", False, None)
    without = {name: value for name, value in made.items() if name != "secret"}
    assert api.get(path_of(made)).json() == without
    assert api.get(LIST).json() == {"items": [without], "next": None, "next_cursor": None}
    assert made["secret"] not in WebhookEndpoint.objects.get().sealed_secret


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"url": "x" * 3_000}, "/url"),
        ({"url": 7}, "/url"),
        ({"url": None}, "/url"),
        ({"url": "https://exa\x00mple.com"}, "/url"),
        ({"events": []}, "/events"),
        ({"events": ["everything"]}, "/events"),
        ({"events": "detection.completed"}, "/events"),
        ({"events": [1]}, "/events"),
        ({"events": {"a": 1}}, "/events"),
        ({"description": "x" * 201}, "/description"),
        ({"description": ["x"]}, "/description"),
        ({"description": "a\nb"}, "/description"),
        ({"description": "\ud800"}, "/description"),
        ({"secret": "whsec_mine"}, "/secret"),
        ({"live": True}, "/live"),
    ],
)
def test_it_names_the_field_at_fault(api: Client, receiver: Receiver, body: dict, pointer: str) -> None:
    problem = posted(api, LIST, ASKED | {"url": receiver.url} | body, 400)
    assert pointer in {fault["pointer"] for fault in problem["errors"]}
    assert not WebhookEndpoint.objects.exists()


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://example.com/", "webhook_not_https"),
        ("https://user:word@example.com/", "webhook_bad_url"),
        ("https://example.com:22/", "webhook_bad_url"),
        ("https://10.0.0.1/", "webhook_address_refused"),
        ("https://169.254.169.254/latest/meta-data", "webhook_address_refused"),
        ("https://[::1]/", "webhook_address_refused"),
        ("https://[::ffff:127.0.0.1]/", "webhook_address_refused"),
        ("https://no-such-host.invalid/", "webhook_unresolvable"),
    ],
)
def test_it_refuses_addresses_inside_and_strange_ones(api: Client, made: dict, settings, url: str, code: str) -> None:
    settings.WEBHOOK_ALLOWED_HOSTS = []
    assert posted(api, LIST, ASKED | {"url": url}, 400)["code"] == code
    assert changed(api, path_of(made), {"url": url, "description": "new"}, 400)["code"] == code
    assert WebhookEndpoint.objects.get().description == "our intake", "nothing of it is taken"


def test_an_account_has_ten_at_most_and_others_have_their_own(
    api: Client, bob: User, made: dict, receiver: Receiver
) -> None:
    body = ASKED | {"url": receiver.url}
    for _ in range(9):
        posted(api, LIST, body, 201)
    assert posted(api, LIST, body, 400)["code"] == "too_many_webhooks"
    posted(program(bob), LIST, body, 201)
    assert api.delete(path_of(made)).status_code == 204
    posted(api, LIST, body, 201)


@pytest.mark.django_db(transaction=True)
def test_twenty_at_once_make_ten(alice: User, receiver: Receiver) -> None:
    clients = [program(alice) for _ in range(20)]
    body = ASKED | {"url": receiver.url}
    answers = factories.together(
        lambda number: clients[number].post(LIST, body, content_type="application/json").status_code, 20
    )
    assert sorted(answers) == [201] * 10 + [400] * 10
    assert WebhookEndpoint.objects.count() == 10


def test_it_is_changed_in_parts(api: Client, made: dict, receiver: Receiver) -> None:
    found = changed(api, path_of(made), {"events": ["quota.warning"], "url": receiver.url + "&more"})
    assert (found["events"], found["url"], found["description"]) == (
        ["quota.warning"],
        receiver.url + "&more",
        "our intake",
    )
    assert changed(api, path_of(made), {"description": ""})["description"] == ""
    assert changed(api, path_of(made), {"disabled": None}) == changed(api, path_of(made), {})


def test_it_is_disabled_and_enabled(api: Client, made: dict) -> None:
    off = changed(api, path_of(made), {"disabled": True})
    assert (off["disabled"], off["disabled_reason"]) == (True, "by_owner")
    assert posted(api, path_of(made, "test"), None, 400)["code"] == "webhook_disabled"
    on = changed(api, path_of(made), {"disabled": False})
    assert (on["disabled"], on["disabled_reason"], on["disabled_at"]) == (False, None, None)
    posted(api, path_of(made, "test"), None, 202)


def test_a_test_message_arrives_and_is_in_the_log(api: Client, made: dict, receiver: Receiver, clock: Clock) -> None:
    sent = posted(api, path_of(made, "test"), None, 202)
    assert (sent["status"], sent["type"], sent["attempts"]) == ("pending", "webhook.test", 0)
    clock.forward(1)
    deliver(clock)
    (got,) = receiver.got
    event = verify(got.body, got.headers, made["secret"])
    log = api.get(path_of(made, "deliveries")).json()["items"]
    assert [(line["id"], line["status"], line["webhook_id"]) for line in log] == [
        (sent["id"], "delivered", got.webhook_id)
    ]
    assert api.get(path_of(made, "deliveries", sent["id"])).json() == log[0] | {"payload": event}


def test_a_message_is_sent_again_under_its_own_id(api: Client, made: dict, receiver: Receiver, clock: Clock) -> None:
    receiver.says(500)
    sent = posted(api, path_of(made, "test"), None, 202)
    clock.forward(1)
    deliver(clock)
    again = posted(api, path_of(made, "deliveries", sent["id"], "resend"), None, 202)
    assert (again["resend_of"], again["webhook_id"]) == (sent["id"], sent["webhook_id"])
    deliver(clock)
    first, second = receiver.got
    assert first.webhook_id == second.webhook_id
    statuses = {line["id"]: line["status"] for line in api.get(path_of(made, "deliveries")).json()["items"]}
    assert statuses == {sent["id"]: "failed", again["id"]: "delivered"}


def test_the_log_has_pages(api: Client, made: dict) -> None:
    sent = [posted(api, path_of(made, "test"), None, 202)["id"] for _ in range(5)]
    first = api.get(path_of(made, "deliveries"), {"limit": 3}).json()
    rest = api.get(path_of(made, "deliveries"), {"limit": 3, "cursor": first["next_cursor"]}).json()
    assert [line["id"] for line in first["items"] + rest["items"]] == sent[::-1]
    assert rest["next"] is None


@pytest.mark.usefixtures("champion")
def test_a_deleted_check_is_in_no_log(api: Client, alice: User, made: dict) -> None:
    submission = factories.checked(factories.owner(alice))
    (line,) = api.get(path_of(made, "deliveries")).json()["items"]
    retention.delete(submission)
    assert api.get(path_of(made, "deliveries")).json()["items"] == []
    assert posted(api, path_of(made, "deliveries", line["id"], "resend"), None, 404)["code"] == "not_found"


def test_a_secret_is_rotated(api: Client, made: dict) -> None:
    newer = posted(api, path_of(made, "rotate"))
    assert newer["secret"] not in ("", made["secret"])
    assert newer["previous_secret_valid_until"] is not None
    at_once = posted(api, path_of(made, "rotate"), {"overlap_hours": 0})
    assert at_once["previous_secret_valid_until"] is None
    assert "secret" not in api.get(path_of(made)).json()


@pytest.mark.parametrize("hours", ["24", 24.5, -1, 73, True, [], 10**30])
def test_an_overlap_is_a_number_of_hours(api: Client, made: dict, hours: object) -> None:
    problem = posted(api, path_of(made, "rotate"), {"overlap_hours": hours}, 400)
    assert problem["errors"][0]["pointer"] == "/overlap_hours"


def test_deleting_takes_the_log_along(api: Client, made: dict) -> None:
    posted(api, path_of(made, "test"), None, 202)
    assert api.delete(path_of(made)).status_code == 204
    assert api.delete(path_of(made)).status_code == 404
    assert not WebhookDelivery.objects.exists()


ROUTES: list[tuple[str, tuple[str, ...]]] = [
    ("get", ()),
    ("patch", ()),
    ("delete", ()),
    ("post", ("rotate",)),
    ("post", ("test",)),
    ("get", ("deliveries",)),
    ("get", ("deliveries", "{delivery}")),
    ("post", ("deliveries", "{delivery}", "resend")),
]


@pytest.mark.parametrize(("method", "steps"), ROUTES)
def test_a_stranger_finds_nothing(
    api: Client, bob: User, made: dict, receiver: Receiver, method: str, steps: tuple[str, ...]
) -> None:
    sent = posted(api, path_of(made, "test"), None, 202)["id"]
    stranger = program(bob)
    own = posted(stranger, LIST, ASKED | {"url": receiver.url}, 201)
    nested = [step.format(delivery=sent) for step in steps]
    paths = {path_of(made, *nested), path_of({"id": str(uuid.uuid4())}, *nested), path_of({"id": "x"}, *nested)}
    if "{delivery}" in steps:
        paths |= {path_of(own, *nested), path_of(own, *(step.format(delivery="x") for step in steps))}
    for path in paths:
        answer = getattr(stranger, method)(path, {}, content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), path
    assert stranger.get(LIST).json()["items"] == [{name: own[name] for name in own if name != "secret"}]
    assert WebhookEndpoint.objects.count() == 2
    assert WebhookDelivery.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"scopes": ["checks:read", "checks:write", "usage:read"]}, 403, "missing_scope"),
        ({"live": False}, 403, "wrong_environment"),
        (None, 401, "missing_key"),
    ],
)
def test_it_needs_a_live_key_with_its_scope(
    alice: User, made: dict, change: dict | None, status: int, code: str
) -> None:
    client = Client() if change is None else program(alice, **change)
    for method, steps in (("get", ()), ("delete", ()), ("post", ("rotate",))):
        answer = getattr(client, method)(path_of(made, *steps), {}, content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert WebhookEndpoint.objects.count() == 1


def test_an_oversized_body_is_refused(api: Client, made: dict) -> None:
    assert changed(api, path_of(made), {"description": "x" * 20_000}, 413)["code"] == "too_large"


def test_410_shows_in_the_answer(api: Client, made: dict, receiver: Receiver, clock: Clock) -> None:
    receiver.script.append(Says(410))
    posted(api, path_of(made, "test"), None, 202)
    clock.forward(1)
    deliver(clock)
    found = api.get(path_of(made)).json()
    assert (found["disabled"], found["disabled_reason"]) == (True, "gone")

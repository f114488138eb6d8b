"""Every address that names something, called with somebody else's ids: 404, the same as for ids that nobody has.

The addresses are read off the resolver: one that is new, or that names something new, fails here until its owner's id
is made below.
"""

import re
import uuid
from collections.abc import Callable, Iterator

import factories
import pytest
import samples
import webhook_rows
from api_calls import Caller, problem
from django.db.models import Model
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from pytest_django import Settings

from billing import seats
from billing.models import Account, ApiKey, Invitation, Membership, User
from detector import sharing
from detector.models import Batch, Share, Submission, WebhookDelivery, WebhookEndpoint
from detector.views import upload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

API = "api/v1/"
METHODS = ("get", "post", "delete", "put", "patch")
ROWS: tuple[type[Model], ...] = (
    Submission,
    Batch,
    Share,
    WebhookEndpoint,
    WebhookDelivery,
    ApiKey,
    Membership,
    Invitation,
)
NAMES = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>")
# Addresses that name nothing which belongs to an account.
NOBODYS = {
    "accounts/": "the framework's own: a secret from a mail",
    "staff/": "for staff only, whatever it names",
    "s/": "a share link: whoever has it may read",
    "accuracy/": "a picture of a public report",
    "hooks/runpod/": "a machine's, with a secret",
    "team/join/": "a link from a mail: only who has the address in it may take it",
}


@pytest.fixture
def hers(alice: User, settings: Settings) -> dict[str, str]:
    """An id of Alice's for each name that stands in an address."""
    settings.API_REQUESTS_PER_MINUTE = 10_000
    caller, owner = Caller(alice), factories.owner(alice)
    batch = caller.post("/detections/batch", {"texts": [{"text": samples.HUMAN}]}).json()
    done = factories.checked(owner, samples.AI)
    drawn = uuid.uuid4()
    factories.accepted(owner, samples.SPANISH, nonce=upload._number(drawn, 0))
    endpoint = webhook_rows.endpoint(alice).endpoint
    team = caller.key.account
    Account.objects.filter(pk=team.pk).update(plan_name="team", plan_version=1)
    team.refresh_from_db()
    colleague = Membership.objects.create(account=team, user=factories.person("dora"))
    invited = seats.invite(account=team, email="erin@example.com", role="member", by=alice, now=timezone.now())
    return {
        "detection_id": str(done.pk),
        "submission_id": str(done.pk),
        "batch_id": batch["id"],
        "nonce": str(drawn),
        "share_id": str(sharing.create(done, now=timezone.now()).pk),
        "webhook_id": str(endpoint.pk),
        "delivery_id": str(webhook_rows.a_message(endpoint).pk),
        "key_id": str(caller.key.pk),
        "membership_id": str(colleague.pk),
        "invitation_id": str(invited.pk),
    }


def nobodys(hers: dict[str, str]) -> dict[str, str]:
    """Ids that nobody has."""
    return {name: "999999999" if name == "membership_id" else str(uuid.uuid4()) for name in hers}


def patterns(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern, here)
        elif NAMES.search(here) and not here.startswith(tuple(NOBODYS)):
            yield here, pattern


def spelt(address: str, ids: dict[str, str]) -> str:
    return "/" + NAMES.sub(lambda found: ids[found[1] or found[2]], address)


def api_calls() -> list[tuple[str, str]]:
    """(method, address) of all below /api/v1."""
    return [
        (method, address)
        for address, pattern in patterns(get_resolver())
        if address.startswith(API)
        for method in METHODS
        if hasattr(pattern.callback.cls, method)
    ]


def pages() -> list[str]:
    return [address for address, _pattern in patterns(get_resolver()) if not address.startswith(API)]


def counted() -> list[int]:
    return [model._default_manager.count() for model in ROWS]


def test_every_name_in_an_address_has_an_owner_here(hers: dict[str, str]) -> None:
    found = [address for address, _pattern in patterns(get_resolver())]
    named = {name for address in found for pair in NAMES.findall(address) for name in pair if name}
    assert named == hers.keys()
    assert len(api_calls()) >= 17
    assert len(pages()) >= 10


def test_by_the_api_a_strangers_ids_are_nobodys(hers: dict[str, str], charlie: User, bob: User) -> None:
    callers = [Caller(charlie), Caller(bob), Caller(charlie, live=False)]
    rows = counted()
    for caller in callers:
        for method, address in api_calls():
            for ids in (hers, nobodys(hers)):
                answer = getattr(caller.client, method)(spelt(address, ids), headers=caller.headers())
                # Webhooks are nothing for a test key, whosever they are.
                closed = not caller.key.live and "/webhooks/" in address
                expected = (403, "wrong_environment") if closed else (404, "not_found")
                assert problem(answer) == expected, (method, address)
    assert counted() == rows


def test_by_the_pages_a_strangers_ids_are_nobodys(
    hers: dict[str, str], charlie: User, bob: User, client_of: Callable[[User], Client]
) -> None:
    rows = counted()
    for client in (client_of(charlie), client_of(bob), Client()):
        for address in pages():
            for ids in (hers, nobodys(hers)):
                found = {shown_at(client, method, spelt(address, ids)) for method in ("get", "post")}
                assert found - {"405"} in ({"404"}, {"login"}), (address, found)
    assert counted() == rows


def test_what_a_waiting_page_asks_for_is_nobodys_too(hers: dict[str, str], charlie: User, client_of: Callable) -> None:
    client = client_of(charlie)
    addresses = [f"/checks/{one}/status" for one in (hers["submission_id"], uuid.uuid4())]
    answers = [client.get(address, headers={"HX-Request": "true"}) for address in addresses]
    assert [(one.status_code, one.content, one["HX-Refresh"]) for one in answers] == [(200, b"", "true")] * 2


def shown_at(client: Client, method: str, address: str) -> str:
    """The status in the end; `login` for that page."""
    answer = getattr(client, method)(address, follow=True)
    return "login" if answer.request["PATH_INFO"] == "/accounts/login/" else str(answer.status_code)


def test_they_are_hers(hers: dict[str, str], alice: User, client_of: Callable[[User], Client]) -> None:
    """Or all of the above would pass with ids of nothing."""
    caller, client = Caller(alice), client_of(alice)
    read = [spelt(address, hers) for method, address in api_calls() if method == "get"]
    assert {caller.client.get(address, headers=caller.headers()).status_code for address in read} == {200}
    assert {shown_at(client, "get", spelt(address, hers)) for address in pages()} == {"200", "405"}


def test_her_own_test_key_does_not_see_them_either(hers: dict[str, str], alice: User) -> None:
    caller = Caller(alice, live=False)
    assert problem(caller.get(f"/detections/{hers['detection_id']}")) == (404, "not_found")
    assert problem(caller.get(f"/batches/{hers['batch_id']}")) == (404, "not_found")


def test_a_list_by_somebody_elses_batch_is_empty(hers: dict[str, str], charlie: User) -> None:
    assert Caller(charlie).get(f"/detections?batch={hers['batch_id']}").json()["items"] == []
    assert Caller(charlie).get(f"/usage/entries?detection={hers['detection_id']}").json()["items"] == []


def test_an_export_by_somebody_elses_batch_is_empty(hers: dict[str, str], charlie: User) -> None:
    answer = Caller(charlie).get(f"/detections/export?format=jsonl&batch={hers['batch_id']}")
    assert (answer.status_code, b"".join(answer.streaming_content)) == (200, b"")

"""Every address below /api/v1 with somebody else's ids: 404, the same as for ids that nobody has."""

import re
import uuid
from collections.abc import Iterator

import factories
import pytest
import samples
from api_calls import Caller, problem
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from billing.models import User
from detector import sharing
from detector.models import Batch, Share, Submission

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

IDS = ("detection_id", "batch_id", "share_id")


@pytest.fixture
def hers(alice: User) -> dict[str, str]:
    """An id of Alice's for each name that stands in an address."""
    caller = Caller(alice)
    batch = caller.post("/detections/batch", {"texts": [{"text": samples.HUMAN}]}).json()
    done = factories.checked(factories.owner(alice), samples.AI)
    share = sharing.create(done, now=timezone.now())
    return {"detection_id": str(done.pk), "batch_id": batch["id"], "share_id": str(share.pk)}


def addresses(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, type]]:
    """(path with its names in braces, view) of each address with a detection's or a batch's id."""
    for pattern in resolver.url_patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern, here)
        elif isinstance(pattern, URLPattern) and here.startswith("api/v1/") and any(name in here for name in IDS):
            yield re.sub(r"<\w+:(\w+)>", r"{\1}", here.removeprefix("api/v1")), pattern.callback.cls


def calls() -> list[tuple[str, str]]:
    """(method, path) of each of them."""
    return [
        (method, path)
        for path, view in addresses(get_resolver())
        for method in ("get", "post", "delete", "put", "patch")
        if hasattr(view, method)
    ]


def test_the_walk_finds_every_address() -> None:
    found = set(calls())
    assert {
        ("get", "/detections/{detection_id}"),
        ("delete", "/detections/{detection_id}"),
        ("post", "/detections/{detection_id}/rerun"),
        ("post", "/detections/{detection_id}/shares"),
        ("delete", "/detections/{detection_id}/shares/{share_id}"),
        ("get", "/batches/{batch_id}"),
    } <= found


def test_a_strangers_ids_are_nobodys(hers: dict[str, str], charlie: User, bob: User) -> None:
    rows = Submission.objects.count(), Batch.objects.count(), Share.objects.count()
    nobodys = {name: str(uuid.uuid4()) for name in IDS}
    for caller in (Caller(charlie), Caller(bob), Caller(charlie, live=False)):
        for method, path in calls():
            for ids in (hers, nobodys):
                answer = getattr(caller.client, method)(f"/api/v1{path.format(**ids)}", headers=caller.headers())
                assert problem(answer) == (404, "not_found"), (method, path)
    assert (Submission.objects.count(), Batch.objects.count(), Share.objects.count()) == rows


def test_her_own_test_key_does_not_see_them_either(hers: dict[str, str], alice: User) -> None:
    caller = Caller(alice, live=False)
    assert problem(caller.get(f"/detections/{hers['detection_id']}")) == (404, "not_found")
    assert problem(caller.get(f"/batches/{hers['batch_id']}")) == (404, "not_found")


def test_a_list_by_somebody_elses_batch_is_empty(hers: dict[str, str], charlie: User) -> None:
    assert Caller(charlie).get(f"/detections?batch={hers['batch_id']}").json()["items"] == []


def test_her_colleagues_key_of_the_same_account_sees_them(hers: dict[str, str], alice: User) -> None:
    assert Caller(alice).get(f"/detections/{hers['detection_id']}").status_code == 200

"""Share links on the result page: made, copied, listed, revoked by their owner alone."""

import re
import uuid
from collections.abc import Callable

import factories
import page_reading as pages
import pytest
import samples
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from billing.models import User
from detector import intake, sharing
from detector.models import Share, Submission
from inkcloak import sealing
from inkcloak.errors import Conflict, Invalid

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


@pytest.fixture
def checked(alice: User) -> Submission:
    return factories.checked(factories.owner(alice), samples.AI, now=timezone.now())


@pytest.fixture
def hers(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


def make(client: Client, checked: Submission, **said: str) -> HttpResponse:
    return client.post(f"/checks/{checked.pk}/shares", {"days": "30"} | said, follow=True)


def addresses(page: HttpResponse) -> list[str]:
    """Of the links that the page lists."""
    fields = pages.elements(page, "input")
    return [e.attributes["value"] for e in fields if e.attributes.get("id", "").startswith("share-")]


def test_it_makes_a_link_that_can_be_copied_again(hers: Client, checked: Submission) -> None:
    page = make(hers, checked)
    (address,) = addresses(page)
    assert re.fullmatch(r"http://testserver/s/[\w-]{32}/", address)
    assert addresses(hers.get(f"/checks/{checked.pk}/")) == [address]
    assert Client().get(address).status_code == 200


def test_the_text_is_kept_back_unless_she_ticks_the_box(hers: Client, checked: Submission) -> None:
    page = make(hers, checked)
    (box,) = pages.elements(page, "input", name="with_text")
    assert "checked" not in box.attributes
    assert not Share.objects.get().with_text
    make(hers, checked, with_text="1")
    assert Share.objects.filter(with_text=True).count() == 1


def test_thirty_days_are_the_default_and_others_can_be_chosen(hers: Client, checked: Submission) -> None:
    options = pages.elements(hers.get(f"/checks/{checked.pk}/"), "option")
    days = [e.attributes["value"] for e in options]
    assert days == ["1", "7", "30", "90"]
    assert [e.attributes["value"] for e in options if "selected" in e.attributes] == ["30"]
    make(hers, checked, days="7")
    share = Share.objects.get()
    assert (share.expires_at - share.created_at).days == 7


@pytest.mark.parametrize("days", ["", "0", "2", "-1", "99999999999", "³", "x"])
def test_a_lifetime_that_is_none_makes_nothing(hers: Client, checked: Submission, days: str) -> None:
    assert "A link can work for 1, 7, 30, 90 days." in pages.words(make(hers, checked, days=days))
    assert not Share.objects.exists()


def test_it_revokes_at_once(hers: Client, checked: Submission) -> None:
    (address,) = addresses(make(hers, checked))
    (share,) = Share.objects.all()
    page = hers.post(f"/checks/{checked.pk}/shares/{share.pk}/revoke", follow=True)
    assert addresses(page) == []
    assert "leads nowhere" in pages.words(page)
    assert Client().get(address).status_code == 404


def test_a_check_has_no_more_links_than_its_limit(hers: Client, checked: Submission, monkeypatch) -> None:
    monkeypatch.setattr(sharing, "MAX_SHARES", 2)
    for _n in range(3):
        page = make(hers, checked)
    assert "A check can have 2 links" in pages.words(page)
    assert len(addresses(page)) == 2


def test_what_was_sealed_under_a_lost_key_still_works(hers: Client, checked: Submission, settings) -> None:
    (address,) = addresses(make(hers, checked))
    share = Share.objects.get()
    settings.SECRET_KEY = "another one, and the old one is lost"
    assert sharing.link_token(share) is None
    assert Client().get(address).status_code == 200
    with pytest.raises(sealing.Unreadable):
        sealing.unseal(share.sealed_token, purpose=sharing.PURPOSE)


def test_sealed_for_one_purpose_is_unreadable_for_another(settings) -> None:
    sealed = sealing.seal("open", purpose=b"doors")
    assert sealing.unseal(sealed, purpose=b"doors") == "open"
    with pytest.raises(sealing.Unreadable):
        sealing.unseal(sealed, purpose=b"windows")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "the next one"
    assert sealing.unseal(sealed, purpose=b"doors") == "open"


def test_strangers_and_visitors_make_and_revoke_nothing(
    hers: Client, checked: Submission, charlie: User, client_of: Callable[[User], Client]
) -> None:
    make(hers, checked)
    share = Share.objects.get()
    for client in (client_of(charlie), Client()):
        assert make(client, checked).status_code == 404
        for number in (share.pk, uuid.uuid4()):
            assert client.post(f"/checks/{checked.pk}/shares/{number}/revoke").status_code == 404
    assert list(Share.objects.all()) == [share]


def test_a_link_of_another_check_is_not_revoked_by_this_ones_address(
    hers: Client, checked: Submission, alice: User
) -> None:
    other = factories.checked(factories.owner(alice), samples.HUMAN, now=timezone.now())
    make(hers, other)
    share = Share.objects.get()
    assert hers.post(f"/checks/{checked.pk}/shares/{share.pk}/revoke").status_code == 404
    assert Share.objects.exists()


def test_asking_for_the_page_changes_nothing(hers: Client, checked: Submission) -> None:
    assert hers.get(f"/checks/{checked.pk}/shares").status_code == 405
    assert not Share.objects.exists()


def test_a_visitor_is_offered_no_link(client: Client) -> None:
    page = client.post("/check", {"text": "Too short."}, follow=True)
    assert "Not enough to judge" in pages.words(page)
    assert not pages.elements(page, "details", id="share")
    address = page.redirect_chain[-1][0]
    assert client.post(f"{address}shares", {"days": "30"}).status_code == 404
    assert not Share.objects.exists()


def test_only_a_verdict_can_be_shared(alice: User) -> None:
    waiting = factories.accepted(factories.owner(alice), now=timezone.now())
    with pytest.raises(Conflict, match="not_finished"):
        sharing.create(waiting, now=timezone.now())


def test_a_text_that_was_not_stored_cannot_be_shown(alice: User) -> None:
    short = factories.accepted(
        factories.owner(alice), "Too short.", now=timezone.now(), asked=intake.Asked(store=False)
    )
    with pytest.raises(Conflict, match="text_not_stored"):
        sharing.create(short, now=timezone.now(), with_text=True)
    assert sharing.create(short, now=timezone.now()).pk
    with pytest.raises(Invalid, match="bad_lifetime"):
        sharing.create(short, now=timezone.now(), days=365)

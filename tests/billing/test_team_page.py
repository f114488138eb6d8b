"""The team page and the invitation's page: who may do what, and what bad input gets."""

import re
import uuid
from collections.abc import Callable

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from billing import keys, seats
from billing.accounts import account_of, membership_of
from billing.models import Account, Invitation, Membership, Scope, User

PAGE = "/team/"
Browser = Callable[[User], Client]
HUGE = 10**30


@pytest.fixture
def team(alice: User) -> Account:
    Account.objects.filter(pk=account_of(alice).pk).update(plan_name="pro", plan_version=1)
    return account_of(alice)


@pytest.fixture
def invitation(team: Account, alice: User) -> Invitation:
    """Of Bob."""
    return seats.invite(account=team, email="bob@example.com", role="member", by=alice, now=timezone.now())


@pytest.fixture
def link(invitation: Invitation) -> str:
    return f"{PAGE}join/{seats.token_of(invitation)}/"


@pytest.fixture
def member(team: Account, bob: User) -> Membership:
    return Membership.objects.create(account=team, user=bob, chosen_at=timezone.now())


def text(answer) -> str:
    return answer.content.decode()


def test_it_asks_to_sign_in(db: None) -> None:
    assert Client().get(PAGE)["Location"] == "/accounts/login/?next=/team/"


def test_it_invites_by_mail_and_the_mail_lets_in(team: Account, alice: User, bob: User, client_of: Browser) -> None:
    page = client_of(alice).post(f"{PAGE}invite", {"email": "bob@example.com", "role": "billing"}, follow=True)
    assert "bob@example.com" in text(page)
    path = re.search(r"/team/join/\S+", str(mail.outbox[0].body))
    assert path is not None
    assert "alice@example.com" in text(Client().get(path[0])), "before signing in, too"
    browser = client_of(bob)
    assert "Join" in text(browser.get(path[0]))
    assert "You are in" in text(browser.post(path[0], follow=True))
    assert membership_of(bob).role == "billing"
    again = browser.post(path[0])
    assert (again.status_code, "accepted already" in text(again)) == (409, True)


def test_another_address_is_told_so(link: str, charlie: User, client_of: Browser) -> None:
    browser = client_of(charlie)
    assert "another address" in text(browser.get(link))
    assert browser.post(link).status_code == 409
    assert "bob@example.com" not in text(browser.get(link))


def test_posting_without_signing_in_joins_nobody(link: str, invitation: Invitation) -> None:
    assert Client().post(link).status_code == 200
    invitation.refresh_from_db()
    assert invitation.accepted_at is None


@pytest.mark.parametrize("token", ["x", "a:b:c", "%00", "é", "x" * 3000])
def test_a_made_up_link_is_explained(db: None, token: str) -> None:
    answer = Client().get(f"{PAGE}join/{token}/")
    assert (answer.status_code, "no invitation of ours" in text(answer)) == (409, True)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"email": "bob"}, "not an e-mail address"),
        ({}, "not an e-mail address"),
        ({"email": "\x00@example.com"}, "not an e-mail address"),
        ({"email": "alice@example.com"}, "belongs to the account already"),
        ({"email": "dora@example.com", "role": "king"}, "no such role"),
    ],
)
def test_it_explains_what_cannot_be_invited(
    team: Account, alice: User, client_of: Browser, fields: dict[str, str], words: str
) -> None:
    answer = client_of(alice).post(f"{PAGE}invite", fields)
    assert answer.status_code == 409
    assert words in text(answer)
    assert not Invitation.objects.exists()


def test_it_shows_what_was_typed_as_text(team: Account, alice: User, client_of: Browser) -> None:
    page = text(client_of(alice).post(f"{PAGE}invite", {"email": '"><script>alert(1)</script>'}))
    assert "<script>alert(1)" not in page


def test_a_plan_with_one_seat_names_larger_ones(alice: User, client_of: Browser) -> None:
    page = text(client_of(alice).get(PAGE))
    assert "Pro has 3." in page
    assert 'name="email"' not in page


def test_members_see_and_cannot_change(
    team: Account, alice: User, bob: User, member: Membership, client_of: Browser
) -> None:
    browser, hers = client_of(bob), membership_of(alice)
    page = text(browser.get(PAGE))
    assert "alice@example.com" in page
    assert "Change the role" not in page
    assert browser.post(f"{PAGE}invite", {"email": "dora@example.com"}).status_code == 403
    assert browser.post(f"{PAGE}members/{member.pk}/role", {"role": "owner"}).status_code == 403
    assert browser.post(f"{PAGE}members/{hers.pk}/remove").status_code == 403
    assert browser.get(f"{PAGE}members/{hers.pk}/remove").status_code == 403
    assert Membership.objects.filter(account=team, role="owner").count() == 1


def test_a_member_leaves_and_is_back_in_their_own(bob: User, member: Membership, client_of: Browser) -> None:
    browser = client_of(bob)
    assert "Leave the team?" in text(browser.get(f"{PAGE}members/{member.pk}/remove"))
    assert "You have left" in text(browser.post(f"{PAGE}members/{member.pk}/remove", follow=True))
    assert account_of(bob).personal_of == bob
    assert browser.post(f"{PAGE}members/{member.pk}/remove").status_code == 404


def test_the_owner_removes_and_changes_roles(alice: User, member: Membership, client_of: Browser) -> None:
    browser = client_of(alice)
    assert "is now: Billing" in text(browser.post(f"{PAGE}members/{member.pk}/role", {"role": "billing"}, follow=True))
    assert "no such role" in text(browser.post(f"{PAGE}members/{member.pk}/role", {"role": "x"}, follow=True))
    assert "no member any more" in text(browser.post(f"{PAGE}members/{member.pk}/remove", follow=True))
    assert not Membership.objects.filter(pk=member.pk).exists()


def test_the_last_owner_is_told_to_stay(alice: User, member: Membership, client_of: Browser) -> None:
    hers = membership_of(alice)
    page = client_of(alice).post(f"{PAGE}members/{hers.pk}/remove", follow=True)
    assert "needs an owner" in text(page)
    assert Membership.objects.filter(pk=hers.pk).exists()


def test_a_stranger_finds_nobody(invitation: Invitation, member: Membership, charlie: User, client_of: Browser) -> None:
    browser = client_of(charlie)
    assert browser.post(f"{PAGE}members/{member.pk}/role", {"role": "owner"}).status_code == 404
    assert browser.post(f"{PAGE}members/{member.pk}/remove").status_code == 404
    assert browser.post(f"{PAGE}switch", {"account": str(member.pk)}).status_code == 404
    assert browser.post(f"{PAGE}invitations/{invitation.pk}/revoke").status_code == 404
    invitation.refresh_from_db()
    assert invitation.revoked_at is None
    assert "bob@example.com" not in text(browser.get(PAGE))


def test_members_see_their_own_keys_and_the_owner_all(
    team: Account, alice: User, bob: User, member: Membership, client_of: Browser
) -> None:
    made = {
        user: keys.issue(account=team, name="x", scopes=Scope.values, now=timezone.now(), created_by=user).key
        for user in (alice, bob)
    }
    theirs = text(client_of(bob).get("/keys/"))
    assert (made[bob].hint in theirs, made[alice].hint in theirs) == (True, False)
    assert client_of(bob).post(f"/keys/{made[alice].pk}/revoke").status_code == 404
    hers = text(client_of(alice).get("/keys/"))
    assert made[bob].hint in hers
    assert "(bob@example.com)" in hers


def test_one_changes_between_ones_accounts(bob: User, member: Membership, client_of: Browser) -> None:
    own = Membership.objects.get(user=bob, account__personal_of=bob)
    page = client_of(bob).post(f"{PAGE}switch", {"account": str(own.pk)}, follow=True)
    assert "You now work in" in text(page)
    assert account_of(bob) == own.account


@pytest.mark.parametrize("account", ["", "x", "-1", str(HUGE), "\x00"])
def test_a_made_up_account_is_not_found(alice: User, client_of: Browser, account: str) -> None:
    assert client_of(alice).post(f"{PAGE}switch", {"account": account}).status_code == 404


@pytest.mark.parametrize("what", [f"members/{HUGE}/remove", f"members/{HUGE}/role", "members/0/remove"])
def test_a_made_up_member_is_not_found(alice: User, client_of: Browser, what: str) -> None:
    assert client_of(alice).post(PAGE + what, {"role": "owner"}).status_code == 404


def test_ending_an_invitation_twice_is_harmless(alice: User, invitation: Invitation, client_of: Browser) -> None:
    browser = client_of(alice)
    for _time in range(2):
        assert browser.post(f"{PAGE}invitations/{invitation.pk}/revoke").status_code == 302
    assert browser.post(f"{PAGE}invitations/{uuid.uuid4()}/revoke").status_code == 404
    assert "bob@example.com" not in text(browser.get(PAGE)).split("<main")[1]


@pytest.mark.parametrize("what", ["invite", "switch", "members/1/role"])
def test_doors_that_only_take_posts(alice: User, client_of: Browser, what: str) -> None:
    assert client_of(alice).get(PAGE + what).status_code == 405


def test_a_forged_form_changes_nothing(alice: User, link: str, member: Membership) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    for what in ("invite", "switch", f"members/{member.pk}/role", f"members/{member.pk}/remove"):
        assert browser.post(PAGE + what, {"role": "owner"}).status_code == 403
    assert browser.post(link).status_code == 403


def test_it_speaks_spanish_numbers_and_keeps_private(alice: User, client_of: Browser) -> None:
    answer = client_of(alice).get(PAGE, headers={"Accept-Language": "es"})
    assert answer["Cache-Control"] == "no-store, private"
    assert 'lang="es"' in text(answer)

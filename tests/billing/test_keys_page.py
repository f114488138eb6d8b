"""The page about keys: one's own only, and each key is seen once."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from billing import keys
from billing.accounts import account_of
from billing.models import ApiKey, Scope, User

PAGE = "/keys/"
TOKEN = re.compile(r"ink_(?:live|test)_[0-9A-Za-z]{38}")
MadeKey = Callable[..., keys.Issued]


@pytest.fixture
def browser(alice: User, client_of: Callable[[User], Client]) -> Client:
    return client_of(alice)


def make(browser: Client, **fields: object):
    return browser.post(PAGE, {"name": "laptop", "environment": "live", "scopes": ["checks:read"]} | fields)


def shown(answer) -> str:
    found = TOKEN.findall(answer.content.decode())
    assert len(found) == 1
    return found[0]


def test_it_asks_to_sign_in(db: None) -> None:
    answer = Client().get(PAGE)
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/keys/")


def test_it_shows_a_new_key_once(browser: Client, alice: User) -> None:
    answer = make(browser, environment="test", lifetime="30", scopes=["usage:read", "checks:read"])
    key = keys.verify(shown(answer), timezone.now())
    assert answer["Cache-Control"] == "no-store, private"
    assert (key.account, key.created_by, key.live) == (account_of(alice), alice, False)
    assert 29 <= (key.expires_at - timezone.now()).days <= 30
    again = browser.get(PAGE).content.decode()
    assert not TOKEN.search(again)
    assert key.hint in again


def test_it_offers_all_permissions_but_webhooks_at_first(browser: Client) -> None:
    page = browser.get(PAGE).content.decode()
    checked = re.findall(r'name="scopes" value="([^"]+)" checked', page)
    assert set(checked) == set(Scope.values) - {"webhooks:manage"}


@pytest.mark.parametrize(
    "fields", [{"name": ""}, {"name": " "}, {"scopes": []}, {"scopes": ["x"]}, {"environment": "x"}, {"lifetime": "9"}]
)
def test_it_explains_a_form_that_is_not_complete(browser: Client, fields: dict) -> None:
    answer = make(browser, **fields)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()
    assert not ApiKey.objects.exists()


def test_it_shows_a_name_as_text(browser: Client) -> None:
    page = make(browser, name="<script>alert(1)</script>").content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_it_renames(browser: Client, alice: User, key_of: MadeKey) -> None:
    key = key_of(alice).key
    browser.post(f"{PAGE}{key.pk}/rename", {"name": "server"})
    key.refresh_from_db()
    assert key.name == "server"
    assert "Give the key a name" in browser.post(f"{PAGE}{key.pk}/rename", {"name": " "}, follow=True).content.decode()


def test_it_rotates_and_shows_the_successor_once(browser: Client, alice: User, key_of: MadeKey) -> None:
    old = key_of(alice)
    assert browser.get(f"{PAGE}{old.key.pk}/rotate").status_code == 200
    new = shown(browser.post(f"{PAGE}{old.key.pk}/rotate", {"overlap": "0"}))
    assert keys.verify(new, timezone.now()).replaces == old.key
    with pytest.raises(keys.BadKey):
        keys.verify(old.token, timezone.now())
    again = browser.post(f"{PAGE}{old.key.pk}/rotate", {"overlap": "24"}, follow=True)
    assert "has ended or has a successor" in again.content.decode()


def test_it_asks_before_it_revokes(browser: Client, alice: User, key_of: MadeKey) -> None:
    key = key_of(alice).key
    address = f"{PAGE}{key.pk}/revoke"
    assert "Programs that use it" in browser.get(address).content.decode()
    assert key.is_good(timezone.now())
    page = browser.post(address, follow=True).content.decode()
    key.refresh_from_db()
    assert not key.is_good(timezone.now())
    assert "Revoked" in page
    assert address not in page


@pytest.mark.parametrize("what", ["rename", "rotate", "revoke"])
def test_a_stranger_finds_no_key(what: str, charlie: User, alice: User, client_of, key_of: MadeKey) -> None:
    issued = key_of(alice)
    form = {"name": "mine now", "overlap": "0"}
    assert client_of(charlie).post(f"{PAGE}{issued.key.pk}/{what}", form).status_code == 404
    assert keys.verify(issued.token, timezone.now()).name == "laptop"
    assert issued.key.hint not in client_of(charlie).get(PAGE).content.decode()


@pytest.mark.parametrize("what", ["", "{}/rename", "{}/rotate", "{}/revoke"])
def test_a_forged_form_changes_nothing(what: str, alice: User, key_of: MadeKey) -> None:
    key = key_of(alice).key
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    assert browser.post(PAGE + what.format(key.pk), {"name": "x"}).status_code == 403

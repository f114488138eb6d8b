"""Sign-up, e-mail addresses, and the first staff login."""

import re
from io import StringIO

import factories
import pytest
from django.core.management import call_command
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from billing.models import Account, Membership, User


def sign_up(client: Client, email: str) -> int:
    form = {"email": email, "password1": factories.PASSWORD}
    return client.post(reverse("account_signup"), form).status_code


def test_it_gives_a_new_person_an_account(client: Client, db) -> None:
    assert sign_up(client, "new@example.com") == 302
    user = User.objects.get(email="new@example.com")
    assert Account.objects.get().personal_of == user
    assert Membership.objects.get().user == user
    assert client.session["_auth_user_id"] == str(user.pk)


def test_it_lets_the_new_person_in_again_in_any_case(client: Client, db) -> None:
    sign_up(client, "new@example.com")
    client.logout()
    form = {"login": "NEW@example.com", "password": factories.PASSWORD}
    assert client.post(reverse("account_login"), form).status_code == 302
    assert client.session["_auth_user_id"] == str(User.objects.get().pk)


def test_it_makes_no_second_person_for_another_spelling(client: Client, alice: User) -> None:
    sign_up(client, "ALICE@Example.com")
    assert User.objects.count() == 1


def test_the_database_refuses_a_second_spelling(alice: User) -> None:
    with pytest.raises(IntegrityError):
        User.objects.create_user("Alice@example.com", factories.PASSWORD)


def test_it_wants_an_address(db) -> None:
    with pytest.raises(ValueError, match="needs an e-mail"):
        User.objects.create_user("")


def ensure_staff() -> str:
    said = StringIO()
    call_command("ensure_staff", stdout=said)
    return said.getvalue()


def test_it_prints_the_staff_login_once(client: Client, db) -> None:
    printed = ensure_staff()
    email, password = re.search(r"(\S+@\S+)\s+password: (\S+)", printed).groups()
    assert client.login(email=email, password=password)
    assert client.get("/staff/").status_code == 200
    assert ensure_staff() == ""
    assert User.objects.count() == 1


def test_it_makes_no_staff_login_beside_an_existing_one(db) -> None:
    factories.person("root", is_staff=True)
    assert ensure_staff() == ""

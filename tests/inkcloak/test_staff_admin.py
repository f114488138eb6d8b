"""The admin: whose door it is, what each of its pages may run, and that every list and form of it opens."""

from collections.abc import Callable

import factories
import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from unfold.admin import ModelAdmin

from billing.models import User

pytestmark = pytest.mark.django_db
LOOSE = ("'unsafe-eval'", "'unsafe-inline'")


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(factories.person("sam", is_staff=True, is_superuser=True))
    return client


@pytest.mark.parametrize("model", list(admin.site._registry), ids=lambda model: model.__name__)
def test_it_opens_every_list_and_form(staff: Client, model: type) -> None:
    shown = admin.site._registry[model]
    assert isinstance(shown, ModelAdmin), "plain Django's classes look foreign there"
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"  # type: ignore[attr-defined]
    assert staff.get(reverse(f"{name}_changelist")).status_code == 200
    assert staff.get(reverse(f"{name}_add")).status_code in (200, 403)


def test_it_opens_a_person_and_an_account(staff: Client, alice: User) -> None:
    for page in (
        reverse("admin:billing_user_change", args=[alice.pk]),
        reverse("admin:billing_account_change", args=[alice.personal_account.pk]),
        reverse("admin:index"),
        reverse("admin:search") + "?s=budget",
    ):
        assert staff.get(page).status_code == 200


def test_its_scripts_may_do_what_no_other_page_may(staff: Client) -> None:
    loose = staff.get(reverse("admin:index"))["Content-Security-Policy"]
    assert all(word in loose for word in LOOSE)
    assert "script-src 'self' 'unsafe-eval'" in loose, "scripts in the page itself stay refused"
    for page in ("/", "/staff/gpu/", "/accounts/login/"):
        strict = staff.get(page)["Content-Security-Policy"]
        assert not any(word in strict for word in LOOSE), page


def test_a_visitor_comes_to_the_products_own_login() -> None:
    answer = Client().get("/staff/", follow=True)
    assert answer.redirect_chain[-1][0].startswith(reverse("account_login") + "?next=%2Fstaff%2F")
    assert "'unsafe-eval'" not in answer["Content-Security-Policy"]


def test_it_is_shut_to_whoever_is_no_staff(client_of: Callable[[User], Client], alice: User) -> None:
    assert client_of(alice).get("/staff/", follow=True).status_code == 403


def test_a_second_factor_is_asked_for_where_one_is_enrolled() -> None:
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    sam = factories.person("sam", is_staff=True)
    TOTP.activate(sam, generate_totp_secret())
    client = Client()
    entered = {"login": sam.email, "password": factories.PASSWORD}
    asked = client.post(f"{reverse('account_login')}?next=/staff/", entered)
    assert asked["Location"].startswith(reverse("mfa_authenticate"))
    assert client.get("/staff/").status_code == 302, "the password alone opens nothing"


def test_password_and_sign_out_are_the_products_own(staff: Client) -> None:
    assert staff.get(reverse("admin:password_change"))["Location"] == reverse("account_change_password")
    assert staff.post(reverse("admin:logout"))["Location"] == reverse("account_logout")

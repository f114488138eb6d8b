"""What all pages share: content policy, languages, colours, errors in plain words, the accounts' pages."""

import re
from collections.abc import Callable

import factories
import page_reading as pages
import pytest
import samples
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import mail
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone, translation

from billing.models import User
from detector.views import errors
from gpujobs.models import ModelVersion
from inkcloak.errors import Exhausted, Forbidden, Invalid, Unavailable
from inkcloak.middleware import ClearErrorsMiddleware, error_page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

OPEN = [
    "/",
    "/how-it-works/",
    "/privacy/",
    "/history/",
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/password/reset/",
    "/accounts/password/reset/done/",
    "/accounts/password/reset/key/1-wrong/",
    "/accounts/confirm-email/",
    "/accounts/inactive/",
]
SIGNED_IN = [
    "/accounts/email/",
    "/accounts/password/change/",
    "/accounts/logout/",
    "/accounts/2fa/",
    "/accounts/2fa/totp/activate/",
    "/accounts/reauthenticate/",
]
PASSWORD = "a-harbour-with-9-boats"


def assert_sound(page: HttpResponse, language: str) -> None:
    assert page.status_code == 200
    assert pages.broken_rules(page) == []
    assert pages.elements(page, "html")[0].attributes["lang"] == language
    policy = page["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("address", OPEN)
def test_every_open_page_keeps_the_rules_in_both_languages(client: Client, address: str, language: str) -> None:
    assert_sound(client.get(address, headers={"accept-language": language}, follow=True), language)


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("address", SIGNED_IN)
def test_every_page_of_an_account_keeps_the_rules_in_both_languages(
    client: Client, alice: User, address: str, language: str
) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True, primary=True)
    client.post("/accounts/login/", {"login": alice.email, "password": factories.PASSWORD})
    assert_sound(client.get(address, headers={"accept-language": language}, follow=True), language)


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_result_page_keeps_the_rules(client_of: Callable[[User], Client], alice: User, language: str) -> None:
    submission = factories.checked(factories.owner(alice), samples.MIXED, now=timezone.now())
    page = client_of(alice).get(f"/checks/{submission.pk}/", headers={"accept-language": language})
    assert_sound(page, language)


# --- Languages and colours ----------------------------------------------------------------------------------


def test_the_switch_keeps_the_page_and_is_remembered(client: Client) -> None:
    page = client.get("/history/", {"q": "boats"})
    following = pages.form_fields(page, "/i18n/setlang/")["next"]
    assert following == "/history/?q=boats"
    answer = client.post("/i18n/setlang/", {"language": "es", "next": following}, follow=True)
    assert answer.redirect_chain == [(following, 302)]
    assert "Historial" in pages.title(client.get("/history/"))


def test_a_language_that_we_do_not_speak_gets_english(client: Client) -> None:
    page = client.get("/", headers={"accept-language": "fr"})
    assert pages.elements(page, "html")[0].attributes["lang"] == "en"


@pytest.mark.parametrize(("chosen", "kept"), [("dark", "dark"), ("light", "light"), ("auto", "auto"), ("x", "auto")])
def test_colours_are_remembered_and_painted_by_the_server(client: Client, chosen: str, kept: str) -> None:
    answer = client.post("/theme", {"theme": chosen, "next": "/privacy/"})
    assert answer["Location"] == "/privacy/"
    assert pages.elements(client.get("/"), "html")[0].attributes["data-theme"] == kept


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_the_colour_switch_leads_nowhere_else(client: Client, elsewhere: str) -> None:
    assert client.post("/theme", {"theme": "dark", "next": elsewhere})["Location"] == "/"


# --- Pages about the product --------------------------------------------------------------------------------


def test_how_it_works_has_the_figures_of_the_model_in_service_and_no_others(
    client: Client, champion: ModelVersion
) -> None:
    page = client.get("/how-it-works/")
    assert "inkcloak-test (test-version-1)" in pages.words(page)
    cells = [" ".join(e.text.split()) for e in pages.elements(page, "td", class_="num")]
    assert cells[:6] == ["900", "8", "0.4% – 1.7%", "300", "2", "0.2% – 2.4%"]
    champion.aliases.all().delete()
    bare = client.get("/how-it-works/")
    assert "there are no figures to show" in pages.words(bare)
    assert not pages.elements(bare, "table")


def test_privacy_states_the_settings(client: Client) -> None:
    words = pages.words(client.get("/privacy/"))
    assert f"for {settings.VISITOR_RETENTION_DAYS} day, visible only" in words
    assert f"for {settings.ACCOUNT_RETENTION_DAYS} days or until you delete them" in words


# --- Errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status", "headline"),
    [
        (Invalid("x", "It has no words."), 400, "That didn't work"),
        (Forbidden("x", "Not yours."), 403, "That didn't work"),
        (Exhausted("visitor_checks_used", "All used.", retry_after=26_000), 429, "That's all for now"),
        (Unavailable("restarting", "Restarting.", retry_after=5), 503, "One moment, please"),
    ],
)
def test_an_error_is_a_page_with_its_message(error: Invalid, status: int, headline: str) -> None:
    page = error_page(RequestFactory().get("/"), error)
    assert page.status_code == status
    assert headline in pages.words(page)
    assert str(error.message) in pages.words(page)
    assert pages.broken_rules(page) == []


def test_a_wait_is_said_in_human_words_and_as_a_moment() -> None:
    page = error_page(RequestFactory().get("/"), Exhausted("x", "All used.", retry_after=26_000))
    assert "Try again in 7 hours 14 minutes" in pages.words(page)
    assert "data-local" in pages.elements(page, "time")[0].attributes
    with translation.override("es"):
        page = error_page(RequestFactory().get("/"), Exhausted("x", "Agotado.", retry_after=26_000))
    assert "dentro de 7 horas 14 minutos" in pages.words(page)


def test_a_database_that_is_away_costs_nobody_their_text() -> None:
    """The page asks nothing of the database, and sends the same form again."""
    request = RequestFactory().post("/check", {"text": "<kept> & words", "nonce": "n-1", "max_fpr": "0.05"})
    page = ClearErrorsMiddleware(lambda _: HttpResponse()).process_exception(request, OperationalError("gone"))
    assert page is not None
    assert page.status_code == 503
    assert pages.box(page) == "<kept> & words"
    assert pages.form_fields(page, "/check").items() >= {"nonce": "n-1", "max_fpr": "0.05"}.items()


@pytest.mark.parametrize(
    ("view", "status", "words"),
    [
        (errors.bad_request, 400, "We could not read that request"),
        (errors.forbidden, 403, "That isn't open to you"),
        (errors.not_found, 404, "Nothing here"),
    ],
)
def test_djangos_own_errors_are_pages_of_ours(view: Callable[..., HttpResponse], status: int, words: str) -> None:
    page = view(RequestFactory().get("/"), Exception())
    assert page.status_code == status
    assert words in pages.words(page)
    assert pages.broken_rules(page) == []


def test_a_defect_of_ours_is_a_page_of_ours_too() -> None:
    page = errors.server_error(RequestFactory().get("/"))
    assert page.status_code == 500
    assert "Something broke on our side" in pages.words(page)


def test_an_unknown_address_says_both_possibilities(client: Client) -> None:
    page = client.get("/checks/none-of-ours/", headers={"accept-language": "es"})
    assert page.status_code == 404
    assert "o se ha borrado, o es de otra persona" in pages.words(page)


# --- Accounts -----------------------------------------------------------------------------------------------


def sign_up(client: Client, email: str = "dana@example.com", language: str = "en") -> HttpResponse:
    fields = {"email": email, "password1": PASSWORD}
    return client.post("/accounts/signup/", fields, headers={"accept-language": language}, follow=True)


def test_signing_up_signs_in(client: Client) -> None:
    assert "Account" in pages.words(sign_up(client))
    assert User.objects.get().email == "dana@example.com"


@pytest.mark.parametrize(("language", "greeting"), [("en", "Hello from InkCloak,"), ("es", "Hola desde InkCloak:")])
def test_mails_speak_the_language_of_the_page(client: Client, language: str, greeting: str) -> None:
    sign_up(client, language=language)
    client.post("/accounts/logout/")
    fields = {"email": "dana@example.com"}
    client.post("/accounts/password/reset/", fields, headers={"accept-language": language})
    assert [message.body.strip().startswith(greeting) for message in mail.outbox] == [True] * len(mail.outbox)
    assert len(mail.outbox) >= 1


def test_a_forgotten_password_is_replaced_through_the_mail(client: Client, alice: User) -> None:
    client.post("/accounts/password/reset/", {"email": alice.email})
    link = re.search(r"https?://\S+/accounts/password/reset/key/\S+", mail.outbox[-1].body)
    assert link
    form = client.get(link[0], follow=True)
    assert_sound(form, "en")
    fields = {"password1": PASSWORD, "password2": PASSWORD}
    done = client.post(form.redirect_chain[-1][0], fields, follow=True)
    assert_sound(done, "en")
    assert client.login(email=alice.email, password=PASSWORD)


def test_a_wrong_password_is_told_at_the_form(client: Client, alice: User) -> None:
    page = client.post("/accounts/login/", {"login": alice.email, "password": "wrong"})
    assert pages.elements(page, "div", role="alert")[0].text.strip()
    assert pages.broken_rules(page) == []

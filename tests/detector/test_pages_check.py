"""POST /check: what is sent, whatever it is, leads to a check or to a clear message at the box."""

import uuid
from collections.abc import Callable
from typing import Any

import factories
import page_reading as pages
import pytest
import samples
from asgiref.sync import async_to_sync
from django.conf import settings as product
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import AsyncClient, Client
from django.utils import timezone
from pytest_django import Settings

from billing import quota
from billing.accounts import Owner, allowance_of, keyed_address
from billing.models import Meter, User
from detector import intake
from detector.models import Submission, Verdict
from detector.views import check as check_view
from gpujobs.models import ModelVersion

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

LIMIT = intake.MAX_CHARACTERS


@pytest.fixture(autouse=True)
def _no_waiting_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker runs here, so the wait for an early verdict would only cost time."""
    monkeypatch.setattr(check_view, "FIRST_WAIT_SECONDS", 0.0)


def post(client: Client, text: Any = samples.HUMAN, **fields: Any) -> HttpResponse:
    return client.post("/check", {"text": text, "nonce": str(uuid.uuid4())} | fields)


def only() -> Submission:
    return Submission.objects.get()


def test_it_leads_to_the_page_of_the_check(client: Client) -> None:
    answer = post(client)
    assert answer.status_code == 303
    assert answer["Location"] == f"/checks/{only().pk}/"
    assert only().text == samples.HUMAN


def test_it_belongs_to_the_account_that_is_signed_in(client_of: Callable[[User], Client], alice: User) -> None:
    post(client_of(alice))
    assert (only().account, only().visitor, only().user) == (factories.owner(alice).account, None, alice)


def test_the_same_form_twice_is_one_check(client: Client) -> None:
    nonce = str(uuid.uuid4())
    first, second = (post(client, nonce=nonce)["Location"] for _ in range(2))
    assert first == second
    assert Submission.objects.count() == 1
    assert Meter.objects.get().held == 1


def test_a_double_click_of_a_first_visit_is_one_check() -> None:
    """Two posts at once, neither of which knows the session that the other is given."""
    nonce = str(uuid.uuid4())
    browsers = [Client(), Client()]
    places = [post(browser, nonce=nonce)["Location"] for browser in browsers]
    assert places[0] == places[1]
    assert [browser.get(places[0]).status_code for browser in browsers] == [200, 200]
    assert Submission.objects.count() == 1


def test_another_visitor_with_another_form_sees_nothing_of_it() -> None:
    place = post(Client())["Location"]
    stranger = Client()
    post(stranger)
    assert stranger.get(place).status_code == 404


def test_it_takes_the_limit_that_was_chosen(client: Client) -> None:
    post(client, max_fpr="0.05")
    assert only().max_fpr == "0.05"


def test_line_ends_of_a_text_box_are_those_that_were_pasted(client: Client) -> None:
    post(client, samples.HUMAN + "\r\n\r\n" + samples.AI)
    assert only().text == samples.HUMAN + "\n\n" + samples.AI


@pytest.mark.parametrize("text", ["", "   ", "\r\n\t\r\n", "\u00a0"])
def test_nothing_is_refused_at_the_box(client: Client, text: str) -> None:
    page = post(client, text)
    assert page.status_code == 400
    assert "There is no text to check" in pages.elements(page, id="text-error")[0].text
    assert pages.elements(page, "textarea", name="text")[0].attributes["aria-invalid"] == "true"
    assert_nothing_happened()


def test_too_much_is_refused_with_the_limit_and_what_fits_is_kept(client: Client) -> None:
    text = samples.long_text(LIMIT + 500)[: LIMIT + 1]
    page = post(client, text)
    assert page.status_code == 400
    assert f"{len(text)} characters; the limit is {LIMIT}" in pages.words(page)
    assert "holds the first 100,000 characters" in pages.words(page)
    assert pages.box(page) == text[:LIMIT]
    assert_nothing_happened()


def test_five_megabytes_are_refused_and_not_an_error(client: Client) -> None:
    page = post(client, "\U0001f600" * 1_250_000)
    assert page.status_code == 400
    assert "the limit is" in pages.words(page)
    assert_nothing_happened()


def test_a_refused_form_keeps_the_text_the_limit_and_its_number(client: Client) -> None:
    use_up(client)
    nonce = str(uuid.uuid4())
    page = post(client, "<b>mine</b> & " + samples.HUMAN, nonce=nonce, max_fpr="0.05")
    assert pages.box(page) == "<b>mine</b> & " + samples.HUMAN
    assert pages.form_fields(page, "/check")["nonce"] == nonce
    chosen = [e for e in pages.elements(page, "input", name="max_fpr") if "checked" in e.attributes]
    assert [e.attributes["value"] for e in chosen] == ["0.05"]
    assert pages.broken_rules(page) == []


def test_a_visitor_without_checks_left_is_told_when_the_next_is_free(client: Client) -> None:
    use_up(client)
    page = post(client)
    assert page.status_code == 429
    assert 0 < int(page["Retry-After"]) <= 86_400
    message = pages.elements(page, id="text-error")[0].text
    assert "Free again in" in message
    assert "UTC" in message
    assert "Create a free account" in message
    assert Submission.objects.count() == 0


def test_the_message_comes_in_the_language_of_the_page(client: Client) -> None:
    page = client.post("/check", {"text": " "}, headers={"accept-language": "es"})
    assert "No hay ningún texto que comprobar" in pages.words(page)
    assert pages.elements(page, "html")[0].attributes["lang"] == "es"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (samples.SHORT, Verdict.Reason.TOO_SHORT),
        (samples.CODE, Verdict.Reason.NO_PROSE),
        (samples.EMOJI, Verdict.Reason.NO_PROSE),
        (samples.ENDLESS_WORD, Verdict.Reason.TOO_SHORT),
        (samples.ARABIC, Verdict.Reason.UNSUPPORTED_LANGUAGE),
        (samples.GERMAN, Verdict.Reason.UNSUPPORTED_LANGUAGE),
    ],
)
def test_too_little_evidence_is_a_page_that_says_why_and_costs_nothing(client: Client, text: str, reason: str) -> None:
    page = client.get(post(client, text)["Location"])
    assert only().verdict.reason == reason
    assert "Not enough to judge" in pages.title(page)
    assert "No verdict, no charge." in pages.words(page)
    assert not Meter.objects.exists()


@pytest.mark.parametrize(
    "odd", ["\x00", "\x07", "\u202e", "\ufffe", "\ud7ff", "e" + "\u0301" * 300, "\U0001f469\u200d\U0001f52c"]
)
def test_odd_characters_are_taken_as_they_are(client: Client, odd: str) -> None:
    answer = post(client, f"{samples.HUMAN} {odd} {samples.AI}")
    assert answer.status_code == 303
    assert client.get(answer["Location"]).status_code == 200
    assert only().characters == len(f"{samples.HUMAN} {odd} {samples.AI}")


def test_lone_surrogates_and_broken_bytes_of_a_form_are_no_error(client: Client) -> None:
    body = b"text=" + b"words+" * 60 + b"%ED%A0%80+%FF%FE"
    answer = client.post("/check", body, content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 303
    assert client.get(answer["Location"]).status_code == 200


@pytest.mark.parametrize("fields", [{"nonce": "no number"}, {"nonce": ""}, {"nonce": "\x00"}])
def test_a_mangled_number_is_no_reason_to_refuse(client: Client, fields: dict[str, str]) -> None:
    assert post(client, **fields).status_code == 303


def test_an_unknown_limit_is_refused_by_name(client: Client) -> None:
    page = post(client, max_fpr="0.5")
    assert page.status_code == 400
    assert "false-positive limit must be one of" in pages.words(page)
    assert not Submission.objects.exists()
    assert not Meter.objects.exists()


def test_its_address_leads_to_the_form(client: Client) -> None:
    assert client.get("/check")["Location"] == "/"


def test_a_forged_form_is_refused_in_plain_words(settings: Settings) -> None:
    page = Client(enforce_csrf_checks=True).post("/check", {"text": samples.HUMAN})
    assert page.status_code == 403
    assert "Please send that again" in pages.words(page)
    assert_nothing_happened()


def test_too_many_posts_in_a_minute_are_told_to_wait(client: Client, settings: Settings) -> None:
    settings.POSTS_PER_MINUTE = 1
    post(client)
    page = post(client)
    assert page.status_code == 429
    assert 1 <= int(page["Retry-After"]) <= 60
    assert pages.box(page) == samples.HUMAN


def test_without_a_model_the_text_can_be_sent_again(client: Client, champion: ModelVersion) -> None:
    champion.aliases.all().delete()
    page = post(client)
    assert page.status_code == 503
    assert pages.box(page) == samples.HUMAN
    assert pages.form_fields(page, "/check")["nonce"]
    assert_nothing_happened()


def test_it_works_asynchronously_as_the_server_runs_it() -> None:
    answer = async_to_sync(AsyncClient().post)("/check", {"text": samples.SHORT})
    assert answer.status_code == 303


# --- Files ------------------------------------------------------------------------------------------------


def upload(client: Client, data: bytes, text: str = "") -> HttpResponse:
    return post(client, text, file=SimpleUploadedFile("essay.txt", data, "text/plain"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_without_scripts(client: Client, encoding: str) -> None:
    upload(client, (samples.SPANISH + "\r\n").encode(encoding))
    assert only().text == samples.SPANISH + "\n"


def test_a_file_goes_before_the_box(client: Client) -> None:
    upload(client, samples.AI.encode(), text=samples.HUMAN)
    assert only().text == samples.AI


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "This is a file of type PNG"),
        (b"", "There is no text in this file"),
        (b"x" * (LIMIT + 1), f"more than {LIMIT} characters"),
        (b"x" * (11 * 1024 * 1024), "larger than 10 MB"),
        (b"x" * (34 * 1024 * 1024), "All files together may have up to 32 MB"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_name(client: Client, data: bytes, message: str) -> None:
    page = upload(client, data)
    assert page.status_code == 400
    assert message in pages.words(page)
    assert_nothing_happened()


# --- Helpers ----------------------------------------------------------------------------------------------


def assert_nothing_happened() -> None:
    """Nothing stored, not even a session; nothing charged."""
    assert not Submission.objects.exists()
    assert not Meter.objects.exists()
    assert not Session.objects.exists()


def use_up(client: Client) -> None:
    """All of today's free checks of this client's address."""
    address = keyed_address(client.get("/").wsgi_request)
    visitor = Owner(visitor=uuid.uuid4(), address_key=address)
    now = timezone.now()
    quota.reserve(allowance=allowance_of(visitor, now), amount=product.VISITOR_CHECKS_PER_DAY, now=now)

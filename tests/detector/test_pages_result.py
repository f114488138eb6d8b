"""The page of one check: the wait, the verdict in careful words, its text, deleting and re-checking."""

import uuid
from collections.abc import Callable
from typing import Any

import factories
import page_reading as pages
import pytest
import samples
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from billing.models import User
from detector import history, intake, retention
from detector.models import Submission, Verdict
from detector.views import check as check_view
from detector.views import result as result_view
from gpujobs.models import ModelVersion
from gpujobs.pod.shared.normalise import NORMALISER_VERSION

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

ACCUSING = ("human-written", "used ai", "was written by ai", "cheat", "plagiar", "100% human", "guilty")


@pytest.fixture(autouse=True)
def _no_waiting_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_view, "FIRST_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(result_view, "LONG_POLL_SECONDS", 0.0)


@pytest.fixture
def browser(client_of: Callable[[User], Client], alice: User) -> Client:
    return client_of(alice)


def checked(by: User, text: str = samples.AI, *, probability: float = 0.99, **changes: Any) -> Submission:
    """A finished check; `changes` go into its verdict."""
    submission = factories.checked(factories.owner(by), text, probability=probability, now=timezone.now())
    Verdict.objects.filter(pk=submission.pk).update(**changes)
    submission.verdict.refresh_from_db()
    return submission


def show(browser: Client, submission: Submission, language: str = "en") -> HttpResponse:
    return browser.get(f"/checks/{submission.pk}/", headers={"accept-language": language})


def shown_text(page: HttpResponse) -> str:
    """The document without the words that only screen readers get."""
    document = pages.elements(page, "div", class_="document")[0].text
    for hidden in pages.elements(page, "span", class_="vh"):
        document = document.replace(hidden.text, "", 1)
    return document


# --- The wait ---------------------------------------------------------------------------------------------


def test_it_shows_honest_progress_while_it_waits(browser: Client, alice: User) -> None:
    page = show(browser, factories.accepted(factories.owner(alice), now=timezone.now()))
    assert "Checking your text" in pages.title(page)
    assert "It waits for a free place." in pages.words(page)
    assert pages.broken_rules(page) == []


def test_it_asks_again_by_itself_without_scripts(browser: Client, alice: User) -> None:
    waiting = show(browser, factories.accepted(factories.owner(alice)))
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in pages.html(waiting)
    done = show(browser, checked(alice))
    assert "http-equiv" not in pages.html(done)
    assert "htmx" not in pages.html(done)


def test_its_fragment_goes_on_waiting_until_there_is_a_verdict(browser: Client, alice: User) -> None:
    submission = factories.accepted(factories.owner(alice), now=timezone.now())
    address = f"/checks/{submission.pk}/status"
    waiting = browser.get(address, headers={"HX-Request": "true"})
    assert f'hx-get="{address}"' in pages.html(waiting)
    factories.dispatch.next_batch(now=timezone.now(), backend=factories.ScriptedBackend(0.99))
    done = browser.get(address, headers={"HX-Request": "true"})
    assert "hx-get" not in pages.html(done)
    assert pages.elements(done, "section", class_="verdict")[0].attributes["data-verdict"] == "ai"
    assert '<p id="announce" hx-swap-oob="innerHTML">' in pages.html(done)


def test_its_fragment_asks_for_a_new_page_when_the_check_is_gone(browser: Client, alice: User) -> None:
    submission = factories.accepted(factories.owner(alice))
    retention.delete(submission)
    answer = browser.get(f"/checks/{submission.pk}/status", headers={"HX-Request": "true"})
    assert answer["HX-Refresh"] == "true"


def test_its_fragment_alone_leads_to_the_page(browser: Client, alice: User) -> None:
    submission = checked(alice)
    assert browser.get(f"/checks/{submission.pk}/status")["Location"] == f"/checks/{submission.pk}/"


# --- The verdict -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "headline", "spanish"),
    [
        ({"label": "ai", "confidence": "high"}, "Likely AI-written", "Probablemente escrito por IA"),
        ({"label": "mixed", "confidence": "medium"}, "Parts are likely AI-written", "Hay partes probablemente"),
        ({"label": "human", "confidence": "high"}, "No sign of AI writing found", "No se han hallado indicios de IA"),
        ({"label": "human", "confidence": "low"}, "No clear sign of AI writing", "Sin indicios claros de IA"),
    ],
)
def test_it_says_the_verdict_in_careful_words(
    browser: Client, alice: User, changes: dict[str, str], headline: str, spanish: str
) -> None:
    submission = checked(alice, **changes)
    page = show(browser, submission)
    assert pages.elements(page, "h1")[0].text == headline
    assert pages.title(page) == f"{headline} · InkCloak"
    assert f"confidence: {changes['confidence']}" in pages.words(page)
    assert not [word for word in ACCUSING if word in pages.words(page).lower()]
    assert "must not be the only basis for acting against somebody" in pages.words(page)
    assert pages.elements(show(browser, submission, "es"), "h1")[0].text.startswith(spanish)


def test_it_tells_the_two_numbers_apart(browser: Client, alice: User) -> None:
    submission = checked(alice, label="mixed", confidence="low", probability=0.73125, ai_fraction=0.4)
    numbers = {
        "Probability that the text is AI": "73%",
        "Share of the text marked AI": "40%",
    }
    words = pages.words(show(browser, submission))
    assert [f"{name} {value}" in words for name, value in numbers.items()] == [True, True]
    assert "0.7312 · 0.4000" in words
    assert "0,7312 · 0,4000" in pages.words(show(browser, submission, "es"))


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0%"), (0.0004, "<1%"), (0.5, "50%"), (0.9996, ">99%"), (1.0, "100%")]
)
def test_it_never_rounds_to_a_certainty(browser: Client, alice: User, value: float, shown: str) -> None:
    submission = checked(alice, probability=0.5, ai_fraction=value)
    assert f"Share of the text marked AI {shown} How much" in pages.words(show(browser, submission))


def test_it_shows_the_rate_card(browser: Client, alice: User) -> None:
    words = pages.words(show(browser, checked(alice)))
    assert "Of 300 texts by people like this one (English, 100 to 199 words), 2 were flagged by mistake" in words
    assert "lies between 0.2% and 2.4%" in words


def test_it_does_without_a_rate_card(browser: Client, alice: User) -> None:
    page = show(browser, checked(alice, rate_card=None))
    assert "flagged by mistake" not in pages.words(page)


def test_it_names_every_version_and_the_tier(browser: Client, alice: User, champion: ModelVersion) -> None:
    words = pages.words(show(browser, checked(alice)))
    for part in ("inkcloak-test test-version-1", "Calibration 1", f"Text rules {NORMALISER_VERSION}", "Runs on CPU"):
        assert part in words
    assert "Limit for false flags 1%" in words


# --- The text ----------------------------------------------------------------------------------------------


def test_it_shows_every_character_of_the_text_once_and_escaped(browser: Client, alice: User) -> None:
    text = "<script>alert('x')</script> & \u202e " + samples.MIXED
    page = show(browser, checked(alice, text))
    assert shown_text(page) == text
    assert "<script>alert" not in pages.html(page)


def test_its_marked_passages_are_reached_by_keyboard_and_read_with_their_number(browser: Client, alice: User) -> None:
    submission = checked(alice)
    page = show(browser, submission)
    passages = pages.elements(page, "span", class_="run")
    assert len(passages) == len(submission.verdict.segments)
    assert all(p.attributes["tabindex"] == "0" for p in passages)
    assert passages[0].text.startswith("Passage 1, marked AI, 99%: ")
    assert passages[0].attributes["data-score"] == "99%"


def test_it_names_what_was_left_out_and_what_was_cleaned(browser: Client, alice: User) -> None:
    page = show(browser, checked(alice, samples.MIXED))
    left_out = pages.elements(page, "span", class_="left_out")
    assert {e.attributes["data-name"] for e in left_out if "data-name" in e.attributes} == {"code"}
    assert "1 invisible character removed" in pages.words(page)
    assert "characters: code" in pages.words(page)
    assert "1 carácter invisible eliminado" in pages.words(show(browser, Submission.objects.get(), "es"))


def test_its_text_is_written_in_the_direction_and_language_of_the_text(browser: Client, alice: User) -> None:
    submission = checked(alice, samples.SPANISH)
    document = pages.elements(show(browser, submission), "div", class_="document")[0]
    assert (document.attributes["dir"], document.attributes["lang"]) == ("auto", "es")


def test_it_shows_the_longest_text_whole(browser: Client, alice: User, settings: Settings) -> None:
    settings.FREE_WORDS_PER_MONTH = 100_000
    text = samples.long_text(intake.MAX_CHARACTERS)
    assert shown_text(show(browser, checked(alice, text))) == text


def test_it_says_why_there_is_no_verdict(browser: Client, alice: User) -> None:
    submission = factories.accepted(factories.owner(alice), samples.SHORT)
    words = pages.words(show(browser, submission))
    assert "At least 50 words of prose are needed; this has 11." in words
    assert "Probability that the text is AI" not in words


def test_it_says_that_a_failed_check_cost_nothing(browser: Client, alice: User) -> None:
    submission = factories.accepted(factories.owner(alice))
    Submission.objects.filter(pk=submission.pk).update(status="failed", failure_code="deadline")
    page = show(browser, submission)
    assert "The check could not be finished" in pages.title(page)
    assert "Nothing was charged." in pages.words(page)
    assert pages.form_fields(page, f"/checks/{submission.pk}/recheck")["nonce"]


def test_it_is_not_kept_by_browser_or_search_engine(browser: Client, alice: User) -> None:
    page = show(browser, checked(alice))
    assert page["Cache-Control"] == "no-store, private"
    assert pages.elements(page, "meta", name="robots")[0].attributes["content"] == "noindex"


# --- Whose it is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["", "status", "delete"])
def test_a_stranger_finds_nothing_there(
    client_of: Callable[[User], Client], alice: User, charlie: User, part: str
) -> None:
    submission = checked(alice)
    header = {"HX-Request": "true"} if part == "status" else {}
    for stranger in (client_of(charlie), Client()):
        page = stranger.get(f"/checks/{submission.pk}/{part}", headers=header)
        assert samples.AI[:40] not in pages.html(page)
        assert page.status_code == 404 or page["HX-Refresh"] == "true"


@pytest.mark.parametrize("verb", ["delete", "recheck"])
def test_a_stranger_changes_nothing(client_of: Callable[[User], Client], alice: User, charlie: User, verb: str) -> None:
    submission = checked(alice)
    assert client_of(charlie).post(f"/checks/{submission.pk}/{verb}").status_code == 404
    assert Submission.objects.get() == submission


def test_a_deleted_and_a_strangers_check_are_told_alike(
    client_of: Callable[[User], Client], alice: User, charlie: User
) -> None:
    theirs = client_of(charlie).get(f"/checks/{checked(alice).pk}/")
    gone = client_of(charlie).get(f"/checks/{uuid.uuid4()}/")
    assert (theirs.status_code, gone.status_code) == (404, 404)
    assert pages.words(theirs) == pages.words(gone)
    assert "either it has been deleted, or it belongs to somebody else" in pages.words(gone)


# --- Deleting and re-checking -------------------------------------------------------------------------------


def test_it_asks_before_it_deletes(browser: Client, alice: User) -> None:
    submission = checked(alice)
    page = browser.get(f"/checks/{submission.pk}/delete")
    assert history.title(submission) in pages.words(page)
    assert "can't be undone" in pages.words(page)
    assert Submission.objects.exists()


def test_it_deletes_for_good_and_says_so(browser: Client, alice: User) -> None:
    submission = checked(alice)
    answer = browser.post(f"/checks/{submission.pk}/delete", follow=True)
    assert "Deleted. The text and its verdict are gone." in pages.words(answer)
    assert not Submission.objects.exists()
    assert show(browser, submission).status_code == 404
    assert browser.post(f"/checks/{submission.pk}/delete").status_code == 404


def test_it_checks_the_same_text_again_once_a_form(browser: Client, alice: User) -> None:
    before = checked(alice)
    form = pages.form_fields(show(browser, before), f"/checks/{before.pk}/recheck")
    places = {browser.post(f"/checks/{before.pk}/recheck", form)["Location"] for _ in range(2)}
    again = Submission.objects.exclude(pk=before.pk).get()
    assert places == {f"/checks/{again.pk}/"}
    assert (again.text, again.recheck_of) == (before.text, before)


def test_a_recheck_only_goes_by_post(browser: Client, alice: User) -> None:
    assert browser.get(f"/checks/{checked(alice).pk}/recheck").status_code == 405

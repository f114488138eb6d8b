"""The list of one's checks: found by words and verdict, page by page, and nobody else's."""

from collections.abc import Callable
from datetime import timedelta

import factories
import page_reading as pages
import pytest
import samples
from django.test import Client
from django.utils import timezone

from billing.models import User
from detector import history
from detector.history import PAGE_ROWS

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


@pytest.fixture
def browser(client_of: Callable[[User], Client], alice: User) -> Client:
    return client_of(alice)


def titles(browser: Client, **query: str) -> list[str]:
    return [e.text[:20] for e in pages.elements(browser.get("/history/", query), "a", class_="row-title")]


def test_it_lists_checks_with_verdict_numbers_and_actions(browser: Client, alice: User) -> None:
    submission = factories.checked(factories.owner(alice), samples.AI, now=timezone.now())
    page = browser.get("/history/")
    assert pages.elements(page, "a", class_="row-title")[0].attributes["href"] == f"/checks/{submission.pk}/"
    assert "Likely AI probability 99%, marked 100%" in pages.words(page)
    assert pages.form_fields(page, f"/checks/{submission.pk}/recheck")["nonce"]
    assert pages.elements(page, "a", href=f"/checks/{submission.pk}/delete")
    assert pages.broken_rules(page) == []


def test_it_lists_what_is_under_way_and_what_has_no_verdict(browser: Client, alice: User) -> None:
    factories.accepted(factories.owner(alice))
    factories.accepted(factories.owner(alice), samples.SHORT)
    words = pages.words(browser.get("/history/"))
    assert "In progress" in words
    assert "Not enough to judge" in words


def test_it_calls_nothing_clear_that_is_near_a_limit(browser: Client, alice: User) -> None:
    factories.checked(factories.owner(alice), samples.AI, probability=0.6, now=timezone.now())
    assert "No clear sign probability 60%, marked 0%" in pages.words(browser.get("/history/"))


def test_it_finds_by_words_and_by_verdict(browser: Client, alice: User) -> None:
    owner = factories.owner(alice)
    factories.checked(owner, samples.AI, now=timezone.now())
    factories.accepted(owner, samples.SHORT)
    assert titles(browser, q="digital LANDSCAPE") == [samples.AI[:20]]
    assert titles(browser, label="insufficient") == [samples.SHORT[:20]]
    assert titles(browser, q="landscape", label="insufficient") == []


@pytest.mark.parametrize("query", [{"label": "nonsense"}, {"page": "x"}, {"page": "99"}, {"q": "\x00"}, {"q": "%_"}])
def test_nonsense_in_the_address_is_no_error(browser: Client, alice: User, query: dict[str, str]) -> None:
    factories.accepted(factories.owner(alice), samples.SHORT)
    assert browser.get("/history/", query).status_code == 200


def test_its_pages_keep_the_search(browser: Client, alice: User) -> None:
    owner, now = factories.owner(alice), timezone.now()
    for n in range(PAGE_ROWS + 1):
        factories.accepted(owner, samples.SHORT, now=now + timedelta(seconds=n))
    page = browser.get("/history/", {"q": "few words"})
    older = pages.elements(page, "a", rel="next")[0].attributes["href"]
    assert older == "?q=few+words&page=2"
    assert len(pages.elements(browser.get("/history/" + older), "a", class_="row-title")) == 1


def test_beyond_a_limit_it_says_more_than_and_still_pages(
    browser: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_ROWS", PAGE_ROWS + 1)
    for n in range(PAGE_ROWS + 2):
        factories.accepted(factories.owner(alice), samples.SHORT, now=timezone.now() + timedelta(seconds=n))
    first = browser.get("/history/")
    assert f"More than {PAGE_ROWS + 1} checks" in pages.words(first)
    assert len(pages.elements(browser.get("/history/?page=2"), "a", class_="row-title")) == 1
    assert "More than" not in pages.words(browser.get("/history/", {"q": "zebra"}))


def test_its_empty_states_say_what_to_do(browser: Client) -> None:
    assert "No checks yet" in pages.words(browser.get("/history/"))
    assert "Nothing matches" in pages.words(browser.get("/history/", {"q": "zebra"}))


def test_a_visitor_sees_this_visit_and_a_stranger_nothing(browser: Client) -> None:
    visitor = Client()
    visitor.post("/check", {"text": samples.SHORT})
    assert titles(visitor) == [samples.SHORT[:20]]
    assert titles(Client()) == []
    assert titles(browser) == []


def test_a_title_is_escaped(browser: Client, alice: User) -> None:
    factories.accepted(factories.owner(alice), "<img src=x onerror=alert(1)> few words")
    assert "<img" not in pages.html(browser.get("/history/"))

"""A verdict shown to others: what the public page says and hides, whom it tells nothing, and when it ends."""

from collections.abc import Callable
from datetime import timedelta

import factories
import page_reading as pages
import pytest
import samples
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from billing.models import User
from detector import retention, sharing, tasks
from detector.models import Share, Submission

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

GONE = ("expired", "revoked", "deleted", "unknown")


@pytest.fixture
def checked(alice: User) -> Submission:
    return factories.checked(factories.owner(alice), samples.MIXED, now=timezone.now())


def link(checked: Submission, **said: object) -> str:
    """The path of a new link."""
    share = sharing.create(checked, now=timezone.now(), **said)  # type: ignore[arg-type]
    return f"/s/{sharing.link_token(share)}/"


def get(path: str, language: str = "en") -> HttpResponse:
    """As a stranger without a cookie."""
    return Client().get(path, headers={"accept-language": language})


def test_it_shows_verdict_and_rate_card_and_keeps_the_text_back(checked: Submission) -> None:
    page = get(link(checked))
    seen = pages.words(page)
    assert page.status_code == 200
    assert "Likely AI-written" in pages.elements(page, "h1")[0].text
    assert "1 was flagged by mistake" in seen or "were flagged by mistake" in seen
    assert "Never act against somebody on a score alone" in seen
    assert "it can be wrong" in seen
    assert "It is not shown" in seen
    assert checked.text[:60] not in pages.html(page)
    assert not pages.elements(page, class_="run")


def test_it_shows_text_and_marks_where_the_owner_chose_so(checked: Submission) -> None:
    page = get(link(checked, with_text=True))
    shown = pages.elements(page, "div", class_="document")[0].text
    assert checked.text[:60] in shown
    assert pages.elements(page, "span", class_="run")


@pytest.mark.parametrize("with_text", [False, True])
@pytest.mark.parametrize("language", ["en", "es"])
def test_it_keeps_the_rules_of_every_page(checked: Submission, language: str, with_text: bool) -> None:
    page = get(link(checked, with_text=with_text), language)
    assert pages.broken_rules(page) == []
    assert pages.elements(page, "html")[0].attributes["lang"] == language


def test_it_has_nothing_of_the_owners(checked: Submission, alice: User) -> None:
    Submission.objects.filter(pk=checked.pk).update(file_name="salary-talks.docx", metadata={"pupil": "Vega"})
    content = pages.html(get(link(checked, with_text=True)))
    for hidden in (alice.email, "salary-talks", "Vega", str(checked.pk), "csrfmiddlewaretoken", "<form"):
        assert hidden not in content


def test_it_is_the_same_for_its_owner(checked: Submission, alice: User, client_of: Callable[[User], Client]) -> None:
    path = link(checked)
    assert client_of(alice).get(path).content == get(path).content


@pytest.mark.parametrize("known", [True, False])
def test_no_search_engine_cache_or_referrer_takes_it_elsewhere(checked: Submission, known: bool) -> None:
    page = get(link(checked) if known else "/s/nothing/")
    assert page["X-Robots-Tag"] == "noindex, nofollow, noarchive"
    assert page["Referrer-Policy"] == "no-referrer"
    assert page["Cache-Control"] == "private, no-store"
    assert "noindex" in pages.elements(page, "meta", name="robots")[0].attributes["content"]
    assert not page.cookies


def test_its_address_holds_too_much_to_be_guessed_and_none_of_it_lies_in_the_database(checked: Submission) -> None:
    tokens = {sharing.link_token(sharing.create(checked, now=timezone.now())) for _n in range(5)}
    assert len(tokens) == 5
    assert all(len(token or "") * 6 >= 128 for token in tokens)
    stored = str(list(Share.objects.values()))
    assert not any(str(token) in stored for token in tokens)


def test_an_ended_link_is_the_same_page_as_one_that_never_was(checked: Submission) -> None:
    now = timezone.now()
    paths = {name: link(checked) for name in GONE if name != "unknown"} | {"unknown": "/s/" + "A" * 32 + "/"}
    rows = dict(zip(list(paths)[:3], Share.objects.order_by("created_at"), strict=True))
    Share.objects.filter(pk=rows["expired"].pk).update(created_at=now - timedelta(days=2), expires_at=now)
    assert sharing.revoke(checked, rows["revoked"].pk)
    assert get(paths["deleted"]).status_code == 200
    retention.delete(checked)
    answers = {name: get(path) for name, path in paths.items()}
    assert {answer.status_code for answer in answers.values()} == {404}
    assert len({answer.content for answer in answers.values()}) == 1
    assert (
        len({tuple(sorted((k, v) for k, v in a.headers.items() if k != "X-Request-ID")) for a in answers.values()}) == 1
    )


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_page_of_an_ended_link_keeps_the_rules_too(language: str) -> None:
    page = get("/s/nothing/", language)
    assert (page.status_code, pages.broken_rules(page)) == (404, [])
    assert pages.elements(page, "html")[0].attributes["lang"] == language


@pytest.mark.parametrize("token", ["x", "A" * 5000, "%00", "%ED%A0%80", "%F0%9F%98%80", "..", "a b"])
def test_an_address_that_is_none_is_not_found(token: str) -> None:
    assert get(f"/s/{token}/").status_code == 404


def test_a_link_there_changes_the_language(checked: Submission) -> None:
    path = link(checked)
    assert [e.attributes["href"] for e in pages.elements(get(path), "a", hreflang="es")] == ["?lang=es"]
    spanish = get(f"{path}?lang=es")
    assert pages.elements(spanish, "html")[0].attributes["lang"] == "es"
    assert spanish["Content-Language"] == "es"
    assert pages.elements(get(f"{path}?lang=xx", "es"), "html")[0].attributes["lang"] == "es"


def test_a_text_that_is_gone_is_no_longer_shown(checked: Submission) -> None:
    path = link(checked, with_text=True)
    Submission.objects.filter(pk=checked.pk).update(text="")
    page = get(path)
    assert page.status_code == 200
    assert "It is not shown" in pages.words(page)


def test_a_link_lives_no_longer_than_its_check(checked: Submission, settings) -> None:
    settings.ACCOUNT_RETENTION_DAYS = 10
    share = sharing.create(checked, now=timezone.now(), days=90)
    assert share.expires_at == checked.accepted_at + timedelta(days=10)


def test_what_has_expired_is_forgotten(checked: Submission) -> None:
    kept = sharing.create(checked, now=timezone.now(), days=7)
    sharing.create(checked, now=timezone.now() - timedelta(days=3), days=1)
    tasks.forget()
    assert list(Share.objects.all()) == [kept]


def test_two_at_once_do_not_pass_the_limit_together(transactional_db: None, champion: object, monkeypatch) -> None:
    monkeypatch.setattr(sharing, "MAX_SHARES", 3)
    checked = factories.checked(factories.owner(factories.person("dora")), samples.AI, now=timezone.now())
    factories.together(lambda _n: sharing.create(checked, now=timezone.now()), 8)
    assert Share.objects.count() == 3

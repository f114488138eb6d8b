"""What an owner finds of their checks, and a stranger doesn't."""

import uuid
from datetime import timedelta

import factories
import pytest
import samples
from factories import NOW

from billing.models import User
from detector import history
from detector.history import Filters
from detector.models import Submission

pytestmark = pytest.mark.usefixtures("champion")


def found(owner, query: str = "", label: str = "", page: object = 1) -> list[Submission]:
    return list(history.page(owner, Filters(query, label), page))


def test_it_shows_an_owner_their_own_newest_first(alice: User, bob: User) -> None:
    mine = [factories.accepted(factories.owner(alice), now=NOW + timedelta(minutes=n)) for n in range(3)]
    visit = factories.visitor()
    theirs = factories.accepted(visit)
    assert found(factories.owner(alice)) == mine[::-1]
    assert found(factories.owner(bob)) == []
    assert found(visit) == [theirs]
    assert found(None) == []


def test_a_stranger_is_told_nothing_even_with_the_address(alice: User, charlie: User) -> None:
    hers = factories.accepted(factories.owner(alice))
    assert history.get(factories.owner(alice), hers.pk) == hers
    strangers = (factories.owner(charlie), factories.visitor(), None)
    for who in strangers:
        for address in (hers.pk, uuid.uuid4()):
            with pytest.raises(Submission.DoesNotExist):
                history.get(who, address)


def test_it_finds_words_of_a_text_in_any_case(alice: User) -> None:
    by = factories.owner(alice)
    human, ai = factories.accepted(by), factories.accepted(by, samples.AI)
    assert found(by, "emma WOODHOUSE") == [human]
    assert found(by, "digital landscape") == [ai]
    assert found(by, "neither of them") == []


@pytest.mark.parametrize("query", ["100%", "a_b", "%", "\\", "';--", "\x00", "\x00emma"])
def test_it_takes_a_search_literally(alice: User, query: str) -> None:
    by = factories.owner(alice)
    emma = factories.accepted(by)
    assert found(by, query) == ([emma] if query.startswith("\x00") else [])


def test_it_finds_by_verdict(alice: User) -> None:
    by = factories.owner(alice)
    ai, human = factories.checked(by, probability=0.99), factories.checked(by, probability=0.01)
    short, waiting = factories.accepted(by, samples.SHORT), factories.accepted(by, samples.AI)
    assert found(by, label="ai") == [ai]
    assert found(by, label="human") == [human]
    assert found(by, label="insufficient") == [short]
    assert set(found(by)) == {ai, human, short, waiting}
    assert found(by, "emma", "ai") == [ai]


@pytest.mark.parametrize(("number", "rows"), [(1, 20), ("2", 3), (99, 3), ("x", 20), (None, 20), (-1, 3)])
def test_it_gives_the_nearest_page(alice: User, number: object, rows: int) -> None:
    by = factories.owner(alice)
    for n in range(23):
        factories.accepted(by, samples.SHORT, now=NOW + timedelta(seconds=n))
    assert len(found(by, page=number)) == rows


def test_it_reads_a_page_in_few_queries(alice: User, django_assert_num_queries) -> None:
    by = factories.owner(alice)
    for _ in range(3):
        factories.checked(by)
    with django_assert_num_queries(2):
        for row in found(by):
            assert (row.verdict.label, row.model_version.name, history.title(row)[:4]) == (
                "ai",
                "inkcloak-test",
                "Emma",
            )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Two\n  lines\tand a tab", "Two lines and a tab"),
        ("x" * 200, "x" * 89 + "…"),
        ("word " * 50, ("word " * 18)[:89].rstrip() + "…"),
    ],
)
def test_it_names_a_text_by_its_beginning(text: str, title: str) -> None:
    assert history.title(Submission(text=text)) == title

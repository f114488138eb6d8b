"""The staff's page that plans a month: for staff alone, without scripts, with every number of its drawing as text."""

from collections.abc import Callable

import factories
import page_reading as pages
import pytest
from django.test import Client

from billing.models import User
from gpujobs.planning import founder, words
from gpujobs.planning.assumptions import STANDARD
from gpujobs.planning.scale import USERS
from gpujobs.planning.ways import WAYS

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

ADDRESS = "/staff/plan/"
MANY = {"users": "2000000"}  # by rates: no day is played


@pytest.fixture
def staff(db: None) -> Client:
    client = Client()
    client.force_login(factories.person("dora", is_staff=True))
    return client


def test_it_is_for_staff_alone(client: Client, staff: Client, client_of: Callable[[User], Client], alice: User) -> None:
    visitor = client.get(ADDRESS)
    assert (visitor.status_code, visitor["Location"]) == (302, f"/accounts/login/?next={ADDRESS}")
    assert client_of(alice).get(ADDRESS).status_code == 403
    page = staff.get(ADDRESS)
    assert (page.status_code, page["Cache-Control"]) == (200, "no-store, private")
    assert staff.post(ADDRESS).status_code == 405


def test_staff_find_it(staff: Client) -> None:
    assert pages.elements(staff.get("/staff/gpu/"), "a", href=ADDRESS)


def test_it_plans_nothing_before_somebody_asks(staff: Client) -> None:
    page = staff.get(ADDRESS)
    assert pages.elements(page, "input", name="users")[0].attributes["value"] == "1000"
    assert not pages.elements(page, "table")


@pytest.mark.parametrize("language", ["en", "es"])
def test_it_keeps_the_rules_and_needs_no_script(staff: Client, language: str) -> None:
    page = staff.get(ADDRESS, MANY, headers={"accept-language": language})
    assert page.status_code == 200
    assert pages.broken_rules(page) == []
    scripts = [each.attributes.get("src", "") for each in pages.elements(page, "script")]
    assert not [src for src in scripts if "plan" in src or "htmx" in src]


def test_it_says_each_way_each_number_of_the_curve_and_each_assumption(staff: Client) -> None:
    page = staff.get(ADDRESS, MANY)
    said = pages.words(page)

    for way in WAYS:
        assert str(words.WAYS[way]) in said
    for users in USERS:
        assert f"{users:,}" in said
    for row in STANDARD.values():
        assert row.name in said
    for vector in founder.vectors(STANDARD):
        assert str(words.VECTORS[vector.key]) in said
        assert words.derivation(vector) in said
    assert "RUNPOD_IDLE_SECONDS" in said
    assert "never" in said.lower()  # T4 spot as a primary
    assert [len(pages.elements(page, tag)) for tag in ("polyline", "circle")] == [2 * len(WAYS)] * 2


def test_its_lines_differ_without_colour(staff: Client) -> None:
    page = staff.get(ADDRESS, MANY)
    dashes = [each.attributes.get("stroke-dasharray", "") for each in pages.elements(page, "polyline")]
    letters = [each.text for each in pages.elements(page, "text", class_="letter")]
    assert len(set(dashes)) == len(set(letters)) == len(WAYS)


def test_it_keeps_what_was_filled_in(staff: Client) -> None:
    page = staff.get(ADDRESS, {**MANY, "checks": "2.5", "shape": "burst", "set": "price.pod=0.25"})
    assert pages.elements(page, "input", name="checks")[0].attributes["value"] == "2.5"
    (chosen,) = pages.elements(page, "option", selected="")
    assert chosen.attributes["value"] == "burst"
    assert "price.pod=0.25" in pages.elements(page, "textarea", name="set")[0].text
    assert "given with this plan" in pages.words(page)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"users": ""}, "1 to 100,000,000"),
        ({"users": "0"}, "1 to 100,000,000"),
        ({"users": "-3"}, "1 to 100,000,000"),
        ({"users": "1000000000000"}, "1 to 100,000,000"),
        ({"users": "1" * 500}, "1 to 100,000,000"),
        ({"users": "5", "p95": "NaN"}, "0.1 to 3,600"),
        ({"users": "5", "checks": "0.5"}, "1 to 1,000"),
        ({"users": "5", "words": "Infinity"}, "1 to 20,000"),
        ({"users": "5", "shape": "moon"}, "office, flat, evening, burst"),
        ({"users": "5", "set": "price.pod=unknown"}, "price.pod"),
        ({"users": "5", "set": "price.gold=1"}, "price.gold"),
        ({"users": "5", "set": "<script>"}, "NAME=VALUE"),
    ],
)
def test_it_refuses_nonsense_and_says_what_may_be(staff: Client, given: dict[str, str], says: str) -> None:
    page = staff.get(ADDRESS, given)
    assert page.status_code == 400
    (alert,) = pages.elements(page, "p", role="alert")
    assert says in alert.text
    assert pages.broken_rules(page) == []
    assert not pages.elements(page, "table")


def test_it_says_when_no_way_keeps_the_wish(staff: Client) -> None:
    said = pages.words(staff.get(ADDRESS, {**MANY, "p95": "0.1"}))
    assert "No way keeps the wish" in said

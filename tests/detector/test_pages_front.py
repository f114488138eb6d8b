"""The front page: box, limits, what is left, samples, options."""

import re
import uuid
from collections.abc import Callable
from pathlib import Path

import factories
import page_reading as pages
import pytest
from django.conf import settings as product
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from billing import quota
from billing.accounts import Owner, allowance_of, client_address, keyed_address
from billing.models import User
from detector.views.samples import SAMPLES, text_of
from gpujobs.models import ModelVersion

STATIC = Path(product.BASE_DIR) / "inkcloak" / "static" / "inkcloak"
FIRST_VISIT_BYTES = 100_000

pytestmark = pytest.mark.django_db


def test_it_offers_a_labelled_box_with_the_limits_of_the_model(client: Client, champion: ModelVersion) -> None:
    page = client.get("/")
    assert pages.box(page) == ""
    assert "50 words at least, 100,000 characters at most" in pages.words(page)
    form = pages.elements(page, "form", action="/check")[0].attributes
    assert (form["data-min-words"], form["data-max-characters"]) == ("50", "100000")


def test_it_makes_no_session_for_somebody_who_only_looks(client: Client, champion: ModelVersion) -> None:
    page = client.get("/")
    assert product.SESSION_COOKIE_NAME not in page.cookies
    assert Session.objects.count() == 0


def test_each_form_has_a_number_of_its_own(client: Client, champion: ModelVersion) -> None:
    nonces = {pages.form_fields(client.get("/"), "/check")["nonce"] for _ in range(2)}
    assert len({uuid.UUID(nonce) for nonce in nonces}) == 2


def test_it_says_what_a_visitor_has_left(client: Client, champion: ModelVersion, settings: Settings) -> None:
    settings.VISITOR_CHECKS_PER_DAY = 5
    address = keyed_address(client.get("/").wsgi_request)
    allowance = allowance_of(Owner(visitor=uuid.uuid4(), address_key=address), timezone.now())
    assert "5 of 5 free checks left today" in pages.words(client.get("/"))
    quota.reserve(allowance=allowance, amount=5, now=timezone.now())
    text = pages.words(client.get("/"))
    assert "Today's free checks are used. The next is free" in text
    assert "Create a free account" in text


def test_it_says_what_an_account_has_left(
    client_of: Callable[[User], Client], alice: User, champion: ModelVersion, settings: Settings
) -> None:
    settings.FREE_WORDS_PER_MONTH = 10_000
    owner = factories.owner(alice)
    quota.reserve(allowance=allowance_of(owner, timezone.now()), amount=750, now=timezone.now())
    assert "9,250 of 10,000 words left this month" in pages.words(client_of(alice).get("/"))


def test_it_offers_the_measured_limits_with_their_price(client: Client, db: None) -> None:
    limits = {cap: {**values, "tpr": 0.8} for cap, values in factories.LIMITS.items()}
    unmeasured = {cap: values for cap, values in limits.items() if cap != "0.005"}
    factories.champion(thresholds={"en": limits, "es": unmeasured})
    page = client.get("/")
    offered = pages.elements(page, "input", name="max_fpr")
    assert [o.attributes["value"] for o in offered] == ["0.005", "0.01", "0.05"]
    assert [o.attributes["value"] for o in offered if "checked" in o.attributes] == ["0.01"]
    choices = [" ".join(label.text.split()) for label in pages.elements(page, "label", class_="cap")]
    assert choices[0] == "At most 0.5% English: catches 80% of AI texts"
    assert choices[1] == "At most 1% default English: catches 80% of AI texts; Spanish: catches 80% of AI texts"


def test_it_stays_up_without_a_model_and_says_so(client: Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "No model is in service right now" in pages.words(page)


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("sample", [sample.name for sample in SAMPLES])
def test_a_sample_fills_the_box_without_scripts(
    client: Client, champion: ModelVersion, sample: str, language: str
) -> None:
    page = client.get("/", {"sample": sample}, headers={"accept-language": language})
    assert pages.box(page) == text_of(sample, language)


def test_an_unknown_sample_is_an_empty_box(client: Client, champion: ModelVersion) -> None:
    page = client.get("/", {"sample": "<script>"})
    assert (page.status_code, pages.box(page)) == (200, "")


def test_its_first_visit_is_light(client: Client, champion: ModelVersion) -> None:
    page = client.get("/")
    linked = [e.attributes for e in pages.elements(page) if e.tag in ("link", "script")]
    links = [attributes.get("href") or attributes.get("src", "") for attributes in linked]
    files = {STATIC / link.rsplit("/", 1)[-1] for link in links}
    fonts = {STATIC / name for name in re.findall(r"url\((\S+?\.woff2)\)", (STATIC / "ink.css").read_text())}
    assert len(page.content) + sum(path.stat().st_size for path in files | fonts) < FIRST_VISIT_BYTES


def test_the_clients_address_is_not_on_the_page(client: Client, champion: ModelVersion) -> None:
    page = client.get("/", REMOTE_ADDR="203.0.113.77")
    assert client_address(page.wsgi_request) == "203.0.113.77"
    assert "203.0.113.77" not in pages.html(page)

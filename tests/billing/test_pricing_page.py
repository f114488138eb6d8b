"""The page about prices: the plan table as it is, in the reader's format, for whoever comes."""

import re
import uuid
from collections.abc import Callable

import pytest
import samples
from django.test import Client
from django.utils import timezone

from billing import plans
from billing.accounts import account_of
from billing.models import Account, Membership, Subscription, User

PAGE = "/pricing/"
Browser = Callable[[User], Client]


@pytest.fixture
def set_up(settings) -> None:
    settings.STRIPE_SECRET_KEY = "sk_test_made_up"


def page(browser: Client | None = None, asked: str = "", language: str = "en") -> str:
    answer = (browser or Client()).get(PAGE + asked, headers={"Accept-Language": language})
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode().replace("\u00a0", " "))


def cards(text: str) -> list[str]:
    return re.findall(r'<li class="plan-card.*?</div> </li>', text)


def subscribe(user: User, **fields: object) -> Subscription:
    now = timezone.now()
    usual = {
        "stripe_id": "sub_1",
        "customer_id": "cus_1",
        "livemode": False,
        "status": "active",
        "plan": "pro",
        "plan_version": 1,
        "interval": "month",
        "currency": "eur",
        "started_at": now,
        "fetched_at": now,
    }
    account = account_of(user)
    Account.objects.filter(pk=account.pk).update(plan_name="pro", plan_version=1)
    return Subscription.objects.create(account=account, **usual | fields)


def test_it_shows_each_plan_of_the_table(db: None) -> None:
    found = cards(page())
    assert len(found) == len(plans.current())
    for card, plan in zip(found, plans.current(), strict=True):
        assert f"{plan.words_per_month:,}" in card
        assert f"{plan.requests_per_minute} requests a minute" in card
        cents = plan.prices.get(("month", "usd"))
        assert (f"${cents // 100}" if cents else "$0") in card


def test_a_year_says_what_a_month_of_it_is_and_what_is_saved(db: None) -> None:
    starter = cards(page(asked="?per=year&currency=eur"))[1]
    assert "<b>€90</b> a year" in starter
    assert "€7.50 a month; €18 less" in starter


def test_it_writes_prices_as_the_reader_does(db: None) -> None:
    text = page(asked="?per=year&currency=usd", language="es")
    assert "<b>290 US$</b>" in text
    assert "24,17 US$" in text
    assert "500 000" in text
    assert 'aria-current="true">EUR' in page(language="es")


@pytest.mark.parametrize(
    "asked", ["?per=week", "?currency=jpy", "?per=&currency=", "?per=%00", "?per=year&per=x", "?x=%ff"]
)
def test_a_made_up_address_shows_the_usual(db: None, asked: str) -> None:
    assert "<b>$29</b> a month" in page(asked=asked)


def test_it_says_where_payment_is_not_set_up(db: None, settings, alice: User, client_of: Browser) -> None:
    settings.STRIPE_SECRET_KEY = ""
    for text in (page(), page(client_of(alice))):
        assert "Payment isn't set up" in text.replace("&#x27;", "'")
        assert "/plan/checkout" not in text


def test_a_visitor_is_led_to_an_account_and_gets_no_session(db: None, set_up: None) -> None:
    browser = Client()
    text = page(browser, "?per=year&currency=eur")
    assert "Payment isn" not in text
    assert "/accounts/signup/?next=/pricing/%3Fper%3Dyear%26currency%3Deur" in text
    assert "sessionid" not in browser.cookies


def test_who_has_no_plan_can_take_one(set_up: None, alice: User, client_of: Browser) -> None:
    free, starter, *_dearer = cards(page(client_of(alice), "?per=year&currency=eur"))
    assert "your plan" in free
    assert 'action="/plan/checkout"' in starter
    for name, value in (("plan", "starter"), ("per", "year"), ("currency", "eur")):
        assert f'name="{name}" value="{value}"' in starter


def test_who_has_a_plan_changes_it(set_up: None, alice: User, client_of: Browser) -> None:
    subscribe(alice)
    free, starter, pro, _team = cards(page(client_of(alice)))
    assert "/plan/cancel/" in free
    assert "/plan/change/?plan=starter&amp;per=month" in starter
    assert "your plan" in pro
    assert "/plan/checkout" not in page(client_of(alice))


def test_who_pays_by_the_month_can_pay_by_the_year(set_up: None, alice: User, client_of: Browser) -> None:
    subscribe(alice)
    pro = cards(page(client_of(alice), "?per=year"))[2]
    assert "/plan/change/?plan=pro&amp;per=year" in pro
    Subscription.objects.update(interval="year")
    assert "/plan/change/" not in cards(page(client_of(alice), "?per=year"))[2]


def test_a_first_payment_that_was_not_finished_can_be_tried_again(
    set_up: None, alice: User, client_of: Browser
) -> None:
    subscribe(alice, status="incomplete")
    Account.objects.update(plan_name="free")
    assert 'action="/plan/checkout"' in cards(page(client_of(alice)))[1]


def test_a_member_without_the_role_is_offered_nothing(set_up: None, alice: User, bob: User, client_of: Browser) -> None:
    Membership.objects.create(account=account_of(alice), user=bob, chosen_at=timezone.now())
    text = page(client_of(bob))
    assert "/plan/checkout" not in text
    assert "chosen by its owner" in text


def test_browsers_may_follow_to_stripe_and_nowhere_else(db: None, settings) -> None:
    settings.STRIPE_API_BASE = "https://api.stripe.com"
    policy = Client().get(PAGE)["Content-Security-Policy"]
    found = re.search(r"form-action ([^;]*)", policy)
    assert found is not None
    assert found[1].split() == ["'self'", "https://checkout.stripe.com", "https://billing.stripe.com"]
    settings.STRIPE_API_BASE = "http://127.0.0.1:12111"
    assert "http://127.0.0.1:12111" in Client().get(PAGE)["Content-Security-Policy"]
    assert "stripe" not in Client().get("/privacy/")["Content-Security-Policy"]


def test_it_only_reads(db: None) -> None:
    assert Client().post(PAGE).status_code == 405


def test_whoever_used_up_their_words_is_led_here(alice: User, client_of: Browser, champion, settings) -> None:
    settings.FREE_WORDS_PER_MONTH = 0
    browser = client_of(alice)
    refused = browser.post("/check", {"text": samples.HUMAN, "nonce": uuid.uuid4()})
    assert refused.status_code == 429
    assert f'<a href="{PAGE}">Compare the plans</a>' in refused.content.decode()
    assert f'<a href="{PAGE}">Compare the plans</a>' in browser.get("/").content.decode()


def test_programs_hear_of_it_too(api: Client, champion, settings) -> None:
    settings.FREE_WORDS_PER_MONTH = 0
    answer = api.post("/api/v1/detections", {"text": samples.HUMAN}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (429, "words_used")
    assert f"{settings.PUBLIC_URL}{PAGE}" in answer.json()["detail"]

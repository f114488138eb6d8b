"""Paying, changing and ending a plan by its pages, with Stripe's double on the other side."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from stripe_shop import Shop, plan, row, shop, stripe, stripe_server

from billing import plans
from billing.accounts import account_of
from billing.models import Subscription, User
from tests.loopback.stripe.cards import GOOD

__all__ = ["shop", "stripe", "stripe_server"]

PAGE = "/plan/"
CHOICE = {"plan": "pro", "per": "month", "currency": "usd"}
Browser = Callable[[User], Client]


@pytest.fixture
def browser(alice: User, client_of: Browser) -> Client:
    return client_of(alice)


def text(answer) -> str:
    return re.sub(r"\s+", " ", answer.content.decode().replace("\u00a0", " ").replace("&#x27;", "'"))


def shown(page: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page.partition("<main")[2])
    assert found is not None, page
    return found[1]


def paid(shop: Shop) -> int:
    """Cents that ever were charged."""
    return shop.stripe.balance().get("usd", {}).get("charge", 0)


def session_of(shop: Shop) -> str:
    return str(shop.stripe.objects("checkout.session")[-1]["id"])


# --- The first plan -------------------------------------------------------------------------------------------------


def test_it_leads_to_one_payment_page_however_often_it_is_pressed(shop: Shop, browser: Client) -> None:
    first, second = (browser.post(f"{PAGE}checkout", CHOICE) for _click in range(2))
    assert first.status_code == second.status_code == 303
    assert first["Location"] == second["Location"]
    assert first["Location"].startswith(shop.stripe.url)
    assert len(shop.stripe.objects("checkout.session")) == 1


def test_the_return_page_waits_for_stripe_and_then_gives_the_words(shop: Shop, browser: Client, alice: User) -> None:
    browser.post(f"{PAGE}checkout", CHOICE)
    address = f"{PAGE}return/?session_id={session_of(shop)}"
    waiting = text(browser.get(address))
    assert "Activating your plan" in waiting
    assert f'hx-get="{address}&amp;looked=1"' in waiting
    for looked in ("90", "x", "-1", "9" * 30, "%00", "²"):
        late = text(browser.get(f"{address}&looked={looked}"))
        assert "Activating your plan" in late
        assert "hx-get" not in late, "it does not ask for ever"
    assert plan(account_of(alice)) == "free"
    shop.stripe.pay(session_of(shop), card=GOOD, email=alice.email)
    part = text(browser.get(address, headers={"HX-Request": "true"}))
    assert "<html" not in part
    assert "hx-get" not in part
    assert "Pro is active" in part
    assert "500,000 of 500,000 words" in part
    assert "500,000 <small>" in text(browser.get(PAGE))


def test_another_accounts_payment_is_none_here(shop: Shop, browser: Client, charlie: User, client_of: Browser) -> None:
    browser.post(f"{PAGE}checkout", CHOICE)
    shop.stripe.pay(session_of(shop), card=GOOD, email="alice@example.com")
    page = text(client_of(charlie).get(f"{PAGE}return/?session_id={session_of(shop)}"))
    assert "Nothing was bought" in page
    assert plan(account_of(charlie)) == "free"


def test_while_stripe_is_away_the_return_page_goes_on_waiting(shop: Shop, browser: Client, settings) -> None:
    browser.post(f"{PAGE}checkout", CHOICE)
    settings.STRIPE_API_BASE = "http://127.0.0.1:1"  # where nobody listens
    assert "Activating your plan" in text(browser.get(f"{PAGE}return/?session_id={session_of(shop)}"))
    assert browser.get(PAGE).status_code == 200
    answer = browser.post(f"{PAGE}checkout", CHOICE)
    assert (answer.status_code, "try again in a minute" in text(answer)) == (503, True)


def test_who_has_a_plan_does_not_buy_a_second_one(shop: Shop, browser: Client, alice: User) -> None:
    shop.subscribe(alice)
    before = paid(shop)
    assert "change it instead" in text(browser.post(f"{PAGE}checkout", CHOICE | {"plan": "team"}, follow=True))
    assert paid(shop) == before
    assert len(shop.stripe.objects("subscription")) == 1


def test_the_portal_is_one_click_away(shop: Shop, browser: Client, alice: User) -> None:
    shop.subscribe(alice)
    answer = browser.post(f"{PAGE}portal")
    assert (answer.status_code, answer["Location"].startswith(shop.stripe.url)) == (303, True)


# --- Another plan ---------------------------------------------------------------------------------------------------


def test_it_charges_the_amount_that_it_showed(shop: Shop, browser: Client, alice: User) -> None:
    account = shop.subscribe(alice)
    before = paid(shop)
    page = text(browser.get(f"{PAGE}change/?plan=team&per=month"))
    button = re.search(r"Pay \$([\d.,]+) and change", page)
    assert button is not None, page
    cents = int(button[1].replace(".", "").replace(",", ""))
    assert 0 < cents <= 7_000
    fields = {"plan": "team", "per": "month", "as_of": shown(page, "as_of")}
    assert "You have Team now." in text(browser.post(f"{PAGE}change/", fields, follow=True))
    assert paid(shop) - before == cents
    assert plan(account) == "team"
    again = text(browser.post(f"{PAGE}change/", fields, follow=True))
    assert "That is the plan you have." in again
    assert paid(shop) - before == cents, "pressed twice, paid once"


@pytest.mark.parametrize("as_of", ["", "0", "x", "-5", "9" * 9, "9" * 40, "\x00"])
def test_without_a_fresh_amount_it_shows_it_again(shop: Shop, browser: Client, alice: User, as_of: str) -> None:
    account = shop.subscribe(alice)
    before = paid(shop)
    answer = browser.post(f"{PAGE}change/", {"plan": "team", "per": "month", "as_of": as_of})
    assert (answer.status_code, "Here it is again" in text(answer)) == (200, True)
    assert (plan(account), paid(shop)) == ("pro", before)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("?plan=pro&per=month", 409),
        ("?plan=free&per=month", 400),
        ("?plan=gold&per=month", 400),
        ("?plan=team&per=week", 400),
        ("?plan=team", 400),
        ("", 400),
        ("?plan=%00&per=%ff", 400),
        ("?plan=starter&per=year", 409),
    ],
)
def test_what_cannot_be_changed_is_explained(shop: Shop, browser: Client, alice: User, asked: str, status: int) -> None:
    shop.subscribe(alice)
    answer = browser.get(f"{PAGE}change/{asked}")
    assert (answer.status_code, "isn't possible now" in text(answer)) == (status, True)


def test_a_declined_card_changes_nothing(shop: Shop, browser: Client, alice: User) -> None:
    account = shop.subscribe(alice)
    shop.stripe.use_card(row(account).customer_id, "pm_card_chargeCustomerFail")
    page = text(browser.get(f"{PAGE}change/?plan=team&per=month"))
    fields = {"plan": "team", "per": "month", "as_of": shown(page, "as_of")}
    assert "declined, and nothing was changed" in text(browser.post(f"{PAGE}change/", fields, follow=True))
    assert plan(account) == "pro"


def test_a_smaller_plan_waits_and_can_be_taken_back(shop: Shop, browser: Client, alice: User) -> None:
    account = shop.subscribe(alice)
    before = paid(shop)
    page = text(browser.get(f"{PAGE}change/?plan=starter&per=month"))
    assert "Nothing is charged now" in page
    fields = {"plan": "starter", "per": "month", "as_of": shown(page, "as_of")}
    assert "Starter follows" in text(browser.post(f"{PAGE}change/", fields, follow=True))
    assert (plan(account), paid(shop)) == ("pro", before)
    assert "Done" in text(browser.post(f"{PAGE}resume", follow=True))
    assert (row(account).plan, row(account).keeps_plan, paid(shop)) == ("pro", "", before)


# --- The end --------------------------------------------------------------------------------------------------------


def test_it_ends_in_two_clicks_and_goes_on_in_one(shop: Shop, browser: Client, alice: User) -> None:
    account = shop.subscribe(alice)
    assert f'href="{PAGE}cancel/"' in text(browser.get(PAGE))
    assert "Pro ends on" in text(browser.post(f"{PAGE}cancel/", follow=True))
    assert row(account).cancels_at == row(account).period_end
    assert plan(account) == "pro"
    assert browser.post(f"{PAGE}cancel/").status_code == 302, "a second click is harmless"
    assert "Done" in text(browser.post(f"{PAGE}resume", follow=True))
    assert row(account).cancels_at is None
    assert browser.post(f"{PAGE}resume").status_code == 302


def test_after_the_end_the_free_plan_is_back(shop: Shop, browser: Client, alice: User) -> None:
    account = shop.subscribe(alice)
    browser.post(f"{PAGE}cancel/")
    shop.stripe.advance(days=32)
    shop.hear()
    assert row(account).status == Subscription.Status.CANCELED
    assert plans.plan_of(account_of(alice), timezone.now() + timedelta(days=32)).is_free
    page = text(browser.get(PAGE))
    assert "Take a larger plan" in page
    assert "$29" in page, "its invoices stay"


def test_a_pause_is_asked_for_and_taken_back(shop: Shop, browser: Client, alice: User) -> None:
    account = shop.subscribe(alice)
    assert "Pause instead" in text(browser.get(f"{PAGE}cancel/"))
    assert "The pause begins on" in text(browser.post(f"{PAGE}pause", follow=True))
    assert row(account).paused
    assert "Pro pauses" in text(browser.get(PAGE))
    assert "Done" in text(browser.post(f"{PAGE}resume", follow=True))
    assert not row(account).paused


def test_a_failed_renewal_is_said_with_its_last_day(shop: Shop, browser: Client, alice: User) -> None:
    account = shop.subscribe(alice)
    shop.stripe.use_card(row(account).customer_id, "pm_card_chargeCustomerFail")
    shop.stripe.advance(days=32)
    shop.hear()
    ends = row(account).grace_ends_at
    assert ends is not None
    page = text(browser.get(PAGE))
    assert f'datetime="{ends.isoformat()}"' in page
    assert "Pay, or change the card" in page

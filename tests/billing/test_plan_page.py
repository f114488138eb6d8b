"""One's own plan: who may see it, each of its states in words, words left, the forecast and the invoices."""

import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from billing import outlook, plans, standing, usage
from billing.accounts import account_of
from billing.models import Account, Invoice, Membership, Subscription, User, WordEntry

PAGE = "/plan/"
Browser = Callable[[User], Client]
NOW = timezone.now()
LATER = NOW + timedelta(days=9)


@pytest.fixture(autouse=True)
def _set_up(settings) -> None:
    settings.STRIPE_SECRET_KEY = "sk_test_made_up"


@pytest.fixture
def browser(alice: User, client_of: Browser) -> Client:
    return client_of(alice)


def subscribe(user: User, **fields: Any) -> Subscription:
    """As it is after Stripe was asked; the account has what it gives."""
    usual: dict[str, Any] = {
        "stripe_id": "sub_1",
        "customer_id": "cus_1",
        "livemode": False,
        "status": "active",
        "plan": "pro",
        "plan_version": 1,
        "interval": "month",
        "currency": "usd",
        "amount_cents": 2_900,
        "period_start": NOW - timedelta(days=21),
        "period_end": LATER,
        "started_at": NOW,
        "fetched_at": NOW,
    }
    account = account_of(user)
    Account.objects.filter(pk=account.pk).update(plan_name="pro", plan_version=1)
    return Subscription.objects.create(account=account, **usual | fields)


def invoice(user: User, **fields: Any) -> Invoice:
    usual: dict[str, Any] = {
        "stripe_id": "in_1",
        "livemode": False,
        "number": "INK-0001",
        "status": "paid",
        "currency": "usd",
        "total_cents": 3_509,
        "due_cents": 3_509,
        "paid_cents": 3_509,
        "created_at": NOW,
        "fetched_at": NOW,
        "hosted_url": "https://invoice.stripe.com/i/1",
    }
    return Invoice.objects.create(account=account_of(user), **usual | fields)


def text(answer) -> str:
    return re.sub(r"\s+", " ", answer.content.decode().replace("\u00a0", " ").replace("&#x27;", "'"))


def test_it_asks_to_sign_in(db: None) -> None:
    assert Client().get(PAGE)["Location"] == "/accounts/login/?next=/plan/"


@pytest.mark.parametrize(("role", "status"), [("owner", 200), ("billing", 200), ("member", 403)])
@pytest.mark.parametrize("what", ["", "return/", "cancel/", "change/"])
def test_members_need_the_role(alice: User, bob: User, client_of: Browser, role: str, status: int, what: str) -> None:
    Membership.objects.create(account=account_of(alice), user=bob, role=role, chosen_at=NOW)
    assert client_of(bob).get(PAGE + what, follow=True).status_code == status


@pytest.mark.parametrize("what", ["checkout", "portal", "pause", "resume", "change/", "cancel/"])
def test_members_without_it_change_nothing(alice: User, bob: User, client_of: Browser, what: str) -> None:
    subscribe(alice)
    Membership.objects.create(account=account_of(alice), user=bob, chosen_at=NOW)
    assert client_of(bob).post(PAGE + what, {"plan": "team", "per": "month"}).status_code == 403


def test_a_free_account_sees_its_words_and_what_to_do(browser: Client) -> None:
    answer = browser.get(PAGE)
    page = text(answer)
    assert answer["Cache-Control"] == "no-store, private"
    assert "10,000 <small>of 10,000 left" in page
    assert "Too early to say" in page or "words by its end" in page
    assert "None yet." in page
    assert "Take a larger plan" in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "$29 a month, plus tax"),
        ({"interval": "year", "amount_cents": 29_000}, "$290 a year, plus tax"),
        ({"status": "past_due", "grace_ends_at": LATER}, "Pro keeps working until"),
        ({"status": "past_due", "grace_ends_at": NOW - timedelta(days=1)}, "Pro is stopped"),
        ({"status": "unpaid"}, "Pro is stopped"),
        ({"status": "incomplete"}, "was not finished"),
        ({"cancels_at": LATER}, "is not charged again"),
        ({"paused": True, "pause_from": LATER}, "Pro pauses"),
        ({"paused": True, "pause_from": NOW - timedelta(days=1)}, "Resume Pro: $29 plus tax, now"),
        ({"plan": "starter", "keeps_plan": "pro", "keeps_version": 1, "keeps_until": LATER}, "Starter follows"),
        ({"plan": "", "plan_version": 0}, "doesn't know"),
    ],
)
def test_it_says_each_state_in_words(browser: Client, alice: User, fields: dict[str, Any], words: str) -> None:
    subscribe(alice, **fields)
    assert words in text(browser.get(PAGE))


def test_a_past_due_plan_names_its_last_day_and_the_way_to_pay(browser: Client, alice: User) -> None:
    subscribe(alice, status="past_due", grace_ends_at=LATER)
    page = text(browser.get(PAGE))
    assert f'datetime="{LATER.isoformat()}"' in page
    assert 'action="/plan/portal"' in page
    assert "Change the plan" not in page


def test_what_ends_can_be_kept_and_not_ended_twice(browser: Client, alice: User) -> None:
    subscribe(alice, cancels_at=LATER)
    page = text(browser.get(PAGE))
    assert 'action="/plan/resume"' in page
    assert "/plan/cancel/" not in page
    assert browser.get(f"{PAGE}cancel/")["Location"] == PAGE


def test_cancelling_says_first_what_becomes_of_everything(browser: Client, alice: User) -> None:
    subscribe(alice)
    page = text(browser.get(f"{PAGE}cancel/"))
    for words in ("Cancel Pro?", "they are deleted 90 days after", "10,000 words a month", "Nothing is charged after"):
        assert words in page
    assert f'datetime="{LATER.isoformat()}"' in page


@pytest.mark.parametrize("what", ["cancel/", "pause", "resume", "change/"])
def test_without_a_subscription_nothing_happens(browser: Client, what: str) -> None:
    assert browser.post(PAGE + what, {"plan": "pro", "per": "month"}).status_code == 302


def test_a_state_that_stripe_invents_later_is_left_alone(alice: User) -> None:
    row = subscribe(alice, status="something_new")
    found = standing.standing(plans.free(), row, NOW)
    assert (found.state, found.can_change, found.can_resume, found.can_pause) == ("unknown", False, False, False)


def test_a_live_subscription_is_not_seen_with_a_test_key(browser: Client, alice: User) -> None:
    subscribe(alice, livemode=True)
    assert standing.of(account_of(alice), NOW).state == "free"


def test_it_lists_invoices_with_links_to_their_pages(browser: Client, alice: User) -> None:
    invoice(alice)
    invoice(alice, stripe_id="in_2", number="INK-0002", currency="jpy", total_cents=1_200, status="open")
    invoice(alice, stripe_id="in_3", number="INK-0003", status="draft")
    invoice(alice, stripe_id="in_4", number="INK-0004", livemode=True)
    page = text(browser.get(PAGE))
    assert "$35.09" in page
    assert "¥1,200" in page
    assert "https://invoice.stripe.com/i/1" in page
    assert "INK-0003" not in page
    assert "INK-0004" not in page
    assert "35,09 US$" in text(browser.get(PAGE, headers={"Accept-Language": "es"}))


def test_a_strangers_invoices_and_plan_stay_theirs(alice: User, charlie: User, client_of: Browser) -> None:
    subscribe(alice)
    invoice(alice)
    page = text(client_of(charlie).get(PAGE))
    assert "INK-0001" not in page
    assert "10,000 <small>of 10,000 left" in page


def test_it_forecasts_from_the_ledger(alice: User) -> None:
    account, now = account_of(alice), datetime(2026, 11, 11, 12, tzinfo=UTC)
    for day, words in ((3, 9_000), (4, 700), (10, 700), (11, 5_000)):  # seven whole days: the 4th to the 10th
        at = datetime(2026, 11, day, 9, tzinfo=UTC)
        WordEntry.objects.create(account=account, check_id=uuid.uuid4(), kind="charged", words=words, at=at)
    found = outlook.of(account, usage.of(account, now=now).words, now=now)
    assert (found.basis, found.a_day, found.days, found.days_left) == ("pace", 200, 7, 20)


def test_where_payment_is_not_set_up_nothing_breaks(browser: Client, settings) -> None:
    settings.STRIPE_SECRET_KEY = ""
    assert "Payment isn't set up" in text(browser.get(PAGE))
    answer = browser.post(f"{PAGE}checkout", {"plan": "pro", "per": "month", "currency": "usd"})
    assert (answer.status_code, "set up" in text(answer)) == (503, True)
    assert "no paid plan" in text(browser.post(f"{PAGE}portal", follow=True))
    assert browser.get(f"{PAGE}return/?session_id=cs_1").status_code == 200


@pytest.mark.parametrize("session_id", ["", "cs_made_up", "x" * 5000, "%00", "%ff", "'"])
def test_an_address_grants_nothing(browser: Client, alice: User, session_id: str) -> None:
    page = text(browser.get(f"{PAGE}return/?session_id={session_id}&plan=team&status=complete"))
    assert "Nothing was bought" in page
    assert account_of(alice).plan_name == "free"


@pytest.mark.parametrize(
    "fields",
    [{}, {"plan": "gold", "per": "month", "currency": "usd"}, {"plan": "free", "per": "x", "currency": "\x00"}],
)
def test_what_is_not_sold_is_refused(browser: Client, fields: dict[str, str]) -> None:
    answer = browser.post(f"{PAGE}checkout", fields)
    assert (answer.status_code, "no such plan" in text(answer)) == (400, True)


@pytest.mark.parametrize("what", ["checkout", "portal", "pause", "resume"])
def test_doors_that_only_take_posts(browser: Client, what: str) -> None:
    assert browser.get(PAGE + what).status_code == 405


@pytest.mark.parametrize("what", ["checkout", "portal", "pause", "resume", "change/", "cancel/"])
def test_a_forged_form_changes_nothing(alice: User, what: str) -> None:
    subscribe(alice)
    forged = Client(enforce_csrf_checks=True)
    forged.force_login(alice)
    assert forged.post(PAGE + what, {"plan": "team", "per": "month"}).status_code == 403

"""Where histories of plans and payment are played: product and loopback Stripe on one clock, people, and what they do.

Time is Stripe's: `timezone.now` is the double's clock, a little later each time it is asked, so that nothing here
happens at the same moment. Only signatures of webhooks go by the real one, as the SDK checks them by that.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import factories
import pytest
import stripe as stripe_sdk
from django.conf import LazySettings
from django.core.cache import cache
from django.utils import timezone
from stripe_shop import Shop, fresh

from billing import checkout, customers, ledger, quota, stripe_client, subscriptions, tasks, webhooks
from billing.accounts import Owner, account_of, allowance_of
from billing.checkout import Choice
from billing.models import Account, StripeEvent, User, WordEntry
from billing.models.subscription import Subscription
from inkcloak.errors import DomainError, Exhausted
from tests.loopback.stripe.launcher import LoopbackStripe

START = int(datetime(2026, 1, 30, 12, tzinfo=UTC).timestamp())  # the next month has no such day
PATIENCE_SECONDS = 0.4  # of the SDK here; the product's ten would be waited for
LONGEST_AWAY_DAYS = 25  # Stripe lists events of 30 days: nobody's site is down for longer
TICK = timedelta(microseconds=50)


class Clock:
    """The double's second, and a little more with each question."""

    def __init__(self, tick: timedelta = TICK) -> None:
        self.at, self.tick, self.asked = datetime.fromtimestamp(START, UTC), tick, 0

    def __call__(self) -> datetime:
        self.asked += 1
        return self.at + self.tick * self.asked

    def move_to(self, second: int) -> None:
        self.at = max(self.at, datetime.fromtimestamp(second, UTC))


@dataclass
class Person:
    """pages: sessions that the product led them to, with what is bought there.  words: charged so far, by month."""

    user: User
    account: Account
    pages: list[tuple[str, Choice]] = field(default_factory=list)
    words: dict[datetime, int] = field(default_factory=dict)


class Stage:
    """One history's stage: an empty account at Stripe, and nobody signed up."""

    def __init__(self, stripe: LoopbackStripe, settings: LazySettings, clock: Clock) -> None:
        self.stripe, self.clock, self.people = stripe, clock, list[Person]()
        clock.at = datetime.fromtimestamp(START, UTC)
        stripe.reset(webhooks="hold", at=START)
        self.shop = Shop(stripe, settings)
        self.was_up = clock()
        cache.clear()

    # --- People -------------------------------------------------------------------------------------------------

    def sign_up(self) -> Person:
        user = factories.person(f"person{len(self.people)}")
        made = Person(user, account_of(user))
        self.people.append(made)
        return made

    def press(self, who: Person, choice: Choice) -> str:
        """The button that leads to the payment page; the page, or what was said instead."""
        try:
            found = checkout.start(account=fresh(who.account), choice=choice, now=timezone.now())
        except DomainError as refused:
            return refused.code
        who.pages.append((found.stripe_id, choice))
        return found.stripe_id

    def pay(self, page: str, card: str) -> bool:
        try:
            self.stripe.pay(page, card=card, email="whoever@example.com")
        except AssertionError:
            return False
        return True

    def come_back(self, who: Person, page: str) -> None:
        attempt(lambda: checkout.settle(account=fresh(who.account), session_id=page, now=timezone.now()))

    def check(self, who: Person, words: int, *, fails: bool) -> bool:
        """A text is checked: its words are held, then charged once, or given back. Whether there were enough."""
        account = fresh(who.account)
        allowance = allowance_of(Owner(account=account), timezone.now())
        try:
            held = quota.reserve(allowance=allowance, amount=words, now=timezone.now())
        except Exhausted:
            return False
        if fails:
            assert quota.release(held)
            assert not quota.release(held)
        else:
            assert quota.settle(held) == 1
            who.words[allowance.period_start] = who.words.get(allowance.period_start, 0) + words
            for _worker in range(2):
                ledger.note(account, held.pk, WordEntry.Kind.CHARGED, words)
        assert quota.settle(held) == 0
        return True

    # --- Time and Stripe ----------------------------------------------------------------------------------------

    def wait(self, seconds: int) -> None:
        """Nobody is away for longer than Stripe remembers events."""
        while seconds > 0:
            step = min(seconds, LONGEST_AWAY_DAYS * 86_400)
            if (self.clock() - self.was_up).days + step / 86_400 > LONGEST_AWAY_DAYS:
                self.stripe.clear_faults()  # a night that fails is repeated before it is too late
                self.night()
            self.clock.move_to(self.stripe.advance(seconds=step))
            seconds -= step

    def post(self, path: str, body: str, headers: dict[str, str]) -> int:
        """As Stripe does; a worker takes up at once what is new."""
        return self.shop.post(path, body, headers)

    def hear(self, **wish: Any) -> None:
        self.stripe.hand_over(self.stripe.take(**wish), self.post)

    def hear_again(self, **wish: Any) -> None:
        for row in self.stripe.again(take=True, **wish):
            self.post(row["path"], row["body"], row["headers"])

    def work(self, newest: int | None = None) -> None:
        """Workers take up what waits, also what has a pause yet; newest: only so many, the newest first."""
        waiting = StripeEvent.objects.filter(done_at=None, livemode=stripe_client.livemode())
        for event_id in waiting.order_by("-received_at").values_list("pk", flat=True)[:newest]:
            tasks.process_stripe_event(str(event_id))

    def night(self) -> None:
        """What runs at three."""
        try:
            webhooks.catch_up(now=timezone.now(), hours=webhooks.WHOLE_LIST_HOURS)
            self.work()
            subscriptions.sync_everybody(now=timezone.now())
        except stripe_client.StripeError:
            return  # a fault that was asked for: the next night
        self.was_up = self.clock()

    def settle(self) -> None:
        """Faults are over, and a night passes."""
        self.stripe.clear_faults()
        self.work()
        self.night()
        self.work()

    # --- Looks --------------------------------------------------------------------------------------------------

    def customer(self, who: Person) -> str:
        found = customers.of(who.account)
        return found.stripe_id if found is not None else ""

    def subscription(self, who: Person) -> Subscription | None:
        return subscriptions.of(who.account)


def attempt(act: Callable[[], Any]) -> str:
    """Does it; what a person was told instead, "" for nothing."""
    try:
        act()
    except DomainError as refused:
        return refused.code
    return ""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The product's time, and an SDK that doesn't wait before it tries again."""
    made = Clock()
    monkeypatch.setattr(timezone, "now", made)
    monkeypatch.setattr(stripe_sdk.HTTPClient, "INITIAL_DELAY", 0.0)
    monkeypatch.setattr(stripe_sdk.HTTPClient, "MAX_DELAY", 0.0)
    monkeypatch.setattr(stripe_client, "TIMEOUT_SECONDS", PATIENCE_SECONDS)
    stripe_client._client.cache_clear()
    return made

"""Any history of people, their banks, Stripe and the network, as a hypothesis state machine. billing_oracle says what
must be so after it; billing_stage is where it is played.

Deliveries are what a test hands over: they come late and in any order by themselves, and each of the double's faults
may befall the next of them, or the next request.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

import billing_oracle as oracle
from billing_stage import Person, Stage, attempt
from django.db import transaction
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from stripe import StripeError as StripeSaysNo
from stripe_shop import fresh

from billing import plan_changes, portal, webhooks
from billing.checkout import Choice
from billing.stripe_client import StripeError
from tests.loopback.stripe.cards import ASKS_ALWAYS, DECLINED, FAILS_LATER, GOOD

MOST_PEOPLE = 3
HOUR, DAY = 3600, 86_400
REFUSALS = {
    *("already_subscribed", "not_subscribed", "payment_due", "cancellation_pending", "change_pending", "plan_paused"),
    *("same_plan", "interval_at_end", "not_for_sale", "payment_declined", "payment_unavailable"),
}
PLANS, INTERVALS, CURRENCIES = ("starter", "pro", "team"), ("month", "month", "year"), ("usd", "usd", "eur")
CHOICES = st.builds(Choice, *(st.sampled_from(each) for each in (PLANS, INTERVALS, CURRENCIES)))
# A clock that is stopped loses no answer, but a request that is carried out all the same is the hard case.
CALLS = (
    *({"fault": "reset"}, {"fault": "reset", "after": True}, {"fault": "server_error", "after": True}),
    *({"fault": "server_error"}, {"fault": "rate_limited"}, {"fault": "unavailable"}, {"fault": "key_refused"}),
    *({"fault": "timeout", "delay": 0.6}, {"fault": "timeout", "delay": 0.6, "after": True}),
)
POSTS = ("POST /v1/*", "POST /v1/customers", "POST /v1/checkout/sessions", "POST /v1/subscriptions/{id}", "*")
SPOILT = (
    *({"fault": "webhook_duplicate", "copies": 3}, {"fault": "webhook_delayed", "seconds": 2 * DAY}),
    *({"fault": "webhook_dropped"}, {"fault": "webhook_answer_lost"}, {"fault": "webhook_fails"}),
    *({"fault": "webhook_wrong_secret"}, {"fault": "webhook_wrong_secret", "retried": True}),
    *({"fault": "webhook_old"}, {"fault": "webhook_future"}, {"fault": "webhook_unsigned"}),
    *({"fault": "webhook_wrong_livemode"}, {"fault": "webhook_wrong_version"}, {"fault": "webhook_garbage"}),
)
SPANS = (60, HOUR + 1, DAY, 4 * DAY, 9 * DAY, 20 * DAY, 31 * DAY)
NUMBERS = st.integers(0, 999)
happened: Counter[str] = Counter()  # rules that found something to do, of all histories of this process


def anybody(machine: "BillingMachine") -> bool:
    return bool(machine.stage.people)


def anybody_paid(machine: "BillingMachine") -> bool:
    return machine.paid


class BillingMachine(RuleBasedStateMachine):
    """stage_of: what each history begins with. Its rows are taken back at its end: the ledger lets none be deleted."""

    stage_of: Callable[[], Stage]

    def __init__(self) -> None:
        super().__init__()
        self.paid = False
        self.block = transaction.atomic()
        self.block.__enter__()
        self.stage = type(self).stage_of()

    def teardown(self) -> None:
        try:
            self.stage.settle()
            oracle.no_crash()
            oracle.settled(self.stage)
            happened["histories"] += 1
        finally:
            self.stage.stripe.clear_faults()
            transaction.set_rollback(True)
            self.block.__exit__(None, None, None)

    def one(self, number: int) -> Person:
        return self.stage.people[number % len(self.stage.people)]

    def told(self, what: str, code: str) -> None:
        """A refusal has one of the codes that pages know words for."""
        assert code in REFUSALS or not code, code
        happened[f"{what}: {code or 'done'}"] += 1

    # --- People -------------------------------------------------------------------------------------------------

    @initialize(choice=CHOICES, card=st.sampled_from((GOOD, GOOD, FAILS_LATER)),
                buys=st.sampled_from((True, True, False)), knows=st.booleans())  # fmt: skip
    def first(self, choice: Choice, card: str, buys: bool, knows: bool) -> None:
        """Most histories begin with somebody who pays: what comes then is the longer story."""
        who = self.stage.sign_up()
        if buys:
            self.paid = self.stage.pay(self.stage.press(who, choice), card)
        if knows:
            self.stage.hear()
            self.stage.work()

    @precondition(lambda self: len(self.stage.people) < MOST_PEOPLE)
    @rule()
    def sign_up(self) -> None:
        self.stage.sign_up()

    @rule(who=NUMBERS, choice=CHOICES, clicks=st.integers(1, 2), other=st.none() | CHOICES)
    def press(self, who: int, choice: Choice, clicks: int, other: Choice | None) -> None:
        """Once or twice, and perhaps in another tab something else."""
        person, known = self.one(who), len(self.one(who).pages)
        told = [self.stage.press(person, choice) for _click in range(clicks)]
        told += [self.stage.press(person, other)] if other else []
        pages = person.pages[known:]
        for each in told:
            self.told("press", "" if each.startswith("cs_") else each)
        if other is None and len(pages) == len(told):
            assert len({page for page, _choice in pages}) == 1, "one page, however often it is pressed"

    @precondition(anybody)
    @rule(who=NUMBERS, choice=CHOICES, card=st.sampled_from((GOOD, GOOD, FAILS_LATER, ASKS_ALWAYS, DECLINED)),
          old=st.sampled_from((False, False, True)), back=st.sampled_from(("before", "after", "never")))  # fmt: skip
    def buy(self, who: int, choice: Choice, card: str, old: bool, back: str) -> None:
        """On the newest page, or on one left open in a tab. The browser comes back before the webhook, after it, or
        never."""
        person = self.one(who)
        page = person.pages[0][0] if old and person.pages else self.stage.press(person, choice)
        if not page.startswith("cs_"):
            return self.told("buy", page)
        taken = self.stage.pay(page, card)
        assert taken or old or card == DECLINED, "a page that we lead to can be paid on"
        self.paid |= taken
        happened["paid" if taken else "not paid"] += 1
        if back == "after":
            self.stage.hear()
            self.stage.work()
        if back != "never":
            self.stage.come_back(person, page)
        return None

    @precondition(anybody_paid)
    @rule(who=NUMBERS, plan=st.sampled_from(PLANS), interval=st.sampled_from(INTERVALS), looked=st.booleans())
    def change(self, who: int, plan: str, interval: str, looked: bool) -> None:
        asked = {"account": fresh(self.one(who).account), "plan": plan, "interval": interval}
        shown = []
        if looked:
            code = attempt(lambda: shown.append(plan_changes.preview(**asked, now=timezone.now())))
            self.told("preview", code)
        as_of = shown[0].as_of if shown else None
        self.told("change", attempt(lambda: plan_changes.change(**asked, now=timezone.now(), as_of=as_of)))

    @precondition(anybody_paid)
    @rule(who=NUMBERS, verb=st.sampled_from(("cancel", "resume", "pause", "unpause")), twice=st.booleans())
    def ask(self, who: int, verb: str, twice: bool) -> None:
        act = getattr(plan_changes, verb)
        for _click in range(1 + twice):
            code = attempt(lambda: act(account=fresh(self.one(who).account), now=timezone.now()))
            self.told(verb, code)

    @precondition(anybody_paid)
    @rule(who=NUMBERS, act=st.sampled_from(("cancel", "keep", "change", "card")), price=NUMBERS)
    def in_the_portal(self, who: int, act: str, price: int) -> None:
        """Stripe's own buttons."""
        stage, opened = self.stage, list[str]()
        code = attempt(lambda: opened.append(portal.address(fresh(self.one(who).account))))
        subscription = stage.subscription(self.one(who))
        self.told("portal", code)
        if opened and subscription is not None:
            offered = [each["id"] for each in stage.stripe.objects("price") if each["active"] and each["recurring"]]
            given: dict[str, Any] = {"card": GOOD, "price": offered[price % len(offered)]}
            given["subscription"] = subscription.stripe_id
            self.refusable(lambda: stage.stripe.portal(opened[0].rsplit("/", 1)[-1], act, **given))

    @precondition(anybody)
    @rule(who=NUMBERS, words=st.integers(1, 60_000), fails=st.booleans())
    def check(self, who: int, words: int, fails: bool) -> None:
        happened["checked" if self.stage.check(self.one(who), words, fails=fails) else "too few words"] += 1

    # --- Banks, Stripe's staff, time ------------------------------------------------------------------------------

    def another_card(self, who: int, card: str) -> None:
        if customer := self.stage.customer(self.one(who)):
            self.refusable(lambda: self.stage.stripe.use_card(customer, card))

    @precondition(anybody_paid)
    @rule(number=NUMBERS, cents=st.integers(1, 3_000))
    def refund(self, number: int, cents: int) -> None:
        charge = self.charge(number)
        cents = min(cents, charge["amount_captured"] - charge["amount_refunded"])
        if cents > 0 and not charge["disputed"]:
            asked: Any = {"charge": charge["id"], "amount": cents}
            self.refusable(lambda: self.stage.stripe.sdk().v1.refunds.create(asked))
            happened["refund"] += 1

    @precondition(anybody_paid)
    @rule(number=NUMBERS, closed=st.sampled_from((None, True, False)))
    def dispute(self, number: int, closed: bool | None) -> None:
        charge, stripe = self.charge(number), self.stage.stripe
        if charge["paid"] and not charge["disputed"] and charge["amount_refunded"] < charge["amount"]:
            made = stripe.dispute(charge=charge["id"])
            happened["dispute"] += 1
            if closed is not None:
                stripe.close_dispute(made["id"], won=closed)

    @precondition(anybody_paid)
    @rule(who=NUMBERS, really=st.integers(0, 3))
    def deleted_at_stripe(self, who: int, really: int) -> None:
        """Seldom, since little happens to an account after it."""
        if (customer := self.stage.customer(self.one(who))) and not really:
            self.refusable(lambda: self.stage.stripe.sdk().v1.customers.delete(customer))
            happened["deleted"] += 1

    @rule(seconds=st.sampled_from(SPANS))
    def wait(self, seconds: int) -> None:
        self.stage.wait(seconds)

    @precondition(anybody_paid)
    @rule(who=NUMBERS, card=st.sampled_from((GOOD, FAILS_LATER)), days=st.integers(0, 20), told=st.booleans(),
          verb=st.sampled_from((None, "cancel", "resume", "pause", "unpause", "change")))  # fmt: skip
    def renews(self, who: int, card: str, days: int, told: bool, verb: str | None) -> None:
        """A month is over, for which something was asked before, and perhaps the card was no good; some days later we
        hear of it, or don't."""
        if verb == "change":
            self.change(who, PLANS[days % 3], "month", looked=False)
        elif verb:
            self.ask(who, verb, twice=False)
        self.another_card(who, card)
        self.stage.wait((31 + days) * DAY)
        happened["renewals"] += 1
        if told:
            self.stage.hear()
            self.stage.work()

    # --- The network --------------------------------------------------------------------------------------------

    @rule(fault=st.sampled_from(CALLS), op=st.sampled_from(POSTS), times=st.integers(1, 4))
    def calls_fail(self, fault: dict[str, Any], op: str, times: int) -> None:
        self.stage.stripe.fault(**{"kind": fault["fault"]}, **{key: fault[key] for key in fault if key != "fault"},
                                times=times, where={"op": op})  # fmt: skip

    @rule()
    def calls_work_again(self) -> None:
        self.stage.stripe.clear_faults()

    @rule(faults=st.lists(st.sampled_from(SPOILT), min_size=1, max_size=4), times=st.integers(1, 5))
    def deliveries_fail(self, faults: list[dict[str, Any]], times: int) -> None:
        for fault in faults:
            values = {key: fault[key] for key in fault if key != "fault"}
            self.stage.stripe.fault(fault["fault"], times=times, **values)

    @rule(kind=st.sampled_from(("invoice.invented", "customer.subscription.invented", "balance.available")))
    def unknown_event(self, kind: str) -> None:
        self.stage.stripe.emit(kind)

    @rule(order=st.sampled_from(("made", "reverse", "random")), seed=NUMBERS, n=st.none() | st.integers(1, 6))
    def hear(self, order: str, seed: int, n: int | None) -> None:
        self.stage.hear(order=order, seed=seed, n=n)

    @rule(seed=NUMBERS, n=st.integers(1, 8))
    def hear_again(self, seed: int, n: int) -> None:
        events = [each["id"] for each in self.stage.stripe.events()]
        if events:
            at = seed % len(events)
            self.stage.hear_again(events=events[at : at + n], order="random", seed=seed, duplicates=0.3)

    @rule(newest=st.none() | st.integers(1, 5))
    def work(self, newest: int | None) -> None:
        self.stage.work(newest)

    @rule(night=st.booleans())
    def beat(self, night: bool) -> None:
        """Each hour's look into Stripe's list, or the night's."""
        if night:
            return self.stage.night()
        try:
            webhooks.catch_up(now=timezone.now())
        except StripeError:
            happened["not caught up"] += 1
        return None

    @rule(who=NUMBERS)
    def late_return(self, who: int) -> None:
        """An old tab is loaded again."""
        for page, _choice in self.one(who).pages[-1:]:
            self.stage.come_back(self.one(who), page)

    @rule()
    def settles(self) -> None:
        self.stage.settle()
        oracle.settled(self.stage)

    # --- Always -------------------------------------------------------------------------------------------------

    @invariant()
    def one_subscription_at_stripe(self) -> None:
        """Also in between: this is money."""
        subs = self.stage.stripe.objects("subscription") if self.paid else []
        live = Counter(sub["metadata"]["account"] for sub in subs if sub["status"] in oracle.LIVE)
        assert all(number == 1 for number in live.values()), live

    @invariant()
    def nothing_crashed(self) -> None:
        oracle.no_crash()

    # --- Helpers ------------------------------------------------------------------------------------------------

    def charge(self, number: int) -> dict[str, Any]:
        found = self.stage.stripe.objects("charge")
        return found[number % len(found)]

    def refusable(self, act: Callable[[], Any]) -> None:
        """Stripe says no: that is its business. Only what it does counts."""
        try:
            act()
        except (AssertionError, StripeSaysNo):
            happened["refused by Stripe"] += 1

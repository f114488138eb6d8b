"""A flood: everything that happened in many months at Stripe comes at once, some of it twice, in any order."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import billing_oracle as oracle
from billing_stage import Stage
from django.db import transaction
from stripe import StripeError

from billing.checkout import Choice
from tests.loopback.stripe.cards import FAILS_LATER, GOOD

MONTH_SECONDS = 31 * 86_400
SIGNED_AT_ONCE = 200  # a signature is good for five minutes
TICK = timedelta(milliseconds=2)
PLANS, CURRENCIES = ("starter", "pro", "team"), ("usd", "eur")


def fill(stage: Stage, events: int, *, people: int, seed: int = 1) -> int:
    """People subscribe, and months pass at Stripe without a word to us; how many events there are then."""
    draw = random.Random(seed)
    for number in range(people):
        who = stage.sign_up()
        choice = Choice(PLANS[number % 3], "month", CURRENCIES[number % 2])
        assert stage.pay(stage.press(who, choice), FAILS_LATER if number % 5 == 4 else GOOD)
    while len(stage.stripe.events()) < events:
        something(stage, draw)
        stage.clock.move_to(stage.stripe.advance(seconds=MONTH_SECONDS))
    return len(stage.stripe.events())


def something(stage: Stage, draw: random.Random) -> None:
    """That happens at Stripe in a month: money goes back, people leave, and whoever left is missed."""
    v1 = stage.stripe.sdk().v1
    living = [sub for sub in stage.stripe.objects("subscription") if sub["status"] == "active"]
    charges = [each for each in stage.stripe.objects("charge") if each["paid"] and not each["disputed"]]
    for charge in draw.sample(charges, 2):
        refund: Any = {"charge": charge["id"], "amount": 100}
        try:
            v1.refunds.create(refund)
        except StripeError:
            stage.stripe.dispute(charge=charge["id"])
    if len(living) > len(stage.people) // 2:
        ends: Any = {"cancel_at_period_end": True}
        v1.subscriptions.update(draw.choice(living)["id"], ends)
    unpaid = [sub for sub in stage.stripe.objects("subscription") if sub["status"] == "past_due"]
    for sub in unpaid[:1]:
        stage.stripe.use_card(sub["customer"], GOOD)


def comes(stage: Stage, ids: list[str]) -> None:
    """Workers take up what came while more comes."""
    for start in range(0, len(ids), SIGNED_AT_ONCE):
        rows = stage.stripe.again(take=True, events=ids[start : start + SIGNED_AT_ONCE])
        answers = {stage.post(row["path"], row["body"], row["headers"]) for row in rows}
        assert answers == {200}
        stage.work(len(rows) // 2)
    stage.work()


def with_duplicates(ids: list[str], share: float, seed: int) -> list[str]:
    """In random order; `share` of all deliveries repeat another one."""
    draw = random.Random(seed)
    extra = draw.choices(ids, k=round(len(ids) * share / (1 - share)))
    return draw.sample([*ids, *extra], len(ids) + len(extra))


def played(stage: Stage, share: float, seed: int = 1) -> dict[str, int]:
    """In order without repeats, and then as a flood, each from nothing: the same end, which is Stripe's. Numbers."""
    ids = [each["id"] for each in stage.stripe.events()]
    with taken_back():
        comes(stage, ids)
        in_order = end(stage)
    flood = with_duplicates(ids, share, seed)
    with taken_back():
        comes(stage, flood)
        found = end(stage)
    for name, wanted in in_order.items():
        differ = [pair for pair in zip(found[name], wanted, strict=True) if pair[0] != pair[1]]
        assert not differ, (name, differ[:3])
    return {"events": len(ids), "deliveries": len(flood), "rows": sum(len(rows) for rows in found.values())}


def end(stage: Stage) -> dict[str, Any]:
    """By events alone: no night has passed."""
    oracle.no_crash()
    oracle.settled(stage)
    return oracle.state(stage.clock())


@contextmanager
def taken_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)

"""What must be so once everything has settled, computed from the double's own objects and nothing of ours.

The table of states, plans' ranks and dates stand here a second time, on purpose: an oracle that asked the product
would agree with its mistakes.
"""

from collections import Counter, defaultdict
from datetime import datetime
from typing import Any

from billing_stage import Person, Stage
from django.db.models import Sum
from stripe_shop import fresh

from billing import plans, revenue, subscriptions, usage
from billing.models import Account, Invoice, RevenueEntry, StripeCustomer, StripeEvent, Subscription, WordEntry

Json = dict[str, Any]
LIVE = ("trialing", "active", "past_due", "unpaid", "paused", "incomplete")
RANKS = ("free", "starter", "pro", "team")
GRACE_SECONDS = 14 * 86_400
KINDS = {"charge": "paid", "refund": "refund", "adjustment": "dispute"}


def settled(stage: Stage) -> None:
    """All of it."""
    subs = by_account(stage)
    for who in stage.people:
        mine = subs.get(str(who.account.pk), [])
        one_subscription(who.account, mine)
        entitled(stage, who.account, mine)
        words_once(stage, who)
    never_charged_twice(stage)
    money(stage)
    nothing_waits()


def by_account(stage: Stage) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = defaultdict(list)
    billed = {invoice["id"]: invoice["created"] for invoice in stage.stripe.objects("invoice")}
    for sub in stage.stripe.objects("subscription"):
        found[sub["metadata"]["account"]].append({**sub, "billed_at": billed[sub["latest_invoice"]]})
    return found


def one_subscription(account: Account, mine: list[Json]) -> None:
    """At Stripe, where the money is, and in our rows, which say the same."""
    live = {sub["id"] for sub in mine if sub["status"] in LIVE}
    assert len(live) <= 1, live
    rows = {row.stripe_id: row.status for row in Subscription.objects.filter(account=account)}
    assert live <= set(rows), "a subscription that is paid for is not known"
    assert rows == {sub["id"]: sub["status"] for sub in mine if sub["id"] in rows}
    assert not subscriptions.duplicates()
    living = StripeCustomer.objects.filter(account=account, deleted_at=None)
    assert living.count() <= 1


def entitled(stage: Stage, account: Account, mine: list[Json]) -> None:
    now = stage.clock()
    wanted = max((given(sub, now.timestamp()) for sub in mine), key=RANKS.index, default="free")
    found = fresh(account)
    assert plans.plan_of(found, now).name == wanted, (found.plan_name, found.plan_until, mine)
    words = usage.of(found, now=now).words
    assert words.limit == (plans.get(wanted) or plans.free()).words_per_month
    assert words.left == max(0, words.limit - words.used - words.held)


def given(sub: Json, now: float) -> str:
    """The plan that one of Stripe's subscriptions gives at that second."""
    item, marks = sub["items"]["data"][0], sub["metadata"]
    if now >= (_ends(sub, item, marks) or now + 1) or sub["status"] not in ("trialing", "active", "past_due"):
        return "free"
    if marks.get("inkcloak_keeps") and now < int(marks["inkcloak_keeps_until"]):
        return str(marks["inkcloak_keeps"].partition(":")[0])
    return str(item["price"]["lookup_key"].split("_")[1])


def _ends(sub: Json, item: Json, marks: Json) -> float | None:
    ends = [sub["cancel_at"], item["current_period_end"] if sub["cancel_at_period_end"] else None]
    if sub["pause_collection"]:
        ends.append(int(marks.get("inkcloak_pause_from") or 1))
    if sub["status"] == "past_due":
        ends.append(sub["billed_at"] + GRACE_SECONDS)
    return min((each for each in ends if each), default=None)


def words_once(stage: Stage, who: Person) -> None:
    """The month's meter, and the ledger since ever."""
    words = usage.of(fresh(who.account), now=stage.clock()).words
    assert (words.used, words.held) == (who.words.get(words.period_start, 0), 0)
    total = WordEntry.objects.filter(account=who.account).aggregate(sum=Sum("words"))["sum"] or 0
    assert total == sum(who.words.values())


def never_charged_twice(stage: Stage) -> None:
    """No period of an item was paid for twice at the same price."""
    seen: Counter[tuple[str, str, int]] = Counter()
    for invoice in stage.stripe.objects("invoice"):
        for line in invoice["lines"]["data"] if invoice["status"] == "paid" else ():
            details = line["parent"]["subscription_item_details"]
            if line["amount"] and not details["proration"]:
                price = line["pricing"]["price_details"]["price"]
                seen[details["subscription_item"], price, line["period"]["start"]] += 1
    assert not seen or max(seen.values()) == 1, seen


def money(stage: Stage) -> None:
    """To the cent, by currency and by kind."""
    balance, earned = stage.stripe.balance(), revenue.earned()
    wanted: dict[str, Counter[str]] = {"net": Counter(), "fee": Counter()} | {kind: Counter() for kind in KINDS}
    for currency, sums in balance.items():
        for kind, counted in wanted.items():
            counted[currency] = sums[kind]
    found = {"charge": earned.paid, "refund": earned.refunded, "adjustment": earned.disputed, "net": earned.net}
    found["fee"] = {currency: -cents for currency, cents in earned.fees.items()}
    for kind, counted in wanted.items():
        assert _without_nothing(found[kind]) == _without_nothing(counted), kind
    assert not RevenueEntry.objects.filter(account_id=None).exists(), "money of nobody"


def _without_nothing(sums: Any) -> dict[str, int]:
    return {currency: cents for currency, cents in sums.items() if cents}


def nothing_waits() -> None:
    waiting = StripeEvent.objects.filter(done_at=None)
    assert not waiting.exists(), list(waiting.values_list("type", "error_code"))


def no_crash() -> None:
    """After each step: whatever comes, it is understood, or refused by a code."""
    crashed = StripeEvent.objects.filter(error_code="crashed")
    assert not crashed.exists(), list(crashed.values_list("type", flat=True))


def state(now: datetime) -> dict[str, Any]:
    """All that plans and payment left in the database, comparable between two histories."""
    leave = ("id", "fetched_at", "posted_at", "created_at", "account_id", "subscription_id")
    kept: dict[str, Any] = {}
    for name, rows in (
        ("subscriptions", Subscription.objects.order_by("stripe_id")),
        ("invoices", Invoice.objects.order_by("stripe_id")),
        ("revenue", RevenueEntry.objects.order_by("effect_key")),
        ("events", StripeEvent.objects.order_by("event_id")),
    ):
        kept[name] = [{key: value for key, value in row.items() if key not in leave} for row in rows.values()]
    for row in kept["events"]:
        for each in ("received_at", "done_at", "attempts", "outcome", "source"):
            del row[each]
    kept["plans"] = [plans.plan_of(each, now).name for each in Account.objects.order_by("name")]
    return kept

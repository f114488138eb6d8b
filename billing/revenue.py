"""What plans earn: read side of the ledger of money and of subscriptions. Never writes.

    earned(start, end)     money that moved: paid, refunds, disputes, fees, by plan or by account
    mrr(), churn(…), conversion(…)    by subscriptions
    nanousd(…)             minor units of several currencies as our own nano-dollars; None without a rate

Amounts are whole minor units by currency; nothing is added up across currencies but by EXCHANGE_RATES.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal, InvalidOperation

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from billing import stripe_client
from billing.amounts import places
from billing.entitlements import ACCESS, Access
from billing.models import Account, Checkout, RevenueEntry, Subscription
from billing.plans import YEAR

NANO = 1_000_000_000
MONTHS_A_YEAR = 12
PAYING = [status for status, access in ACCESS.items() if access is not Access.OFF]
Amounts = Mapping[str, int]  # currency -> minor units


@dataclass(frozen=True, slots=True)
class Earned:
    """Signed, by currency. net: what Stripe's balance grew by."""

    paid: Amounts = field(default_factory=dict)
    refunded: Amounts = field(default_factory=dict)
    disputed: Amounts = field(default_factory=dict)
    fees: Amounts = field(default_factory=dict)

    @property
    def net(self) -> dict[str, int]:
        return total([self.paid, self.refunded, self.disputed, self.fees])


@dataclass(frozen=True, slots=True)
class Share:
    """part of `of`; no figure where `of` is 0."""

    part: int
    of: int

    @property
    def percent(self) -> float | None:
        return 100 * self.part / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Recurring:
    """What one month brings, before discounts, tax and fees. subscriptions: that are paid for."""

    subscriptions: int
    cents: Amounts


# --- Money that moved -------------------------------------------------------------------------------------------------


def earned(start: datetime | None = None, end: datetime | None = None) -> Earned:
    """Of [start, end); without them, ever."""
    return _grouped(start, end).get("", Earned())


def by_plan(start: datetime, end: datetime) -> dict[str, Earned]:
    """ "" where the plan is not known."""
    return _grouped(start, end, "plan")


def by_account(start: datetime, end: datetime, accounts: Iterable[uuid.UUID] | None = None) -> dict[uuid.UUID, Earned]:
    """Of all accounts, or of those."""
    found = _grouped(start, end, "account_id", None if accounts is None else Q(account_id__in=list(accounts)))
    return {uuid.UUID(key): value for key, value in found.items() if key}


def _grouped(start: datetime | None, end: datetime | None, by: str = "", only: Q | None = None) -> dict[str, Earned]:
    rows = RevenueEntry.objects.filter(only or Q(), livemode=stripe_client.livemode())
    rows = rows.filter(at__gte=start) if start is not None else rows
    rows = rows.filter(at__lt=end) if end is not None else rows
    names = (by,) if by else ()
    sums: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows.values(*names, "kind", "currency").annotate(cents=Sum("amount_cents")).order_by():
        sums[str(row[by] or "") if by else ""][row["kind"]][row["currency"]] = row["cents"]
    kinds = RevenueEntry.Kind
    return {
        key: Earned(found[kinds.PAID], found[kinds.REFUND], found[kinds.DISPUTE], found[kinds.FEE])
        for key, found in sums.items()
    }


def total(amounts: Iterable[Amounts]) -> dict[str, int]:
    """Each currency by itself."""
    sums: dict[str, int] = defaultdict(int)
    for each in amounts:
        for currency, cents in each.items():
            sums[currency] += cents
    return dict(sums)


# --- Subscriptions ----------------------------------------------------------------------------------------------------


def mrr(*, at: datetime, plan: str | None = None) -> Recurring:
    """Monthly recurring revenue by what is subscribed to now: a year's price counts by its twelfth, rounded down once
    for each currency. Not of those that end, or whose price is paused."""
    rows = _paying(at).filter(cancels_at=None, paused=False)
    rows = rows.filter(plan=plan) if plan is not None else rows
    twelfths: dict[str, int] = defaultdict(int)
    for interval, currency, cents in rows.values_list("interval", "currency", "amount_cents"):
        twelfths[currency] += cents * (1 if interval == YEAR else MONTHS_A_YEAR)
    return Recurring(rows.count(), {currency: cents // MONTHS_A_YEAR for currency, cents in twelfths.items()})


def _paying(at: datetime) -> "QuerySet[Subscription]":
    rows = Subscription.objects.filter(livemode=stripe_client.livemode(), started_at__lte=at).exclude(plan="")
    return rows.filter(status__in=PAYING)


def churn(start: datetime, end: datetime) -> Share:
    """Of the accounts that were paying at `start`: those whose plan ended in [start, end), and who have none now."""
    rows = Subscription.objects.filter(livemode=stripe_client.livemode(), started_at__lt=start).exclude(plan="")
    rows = rows.exclude(status__in=["incomplete", "incomplete_expired"])
    paying = rows.filter(Q(ended_at=None) | Q(ended_at__gte=start)).values("account").distinct()
    left = rows.filter(ended_at__gte=start, ended_at__lt=end).exclude(account__in=_paying(end).values("account"))
    return Share(left.values("account").distinct().count(), paying.count())


def conversion(start: datetime, end: datetime) -> Share:
    """Of the accounts made in [start, end): those that ever paid for a plan."""
    made = Account.objects.filter(created_at__gte=start, created_at__lt=end, internal=False)
    bought = Subscription.objects.filter(account=OuterRef("pk"), livemode=stripe_client.livemode()).exclude(plan="")
    bought = bought.exclude(status__in=["incomplete", "incomplete_expired"])
    return Share(made.filter(Exists(bought)).count(), made.count())


def checkouts(start: datetime, end: datetime) -> Share:
    """Of the payment pages opened in [start, end): those that were paid."""
    opened = Checkout.objects.filter(created_at__gte=start, created_at__lt=end, livemode=stripe_client.livemode())
    return Share(opened.filter(status=Checkout.Status.COMPLETE).count(), opened.count())


# --- As our own money -------------------------------------------------------------------------------------------------


def exchange_rates() -> dict[str, Decimal]:
    """Dollars for one unit. Raises ValueError for a setting that says something else."""
    rates = {"usd": Decimal(1)}
    for each in settings.EXCHANGE_RATES:
        currency, _equals, rate = each.partition("=")
        try:
            rates[currency.strip().lower()] = Decimal(rate.strip())
        except InvalidOperation:
            raise ValueError("not a rate") from None
    if any(len(currency) != 3 or not rate.is_finite() or rate <= 0 for currency, rate in rates.items()):
        raise ValueError("not a rate")
    return rates


def nanousd(amounts: Amounts) -> int | None:
    """None where a currency has no rate: an unknown price is never 0. Rounded once, down."""
    rates = exchange_rates()
    if any(currency not in rates for currency, cents in amounts.items() if cents):
        return None
    parts = (rates[each] * Decimal(cents).scaleb(-places(each)) * NANO for each, cents in amounts.items() if cents)
    return int(sum(parts, Decimal(0)).to_integral_value(ROUND_FLOOR))

"""What one of each costs: a day of an active user, a check, 1,000 tokens, an experiment; and what a plan earns.

    units(…)       ratios, each with its n; no figure where n is 0
    plans(…)       cost by plan, beside its revenue once there is any; margins(…) the same by account
    padding(…)     the part of rented work that multiplied padding, and what that cost
    quality(…)     what the live version's stored report says of mistakes, to stand beside its cost

Read side. Only this floor sees activity, revenue and GPU costs at the same time.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Sum

from billing import revenue
from billing.models import Account
from billing.plans import plan_of
from detector.activity import ActiveDay
from gpujobs import dashboard, registry, reports, spending, throughput
from gpujobs.models import AccountQuarter, CostEntry, Service
from gpujobs.spending import Cell
from inkcloak.errors import Unavailable

MILLION = 10**6
THOUSAND = 1000
NOBODY = ""  # the plan of what is no account's
INTERNAL = "internal"  # our own account's, which is none


@dataclass(frozen=True, slots=True)
class Ratio:
    """nanousd for `n` things, told for `per` of them."""

    nanousd: int
    n: int
    per: int = 1

    @property
    def value(self) -> int | None:
        """Nano-dollars, rounded to the nearest; None where there was none to divide by."""
        return (2 * self.nanousd * self.per + self.n) // (2 * self.n) if self.n else None


@dataclass(frozen=True, slots=True)
class Units:
    """user: everything that was spent, by active users and days.  check: inference, by all checks.  text, tokens: of
    those that rented machines scored.  experiment: training and benchmarks, by how many there were."""

    user: Ratio
    check: Ratio
    text: Ratio
    tokens: Ratio
    experiment: Ratio


@dataclass(frozen=True, slots=True)
class PlanCost:
    """accounts: that cost anything.  revenue: after Stripe's fees; None where nothing came in yet.  NOBODY: visitors,
    idle time, training."""

    name: str
    accounts: int
    nanousd: int
    revenue: int | None = None

    @property
    def margin(self) -> int | None:
        return None if self.revenue is None else self.revenue - self.nanousd


@dataclass(frozen=True, slots=True)
class AccountMargin:
    """plan: that it has now.  revenue: after Stripe's fees; None in a currency without a rate."""

    account_id: uuid.UUID
    plan: str
    nanousd: int
    revenue: int | None

    @property
    def margin(self) -> int | None:
        return None if self.revenue is None else self.revenue - self.nanousd


@dataclass(frozen=True, slots=True)
class Waste:
    """share: of multiplied tokens, by the `runs` that told it.  nanousd: that share of what execution cost."""

    share: float
    runs: int
    nanousd: int


@dataclass(frozen=True, slots=True)
class Quality:
    """max_fpr: the operating point.  groups: (name in the report, its figures)."""

    version: str
    max_fpr: float
    groups: tuple[tuple[str, dict[str, Any]], ...]


def units(found: Sequence[Cell], active: Iterable[ActiveDay], start: datetime, end: datetime) -> Units:
    """All four of the same days."""
    days = list(active)
    texts, tokens = throughput.rented_work(start, end)
    inference = spending.total(cell for cell in found if cell.service == Service.INFERENCE)
    experiments, cost = throughput.experiments(found)
    return Units(
        user=Ratio(spending.total(found), sum(day.users for day in days)),
        check=Ratio(inference, sum(day.checks for day in days)),
        text=Ratio(inference, texts),
        tokens=Ratio(inference, tokens, THOUSAND),
        experiment=Ratio(cost, experiments),
    )


def plans(start: datetime, end: datetime) -> list[PlanCost]:
    """The dearest first. An account's costs count for the plan that it has now."""
    rows = AccountQuarter.objects.filter(start__gte=start, start__lt=end)
    sums: dict[uuid.UUID, int] = dict(rows.values_list("account_id").annotate(Sum("amount_nanousd")).order_by())
    known = {
        account.pk: INTERNAL if account.internal else plan_of(account).name
        for account in Account.objects.filter(pk__in=sums)
    }
    money: dict[str, int] = defaultdict(int)
    accounts: dict[str, int] = defaultdict(int)
    for account_id, nanousd in sums.items():
        plan = known.get(account_id, NOBODY)  # also where an account is deleted
        money[plan] += int(nanousd)
        accounts[plan] += plan != NOBODY
    brought = _revenue(start, end)
    for plan in brought:
        money[plan] += 0  # a plan that costs nothing may bring something
    found = [PlanCost(plan, accounts[plan], nanousd, brought.get(plan)) for plan, nanousd in money.items()]
    return sorted(found, key=lambda each: (-each.nanousd, each.name))


def _revenue(start: datetime, end: datetime) -> dict[str, int | None]:
    """What each plan brought after refunds, disputes and Stripe's fees, in nano-dollars. Money counts for the plan that
    it was paid for. No figure for a plan with money in a currency that has no rate."""
    return {plan: revenue.nanousd(earned.net) for plan, earned in revenue.by_plan(start, end).items() if plan}


def margins(start: datetime, end: datetime) -> list[AccountMargin]:
    """Of each account that cost or brought anything, the smallest margin first; those without a figure last."""
    rows = AccountQuarter.objects.filter(start__gte=start, start__lt=end)
    costs: dict[uuid.UUID, int] = dict(rows.values_list("account_id").annotate(Sum("amount_nanousd")).order_by())
    earned = revenue.by_account(start, end)
    known = Account.objects.filter(pk__in={*costs, *earned}, internal=False)
    found = [
        AccountMargin(
            account.pk,
            plan_of(account).name,
            int(costs.get(account.pk, 0)),
            revenue.nanousd(earned[account.pk].net) if account.pk in earned else 0,
        )
        for account in known
    ]
    return sorted(found, key=lambda each: (each.margin is None, each.margin or 0, str(each.account_id)))


def padding(found: Iterable[Cell], start: datetime, end: datetime) -> Waste | None:
    """By the newest runs of that time; None where none told it."""
    told = dashboard.padding(dashboard.told_padding(start, end))
    if told is None:
        return None
    execution = spending.total(cell for cell in found if cell.kind == CostEntry.Kind.EXECUTION)
    return Waste(told.share, told.runs, execution * round(told.share * MILLION) // MILLION)


def live_version() -> str | None:
    """Who answers now."""
    try:
        return str(registry.resolve().version)
    except Unavailable:
        return None


def quality(version: str | None) -> Quality | None:
    """None where there is no version, or no report of it."""
    report = reports.find(version) if version else None
    if report is None or version is None:
        return None
    groups = report.figures["headline"]
    return Quality(version, float(report.figures["default_max_fpr"]), tuple(groups.items()))

"""How a budget stands: spent (a sum of the ledger), held, and what that leaves. Reads only.

An unreadable budget is an error and never "nothing spent": whoever asks then refuses.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db import Error, transaction
from django.db.models import Sum
from django.utils.translation import gettext_lazy as _

from gpujobs import budget_rows, ledger, periods
from gpujobs.models import AccountQuarter, Budget, BudgetOverride
from gpujobs.periods import Span
from inkcloak.errors import Unavailable

OK, SOFT, HARD = "ok", "soft", "hard"


class Unreadable(Unavailable):
    """Nobody can tell what was spent. budget: the name of the row that is at fault, if it is one."""

    def __init__(self, budget: str = "") -> None:
        super().__init__("budget_unreadable", _("A GPU budget can't be read at the moment, so no GPU work is started."))
        self.budget = budget


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """In nano-dollars. extra: what the staff let go on top of the hard limit, until it ends."""

    budget: Budget
    span: Span
    spent: int
    held: int
    extra: int = 0

    @property
    def limit(self) -> int:
        return self.budget.hard_nanousd + self.extra

    @property
    def left(self) -> int:
        return max(0, self.limit - self.spent - self.held)

    @property
    def resets_at(self) -> datetime:
        return self.span.end

    def fits(self, amount: int) -> bool:
        """Whether so much more may be begun."""
        return self.spent + self.held + amount <= self.limit

    def state(self, next_amount: int = 0) -> str:
        """hard: the next work, of `next_amount`, would not fit beside what is spent; what is only held comes back."""
        if self.spent >= self.limit or self.spent + next_amount > self.limit:
            return HARD
        soft = self.budget.soft_nanousd
        return OK if soft is None or self.spent < soft else SOFT


def read(budgets: Collection[Budget], now: datetime) -> list[BudgetStatus]:
    """In their order. Raises Unreadable."""
    if not budgets:
        return []
    with readable():
        extra = extra_of(budgets, now)
        spent = _spent_by_accounts(budgets, now)
        return [_read(budget, now, extra.get(budget.pk, 0), spent.get(budget.pk, 0)) for budget in budgets]


def extra_of(budgets: Collection[Budget], now: datetime) -> dict[int, int]:
    """Budget id -> nano-dollars of its last override, while that runs."""
    last = BudgetOverride.objects.filter(budget__in=budgets).order_by("budget_id", "-id").distinct("budget_id")
    return {override.budget_id: override.extra_nanousd for override in last if override.until > now}


def full_accounts(account_ids: Collection[uuid.UUID], amount: int, now: datetime) -> frozenset[uuid.UUID]:
    """Which of these accounts have a budget of their own without room for `amount`, or one that can't be read.

    A few statements for all of them. Raises Unreadable where not even the budgets can be.
    """
    if not account_ids:
        return frozenset()
    with readable():
        budget_rows.ensure(account_ids)
        mine = list(Budget.objects.filter(scope=Budget.Scope.ACCOUNT, active=True, account_id__in=list(account_ids)))
    try:
        return frozenset(_full(read(mine, now), amount))
    except Unreadable:
        return frozenset(account for budget in mine for account in _full_or_unreadable(budget, amount, now))


def worst(statuses: Iterable[BudgetStatus], amount: int) -> BudgetStatus | None:
    """The one without room that is free again last; None where all have room."""
    return max((each for each in statuses if not each.fits(amount)), key=lambda each: each.resets_at, default=None)


def of_service(service: str, now: datetime, account_ids: Collection[uuid.UUID] = ()) -> list[BudgetStatus]:
    """Each budget that work of this service falls under; rows that the settings ask for are made. Raises Unreadable."""
    with readable():
        budget_rows.ensure(account_ids)
        return read(list(budget_rows.applying(service, account_ids)), now)


@contextmanager
def readable() -> Iterator[None]:
    """Whatever goes wrong inside is Unreadable; the caller's transaction lives on."""
    try:
        with transaction.atomic():
            yield
    except (Error, LookupError, ValueError, OverflowError) as error:  # also a zone that there is none of
        raise Unreadable from error


def _read(budget: Budget, now: datetime, extra: int, of_account: int) -> BudgetStatus:
    span = _span(budget, now)
    if budget.scope == Budget.Scope.ACCOUNT:
        spent = of_account
    elif budget.scope == Budget.Scope.SERVICE:
        spent = ledger.spent(span.start, span.end, service=budget.service)
    else:
        spent = ledger.spent(span.start, span.end)
    return BudgetStatus(budget, span, spent, budget.held_nanousd, extra)


def _span(budget: Budget, now: datetime) -> Span:
    try:
        return periods.span_of(budget.period, budget.zone, now)
    except (LookupError, ValueError) as error:  # no such zone
        raise Unreadable(budget.name) from error


def _spent_by_accounts(budgets: Collection[Budget], now: datetime) -> dict[int, int]:
    """Budget id -> nano-dollars: one statement for all accounts whose budgets have the same period."""
    together: dict[Span, list[Budget]] = defaultdict(list)
    for budget in budgets:
        if budget.scope == Budget.Scope.ACCOUNT:
            together[_span(budget, now)].append(budget)
    found: dict[int, int] = {}
    for span, group in together.items():
        ids = [budget.account_id for budget in group if budget.account_id]
        quarters = AccountQuarter.objects.filter(account_id__in=ids, start__gte=span.start, start__lt=span.end)
        sums = dict(quarters.values_list("account_id").annotate(Sum("amount_nanousd")))
        found |= {budget.pk: int(sums.get(budget.account_id, 0)) for budget in group}
    return found


def _full(statuses: Iterable[BudgetStatus], amount: int) -> Iterator[uuid.UUID]:
    for status in statuses:
        if status.budget.account_id and not status.fits(amount):
            yield status.budget.account_id


def _full_or_unreadable(budget: Budget, amount: int, now: datetime) -> list[uuid.UUID]:
    try:
        return list(_full(read([budget], now), amount))
    except Unreadable:
        return [budget.account_id] if budget.account_id else []

"""Which budgets there are: rows. The first ones are made from the settings, on the first use at the latest.

A row is made once. After that it is what counts, whatever the settings say: limits are changed in the admin or by
`manage.py budgets --set`. One that was switched off stays off: its name is taken.
"""

import uuid
from collections.abc import Collection, Iterator
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet

from gpujobs.models import Budget, Service

PERIODS = tuple(Budget.Period)


def applying(service: str, account_ids: Collection[uuid.UUID] = ()) -> "QuerySet[Budget]":
    """Active budgets that work of this service, for these accounts, falls under: in the order of locking."""
    mine = Q(scope=Budget.Scope.GLOBAL) | Q(scope=Budget.Scope.SERVICE, service=service)
    if account_ids:
        mine |= Q(scope=Budget.Scope.ACCOUNT, account_id__in=list(account_ids))
    return Budget.objects.filter(mine, active=True).order_by("scope", "id")


def ensure(account_ids: Collection[uuid.UUID] = ()) -> int:
    """Makes what the settings ask for and is not there yet; returns how many rows were missing. Racing is harmless:
    whoever comes second waits for the first and finds the rows."""
    asked = {budget.name: budget for budget in _from_settings(account_ids)}
    if not asked:
        return 0
    there = Budget.objects.filter(name__in=asked).values_list("name", flat=True)
    missing = sorted(asked.keys() - set(there))  # in one order: two that make them never wait in a circle
    if missing:
        Budget.objects.bulk_create([asked[name] for name in missing], ignore_conflicts=True)
    return len(missing)


def make_first(**_signal: Any) -> None:
    """After a migration: a receiver of post_migrate. Accounts' own ones are made when they first have work."""
    ensure()


def name_of(scope: str, period: str, *, service: str = "", account_id: uuid.UUID | None = None) -> str:
    """ "global-month", "training-day", "account-<id>-day": what makes a budget be made once."""
    whose = {Budget.Scope.SERVICE: service, Budget.Scope.ACCOUNT: f"account-{account_id}"}.get(
        Budget.Scope(scope), "global"
    )
    return f"{whose}-{period}"


def built(
    scope: str, period: str, hard_nanousd: int, *, service: str = "", account_id: uuid.UUID | None = None
) -> Budget:
    """Not stored. The warning comes at BUDGET_SOFT_PERCENT of the limit."""
    return Budget(
        name=name_of(scope, period, service=service, account_id=account_id),
        scope=scope,
        service=service,
        account_id=account_id,
        period=period,
        zone=settings.BUDGET_ZONE,
        soft_nanousd=soft_of(hard_nanousd),
        hard_nanousd=hard_nanousd,
    )


def soft_of(hard_nanousd: int) -> int:
    """Where a limit warns, unless somebody says otherwise."""
    return hard_nanousd * int(settings.BUDGET_SOFT_PERCENT) // 100


def per_account() -> bool:
    """Whether any account has a budget of its own, or would get one."""
    if any(settings.BUDGETS_NANOUSD.get(f"account-{period}") is not None for period in PERIODS):
        return True
    return Budget.objects.filter(scope=Budget.Scope.ACCOUNT, active=True).exists()


def _from_settings(account_ids: Collection[uuid.UUID]) -> Iterator[Budget]:
    for period in PERIODS:
        if (limit := settings.BUDGETS_NANOUSD.get(f"global-{period}")) is not None:
            yield built(Budget.Scope.GLOBAL, period, limit)
        for service in Service.values:
            if (limit := settings.BUDGETS_NANOUSD.get(f"{service}-{period}")) is not None:
                yield built(Budget.Scope.SERVICE, period, limit, service=service)
        if (limit := settings.BUDGETS_NANOUSD.get(f"account-{period}")) is not None:
            for account_id in account_ids:
                yield built(Budget.Scope.ACCOUNT, period, limit, account_id=account_id)

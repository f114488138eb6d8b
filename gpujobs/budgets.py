"""Reserve, settle and release nano-dollars that GPUs may cost. PostgreSQL decides, under row locks in one order.

    reserve     holds a worst case in every budget that a run falls under, or raises UsedUp
    settle      its real cost is in the ledger: what was held is let go
    release     it never began, and cost nothing
    expire      nobody came back: let go; what it did cost is posted and counted all the same
    would_pass  the same question without holding anything
    status      for pages and alerts

What is spent is never counted here: it is a sum of the ledger over a local day or month. `settle` runs in the
transaction that posts a run's entries, so that its money is either held or spent, and at no moment both or neither.
Everybody locks budgets by (scope, id), and a reservation before its budgets.
"""

import uuid
from collections import Counter
from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from gpujobs import budget_reading, budget_rows, budget_words
from gpujobs.budget_reading import BudgetStatus, Unreadable
from gpujobs.models import Budget, BudgetReservation, GpuRun
from inkcloak.errors import Exhausted
from inkcloak.lifecycle import advance

__all__ = ["BudgetStatus", "Unreadable", "UsedUp", "expire", "release", "reserve", "settle", "status", "would_pass"]

EXPIRED_AT_ONCE = 200
Held = BudgetReservation.Status.HELD


class UsedUp(Exhausted):
    """status: of the budget that has no room, and is the last to have it again."""

    def __init__(self, status: BudgetStatus, now: datetime) -> None:
        seconds = max(1, int((status.resets_at - now).total_seconds()))
        super().__init__("budget_used_up", budget_words.used_up(status), retry_after=seconds)
        self.status_of_budget = status


@transaction.atomic
def reserve(
    *,
    run: GpuRun | None,
    service: str,
    amount_nanousd: int,
    account_ids: Collection[uuid.UUID] = (),
    now: datetime,
    expires: datetime,
) -> BudgetReservation | None:
    """Holds `amount_nanousd` for the run; None where no budget is set, and then nothing is locked.

    account_ids: whose texts it works on; each of their own budgets holds the whole amount until it is settled.
    Raises UsedUp where one has no room, Unreadable where nobody can tell. Call it last in the transaction that makes
    the run: the budgets stay locked until that ends.
    """
    if amount_nanousd < 0:
        raise ValueError("a reservation is negative")
    with budget_reading.readable():
        budget_rows.ensure(account_ids)
        locked = list(budget_rows.applying(service, account_ids).select_for_update())
    full = budget_reading.worst(budget_reading.read(locked, now), amount_nanousd)
    if full is not None:
        raise UsedUp(full, now)
    if not locked:
        return None
    made = BudgetReservation.objects.create(run=run, service=service, amount_nanousd=amount_nanousd, expires_at=expires)
    made.budgets.add(*locked)
    _hold({budget.pk: amount_nanousd for budget in locked})
    return made


def settle(*run_ids: uuid.UUID) -> int:
    """Lets go what was held for runs whose entries were posted. How many still held: settling twice changes nothing.

    Many at once lock in one order; whoever settles one after the other in one transaction may meet another in a circle.
    """
    return _end(Q(run__in=run_ids), BudgetReservation.Status.SETTLED)


def release(run_id: uuid.UUID) -> bool:
    """Of a run that was never handed over. False if it was ended before, or held nothing."""
    return bool(_end(Q(run=run_id), BudgetReservation.Status.RELEASED))


def release_reservation(reservation: BudgetReservation) -> bool:
    """The same for one that was made without a run."""
    return bool(_end(Q(pk=reservation.pk), BudgetReservation.Status.RELEASED))


def expire(now: datetime) -> int:
    """Lets go what nobody came back for; returns how many. A run that still works, by its lease, keeps its money."""
    working = Q(run__status__in=GpuRun.IN_FLIGHT, run__lease_expires_at__gte=now)
    due = BudgetReservation.objects.filter(status=Held, expires_at__lte=now).exclude(working)
    ids = list(due.order_by("expires_at").values_list("pk", flat=True)[:EXPIRED_AT_ONCE])
    return sum(_end(Q(pk=pk), BudgetReservation.Status.EXPIRED) for pk in ids)


def would_pass(
    service: str, amount_nanousd: int, *, account_ids: Collection[uuid.UUID] = (), now: datetime | None = None
) -> Budget | None:
    """The budget that so much more work of this service would pass; None where all have room.

    For work that can be stopped on its way, as a rollout: ask with what it will still cost. Raises Unreadable.
    """
    statuses = budget_reading.of_service(service, now or timezone.now(), account_ids)
    full = budget_reading.worst(statuses, amount_nanousd)
    return full.budget if full else None


def status(now: datetime, *, accounts: bool = False) -> list[BudgetStatus]:
    """Every active budget, accounts' own ones only where asked for. Raises Unreadable."""
    with budget_reading.readable():
        budget_rows.ensure()
        rows = Budget.objects.filter(active=True).order_by("scope", "id")
        return budget_reading.read(list(rows if accounts else rows.exclude(scope=Budget.Scope.ACCOUNT)), now)


@transaction.atomic
def _end(which: Q, to: str) -> int:
    held = BudgetReservation.objects.filter(which, status=Held).order_by("pk").select_for_update(of=("self",))
    mine = list(held.prefetch_related("budgets"))
    if not mine:
        return 0
    amounts: Counter[int] = Counter()
    for reservation in mine:
        for budget in reservation.budgets.all():
            amounts[budget.pk] -= reservation.amount_nanousd
    advance(BudgetReservation.objects.filter(pk__in=[each.pk for each in mine]), to)
    list(Budget.objects.filter(pk__in=amounts).order_by("scope", "id").select_for_update().values_list("pk"))
    _hold(amounts)
    return len(mine)


def _hold(amounts: dict[int, int]) -> None:
    """More, or less, of budgets that are locked: one statement for each amount."""
    for amount in set(amounts.values()):
        those = [pk for pk, each in amounts.items() if each == amount]
        Budget.objects.filter(pk__in=those).update(held_nanousd=F("held_nanousd") + amount)

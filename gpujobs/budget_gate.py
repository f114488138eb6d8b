"""The door between the queue and the rented GPU: may another batch begin, and with what held for it.

    shut            why none may; None where nothing is in the way
    full_accounts   whose texts may not, as their account's own budget has no room for a batch
    hold            reserves for a batch that begins: the last word, under locks

All three ask for the same worst case, so that a door that is open lets somebody through. Where there are no budgets
nothing is estimated, asked of the ledger or locked. Work on this machine's CPU never comes here.
"""

import logging
import uuid
from collections.abc import Collection
from datetime import datetime

from gpujobs import budget_reading, budget_rows, budgets, estimates
from gpujobs.budget_reading import Unreadable
from gpujobs.budgets import UsedUp
from gpujobs.estimates import UnknownPrice
from gpujobs.models import BudgetReservation, GpuRun, Service
from inkcloak.errors import DomainError

log = logging.getLogger(__name__)
SERVICE = Service.INFERENCE
REFUSALS = (UsedUp, Unreadable, UnknownPrice)


def shut(now: datetime, account_ids: Collection[uuid.UUID] = ()) -> DomainError | None:
    """UsedUp (its message names budget and time), Unreadable, UnknownPrice, or None. Never raises.

    account_ids: whose own budgets are asked too.
    """
    try:
        statuses = budget_reading.of_service(SERVICE, now, account_ids)
        full = budget_reading.worst(statuses, estimates.batch_nanousd(now)) if statuses else None
    except (Unreadable, UnknownPrice) as error:
        log.error("no GPU work: %s", error.code)
        return error
    return UsedUp(full, now) if full else None


def per_account() -> bool:
    """Whether any account has a budget of its own."""
    return budget_rows.per_account()


def full_accounts(account_ids: Collection[uuid.UUID], now: datetime) -> frozenset[uuid.UUID]:
    """Of these. Raises Unreadable and UnknownPrice."""
    if not account_ids or not per_account():
        return frozenset()
    return budget_reading.full_accounts(account_ids, estimates.batch_nanousd(now), now)


def hold(
    run: GpuRun, *, account_ids: Collection[uuid.UUID], now: datetime, expires: datetime
) -> BudgetReservation | None:
    """Raises UsedUp, Unreadable and UnknownPrice: then the batch may not begin. None where there are no budgets."""
    with budget_reading.readable():
        budget_rows.ensure(account_ids)
        any_budget = budget_rows.applying(SERVICE, account_ids).exists()
    if not any_budget:
        return None
    return budgets.reserve(
        run=run,
        service=SERVICE,
        amount_nanousd=estimates.batch_nanousd(now),
        account_ids=account_ids,
        now=now,
        expires=expires,
    )

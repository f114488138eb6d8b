"""What an account has used: read only."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from billing.accounts import Owner, allowance_of
from billing.models import Account, Meter, WordEntry
from billing.plans import plan_of
from billing.quota import Balance


@dataclass(frozen=True, slots=True)
class Words:
    """Of one month. used + held + left = limit, unless the limit was lowered below what is taken."""

    limit: int
    used: int
    held: int
    left: int
    period_start: datetime
    resets_at: datetime

    @property
    def balance(self) -> Balance:
        return Balance(self.limit, self.left, Meter.Unit.WORDS, self.resets_at)


@dataclass(frozen=True, slots=True)
class Usage:
    plan: str
    plan_version: int
    words: Words


def of(account: Account, *, now: datetime) -> Usage:
    """This month's words; an account that checked nothing yet has no meter, and everything left."""
    allowance = allowance_of(Owner(account=account), now)
    meter = Meter.objects.filter(
        holder=allowance.holder, unit=allowance.unit, period_start=allowance.period_start
    ).first()
    used, held = (meter.used, meter.held) if meter else (0, 0)
    words = Words(
        limit=allowance.limit,
        used=used,
        held=held,
        left=max(0, allowance.limit - used - held),
        period_start=allowance.period_start,
        resets_at=allowance.period_end,
    )
    plan = plan_of(account, now)
    return Usage(plan.name, plan.version, words)


def entries(account: Account, *, kind: str = "", check_id: str = "") -> "QuerySet[WordEntry]":
    """The account's ledger, unordered; `kind` and `check_id` narrow it."""
    rows = WordEntry.objects.filter(account=account)
    if kind:
        rows = rows.filter(kind=kind)
    return rows.filter(check_id=check_id) if check_id else rows

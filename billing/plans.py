"""Plans: the table of plans.toml, and which of them an account has now.

    table()            every plan and version          current()         the newest version of each, cheapest first
    get(name, version) one of them                     plan_of(account)  what quota, limits and pages go by

plan_of asks no database: subscriptions write what an account is entitled to into its row (`billing.subscriptions`).
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from billing.models import Account

TABLE = Path(__file__).with_name("plans.toml")
FREE = "free"
MONTH, YEAR = "month", "year"
INTERVALS = (MONTH, YEAR)
CURRENCIES = ("usd", "eur")
LOOKUP_PREFIX = "inkcloak"


@dataclass(frozen=True, slots=True)
class Plan:
    """prices: (interval, currency) -> minor units, before tax; empty for what is not sold.  rank: its place in the
    table, dearer plans higher."""

    name: str
    words_per_month: int
    requests_per_minute: int
    version: int = 1
    file_mb: int = 10
    seats: int = 1
    retention_days: int = 90
    api: bool = True
    webhooks: bool = True
    rank: int = 0
    prices: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        return not self.prices

    def lookup_key(self, interval: str, currency: str) -> str:
        """The name of one price at Stripe: "inkcloak_pro_v1_month_usd"."""
        return f"{LOOKUP_PREFIX}_{self.name}_v{self.version}_{interval}_{currency}"


INTERNAL = Plan("internal", words_per_month=10**12, requests_per_minute=10**6)


@cache
def table() -> tuple[Plan, ...]:
    """Every version of every plan, as written, the cheapest plan first."""
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["plan"]
    names = list(dict.fromkeys(row["name"] for row in rows))
    return tuple(_plan(row, names.index(row["name"])) for row in rows)


def _plan(row: dict[str, Any], rank: int) -> Plan:
    prices = {
        (interval, currency): cents
        for interval, by_currency in row.pop("prices", {}).items()
        for currency, cents in by_currency.items()
    }
    return Plan(**row, rank=rank, prices=prices)


def current() -> list[Plan]:
    """What is offered now: the highest version of each plan, Free as the settings have it."""
    newest: dict[str, Plan] = {}
    for plan in table():
        if plan.name not in newest or plan.version > newest[plan.name].version:
            newest[plan.name] = plan
    return [_as_set(plan) for plan in newest.values()]


def get(name: str, version: int | None = None) -> Plan | None:
    """That version, or the newest; None for a plan that never was."""
    if version is None:
        return next((plan for plan in current() if plan.name == name), None)
    found = next((plan for plan in table() if (plan.name, plan.version) == (name, version)), None)
    return None if found is None else _as_set(found)


def free() -> Plan:
    found = get(FREE)
    if found is None:
        raise LookupError("plans.toml has no free plan")
    return found


def _as_set(plan: Plan) -> Plan:
    """An installation may give other amounts away for nothing than we do; who pays never has less time for it."""
    if plan.name != FREE:
        return replace(plan, retention_days=max(plan.retention_days, settings.ACCOUNT_RETENTION_DAYS))
    return replace(
        plan,
        words_per_month=settings.FREE_WORDS_PER_MONTH,
        requests_per_minute=settings.API_REQUESTS_PER_MINUTE,
        retention_days=settings.ACCOUNT_RETENTION_DAYS,
    )


def plan_of(account: Account, now: datetime | None = None) -> Plan:
    """What this account may do at `now`, by its own row: until `plan_until`, and after that what follows it.

    Our own account has no limit.
    """
    if account.internal:
        return INTERNAL
    ended = account.plan_until is not None and account.plan_until <= (now or timezone.now())
    name, version = (
        (account.next_plan_name, account.next_plan_version) if ended else (account.plan_name, account.plan_version)
    )
    return get(name, version) or free()

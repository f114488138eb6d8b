"""`manage.py budgets`: what each budget has spent, holds and allows; `--set WHOSE PERIOD DOLLARS` sets a limit.

WHOSE: global, inference, training, benchmark, or an account's id. `off` in the place of the dollars switches one off.
"""

import uuid
from datetime import datetime
from typing import Any, NamedTuple

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from gpujobs import auditing, budget_changes, budget_gate, budget_rows, budgets, estimates
from gpujobs.budget_reading import BudgetStatus, Unreadable
from gpujobs.models import Budget, Service
from inkcloak import money
from inkcloak.errors import DomainError

OFF = "off"


class Whose(NamedTuple):
    scope: str
    service: str = ""
    account_id: uuid.UUID | None = None


class Command(BaseCommand):
    help = "Show budgets: spent, held, limit, and when they are free again; --set changes one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--set",
            nargs=3,
            action="append",
            default=[],
            metavar=("WHOSE", "PERIOD", "DOLLARS"),
            help='as in --set global month 25, or "off"; makes the budget if there is none; may be repeated',
        )
        parser.add_argument("--reason", default="", help="why, for the audit log; needed with --set")
        parser.add_argument("--accounts", action="store_true", help="also the accounts' own budgets")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for whose, period, dollars in options["set"]:
                self.stdout.write(_set(_whose(whose), period, dollars, options["reason"]))
            self._show(accounts=options["accounts"])
        except Unreadable as error:
            raise CommandError(f"{error.message} At fault: {error.budget or 'the database'}") from None
        except DomainError as error:
            raise CommandError(f"{error.code}: {error.message}") from None

    def _show(self, *, accounts: bool) -> None:
        now = timezone.now()
        statuses = budgets.status(now, accounts=accounts)
        if not statuses:
            self.stdout.write("No budget is set: nothing limits what GPUs cost (docs/budgets.md).")
            return
        width = max(len(status.budget.name) for status in statuses)
        self.stdout.write(f"{'budget':<{width}}  {'spent':>12}  {'held':>12}  {'limit':>12}  state  free again")
        for status in statuses:
            self.stdout.write(f"{status.budget.name:<{width}}  {_line(status, now)}")
        refusal = budget_gate.shut(now)
        self.stdout.write(f"Checks on GPUs: {refusal.message if refusal else 'may begin'}")


def _line(status: BudgetStatus, now: datetime) -> str:
    amounts = "  ".join(f"{money.exact(amount):>12}" for amount in (status.spent, status.held, status.limit))
    extra = f", {money.exact(status.extra)} of it by an override" if status.extra else ""
    state = status.state(estimates.next_amount(status.budget, now))
    return f"{amounts}  {state:<5}  {status.resets_at:%Y-%m-%d %H:%M} UTC{extra}"


def _whose(word: str) -> Whose:
    if word == "global":
        return Whose(Budget.Scope.GLOBAL)
    if word in Service.values:
        return Whose(Budget.Scope.SERVICE, service=word)
    try:
        return Whose(Budget.Scope.ACCOUNT, account_id=uuid.UUID(word))
    except ValueError:
        raise CommandError(f"{word}: global, {', '.join(Service.values)}, or an account's id") from None


def _set(whose: Whose, period: str, dollars: str, reason: str) -> str:
    if period not in Budget.Period.values:
        raise CommandError(f"{period}: {' or '.join(Budget.Period.values)}")
    there = Budget.objects.filter(
        scope=whose.scope, service=whose.service, account_id=whose.account_id, period=period
    ).order_by("-active", "-id")
    budget = there.first()
    who: dict[str, Any] = {"actor": auditing.COMMAND, "reason": reason}
    if dollars == OFF:
        if budget is None:
            raise CommandError("There is no such budget.")
        budget_changes.change(budget, active=False, **who)
        return f"{budget.name}: off"
    try:
        limit = money.parse(dollars)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if budget is None:
        budget = budget_changes.make(**whose._asdict(), period=period, hard_nanousd=limit, **who)
    else:
        soft = budget_rows.soft_of(limit)
        budget = budget_changes.change(budget, hard_nanousd=limit, soft_nanousd=soft, active=True, **who)
    return f"{budget.name}: {money.exact(limit)}"

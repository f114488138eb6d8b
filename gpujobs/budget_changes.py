"""What people do to budgets: make one, change its limits, let work go on past it for a while. Each is audited.

The admin and `manage.py budgets` are the two ways in. A refusal is Invalid, and says what is wrong.
"""

import uuid
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from gpujobs import auditing, budget_rows
from gpujobs.models import AuditEntry, Budget, BudgetOverride
from inkcloak.errors import Invalid

LONGEST_OVERRIDE = timedelta(days=31)
CHANGEABLE = ("soft_nanousd", "hard_nanousd", "zone", "active")


@transaction.atomic
def make(
    *,
    scope: str,
    period: str,
    hard_nanousd: int,
    actor: str,
    reason: str,
    service: str = "",
    account_id: uuid.UUID | None = None,
) -> Budget:
    """Its warning comes at BUDGET_SOFT_PERCENT. Raises Invalid where there is one of its kind."""
    budget = budget_rows.built(scope, period, hard_nanousd, service=service, account_id=account_id)
    check(budget, reason)
    try:
        with transaction.atomic():
            budget.save(force_insert=True)
    except IntegrityError:
        raise Invalid("budget_exists", _("There is a budget of that kind already: change that one.")) from None
    action = AuditEntry.Action.BUDGET_MADE
    auditing.note(action, budget.name, actor=actor, reason=reason, after=_values(budget))
    return budget


@transaction.atomic
def change(budget: Budget, *, actor: str, reason: str, **values: Any) -> Budget:
    """values: of CHANGEABLE. Under the lock that reservations take, so that a lower limit counts from the next on."""
    if unknown := values.keys() - set(CHANGEABLE):
        raise TypeError(f"not changeable: {sorted(unknown)}")
    locked = Budget.objects.select_for_update().get(pk=budget.pk)
    before = _values(locked)
    for name, value in values.items():
        setattr(locked, name, value)
    check(locked, reason)
    after = _values(locked)
    differing = [name for name in after if after[name] != before[name]]
    if not differing:
        return locked
    try:
        with transaction.atomic():
            locked.save(update_fields=differing)
    except IntegrityError:
        raise Invalid("budget_exists", _("There is a budget of that kind already: change that one.")) from None
    auditing.note(
        AuditEntry.Action.BUDGET_CHANGED,
        locked.name,
        actor=actor,
        reason=reason,
        before={name: before[name] for name in differing},
        after={name: after[name] for name in differing},
    )
    return locked


@transaction.atomic
def override(
    budget: Budget, *, extra_nanousd: int, until: datetime, actor: str, reason: str, now: datetime, user_id: Any = None
) -> BudgetOverride:
    """So much on top of the hard limit until a moment; the last one counts, and one of 0 takes it back."""
    check_override(extra_nanousd, until, now)
    check(budget, reason)
    made = BudgetOverride.objects.create(
        budget=budget, extra_nanousd=extra_nanousd, until=until, reason=reason, made_by_id=user_id
    )
    auditing.note(
        AuditEntry.Action.BUDGET_OVERRIDDEN,
        budget.name,
        actor=actor,
        reason=reason,
        after={"extra_nanousd": extra_nanousd, "until": until.isoformat()},
    )
    return made


def check(budget: Budget, reason: str) -> None:
    """Raises Invalid for what would make no sense, stored or not."""
    if not reason.strip():
        raise _invalid(_("Say why: it is kept in the audit log."))
    if budget.hard_nanousd < 0:
        raise _invalid(_("A limit is not negative."))
    if budget.soft_nanousd is not None and not 0 <= budget.soft_nanousd <= budget.hard_nanousd:
        raise _invalid(_("The warning comes at the limit or below it."))
    try:
        ZoneInfo(budget.zone)
    except (LookupError, ValueError):
        raise _invalid(_("There is no such time zone: take an IANA name, as in Europe/Madrid.")) from None
    _check_scope(budget)


def check_override(extra_nanousd: int, until: datetime, now: datetime) -> None:
    """Raises Invalid."""
    if extra_nanousd < 0:
        raise _invalid(_("An override adds to the limit; to lower it, change the budget."))
    if not now < until <= now + LONGEST_OVERRIDE:
        raise _invalid(_("An override ends within 31 days from now."))


def _values(budget: Budget) -> dict[str, Any]:
    return {name: getattr(budget, name) for name in CHANGEABLE}


def _check_scope(budget: Budget) -> None:
    if (budget.scope == Budget.Scope.SERVICE) != bool(budget.service):
        raise _invalid(_("A service is named for a service's budget, and only there."))
    if (budget.scope == Budget.Scope.ACCOUNT) != (budget.account_id is not None):
        raise _invalid(_("An account is named for an account's budget, and only there."))


def _invalid(message: str | Promise) -> Invalid:
    return Invalid("bad_budget", message)

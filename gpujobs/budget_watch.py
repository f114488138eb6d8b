"""What happens by itself when a budget comes to a limit: a notice, once a period, and no worker kept warm.

notice      rows for alerts and pages, and a line in the log
keep_floor  min workers of the endpoint: 0 while no budget lets inference go on, as settings say otherwise
"""

import logging
from collections.abc import Iterator
from datetime import datetime

from django.conf import settings

from gpujobs import auditing, budget_reading, budgets, estimates
from gpujobs.budget_gate import SERVICE
from gpujobs.budget_reading import HARD, OK, BudgetStatus
from gpujobs.models import AuditEntry, BudgetNotice
from gpujobs.providers.runpod_rest import RunpodError, RunpodRest
from inkcloak.errors import DomainError

log = logging.getLogger(__name__)
STOPPED, RESTORED = AuditEntry.Action.WORKERS_STOPPED, AuditEntry.Action.WORKERS_RESTORED


def notice(now: datetime) -> list[BudgetNotice]:
    """The new ones. A budget that jumps past both limits at once gets the one of the hard limit alone."""
    return [made for status in budgets.status(now, accounts=True) for made in _notice(status, now)]


def keep_floor(now: datetime, rest: RunpodRest | None = None) -> AuditEntry | None:
    """The change, if one was needed and RunPod took it; otherwise the next turn tries again.

    Where the settings keep no worker warm there is nothing to do, and RunPod is not asked. A budget that can't be read
    changes nothing here.
    """
    if not (settings.RUNPOD_WORKERS_MIN and settings.RUNPOD_ENDPOINT_ID and settings.RUNPOD_API_KEY):
        return None
    try:
        statuses = budget_reading.of_service(SERVICE, now)
    except DomainError:
        return None
    full = next((each for each in statuses if each.state(estimates.next_amount(each.budget, now)) == HARD), None)
    last = AuditEntry.objects.filter(action__in=(STOPPED, RESTORED)).first()
    if full is None and (last is None or last.action == RESTORED):
        return None
    own = rest or RunpodRest.from_settings()
    try:
        return _set_floor(own, 0 if full else settings.RUNPOD_WORKERS_MIN, full.budget.name if full else "")
    except RunpodError as error:
        log.error("min workers not changed: %s", error.code)
        return None
    finally:
        if rest is None:
            own.close()


def _set_floor(rest: RunpodRest, wanted: int, budget: str) -> AuditEntry | None:
    endpoint = rest.endpoint(settings.RUNPOD_ENDPOINT_ID)
    workers = dict(endpoint.fields.get("workers") or {})
    before = workers.get("min")
    if before != wanted:
        rest.change_endpoint(endpoint.id, {"workers": workers | {"min": wanted}})
    elif not wanted:
        return None  # stopped before
    action, why = (RESTORED, "there is room again") if wanted else (STOPPED, f"{budget} is used up")
    log.warning("endpoint %s: min workers %s -> %d: %s", endpoint.id, before, wanted, why)
    return auditing.note(
        action, endpoint.id, actor=auditing.SYSTEM, reason=why, before={"min": before}, after={"min": wanted}
    )


def _notice(status: BudgetStatus, now: datetime) -> Iterator[BudgetNotice]:
    state = status.state(estimates.next_amount(status.budget, now))
    if state == OK:
        return
    made, new = BudgetNotice.objects.get_or_create(
        budget=status.budget,
        period_start=status.span.start,
        level=state,
        defaults={
            "resets_at": status.resets_at,
            "spent_nanousd": status.spent,
            "limit_nanousd": status.limit if state == HARD else status.budget.soft_nanousd or 0,
            "at": now,
        },
    )
    if new:
        log.warning("budget %s: %s limit reached", status.budget.name, state)
        yield made

"""What people read about budgets, in their language: a budget's name, when it is free again, and why nothing starts."""

from zoneinfo import ZoneInfo

from django.utils import formats
from django.utils.functional import Promise, lazy
from django.utils.translation import gettext, gettext_lazy

from gpujobs.budget_reading import BudgetStatus
from gpujobs.models import Budget, Service

_NAMES: dict[tuple[str, str], str | Promise] = {
    (Budget.Scope.GLOBAL, Budget.Period.DAY): gettext_lazy("all GPU work of a day"),
    (Budget.Scope.GLOBAL, Budget.Period.MONTH): gettext_lazy("all GPU work of a month"),
    (Budget.Scope.ACCOUNT, Budget.Period.DAY): gettext_lazy("GPU work of an account in a day"),
    (Budget.Scope.ACCOUNT, Budget.Period.MONTH): gettext_lazy("GPU work of an account in a month"),
    (Service.INFERENCE, Budget.Period.DAY): gettext_lazy("checks on GPUs in a day"),
    (Service.INFERENCE, Budget.Period.MONTH): gettext_lazy("checks on GPUs in a month"),
    (Service.TRAINING, Budget.Period.DAY): gettext_lazy("training in a day"),
    (Service.TRAINING, Budget.Period.MONTH): gettext_lazy("training in a month"),
    (Service.BENCHMARK, Budget.Period.DAY): gettext_lazy("benchmarks in a day"),
    (Service.BENCHMARK, Budget.Period.MONTH): gettext_lazy("benchmarks in a month"),
}

STATES: dict[str, str | Promise] = {
    "ok": gettext_lazy("enough"),
    "soft": gettext_lazy("past the warning"),
    "hard": gettext_lazy("used up"),
}


def name(budget: Budget) -> str | Promise:
    """What the budget is for."""
    of = budget.service if budget.scope == Budget.Scope.SERVICE else budget.scope
    return _NAMES.get((of, budget.period), budget.name)


def when(status: BudgetStatus) -> str:
    """The moment when the next period begins, by the budget's own clock: "Dec. 1, 2026, midnight (UTC)"."""
    local = status.resets_at.astimezone(ZoneInfo(status.budget.zone))
    return f"{formats.date_format(local, 'DATETIME_FORMAT')} ({status.budget.zone})"


def _used_up(status: BudgetStatus) -> str:
    message = gettext("The budget for %(budget)s is used up. GPU work starts again on %(time)s.")
    return message % {"budget": name(status.budget), "time": when(status)}


used_up = lazy(_used_up, str)

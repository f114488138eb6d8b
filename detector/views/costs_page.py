"""What the page about costs shows, put together from the read side. Reads only.

Each block asks for its own rows, all of them sums; `context` is the whole page.
"""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q
from django.urls import reverse

from billing.models import Account
from detector import activity, unit_costs
from detector.views import costs_charts as charts
from detector.views import costs_tables as tables
from detector.views import costs_words as words
from detector.views.costs_question import Question
from detector.views.costs_week import named
from gpujobs import budget_words, budgets, costing, date_ranges, forecasting, ledger, spending, throughput
from gpujobs.alerts import rules, showing, telling
from gpujobs.budgets import BudgetStatus
from gpujobs.date_ranges import DateRange, today_of
from gpujobs.forecasting import Forecast
from gpujobs.models import AccountQuarter, Budget, BudgetNotice
from gpujobs.spending import Cell
from inkcloak import money

TOP = 10  # accounts
NOTICES_SINCE = timedelta(days=7)
NOTICES = 10
LINES = "staff:costs_lines"
PARAMETER = {"version": "model_version"}  # of the address, where it is not the side's own name


def context(asked: Question) -> dict[str, Any]:
    """asked.days: of the page.  The forecast is of the running month, whatever is asked."""
    earlier = asked.earlier
    found, before = spending.cells(asked.days), spending.cells(earlier.days, earlier.end)
    active = activity.days(asked.days)
    earlier_units = unit_costs.units(before, activity.days(earlier.days, earlier.end), earlier.days.start, earlier.end)
    units = unit_costs.units(found, active, asked.days.start, asked.end)
    statuses, unreadable = _budgets(asked)
    total, total_before = spending.total(found), spending.total(before)
    return {
        "asked": asked,
        "periods": [(name, text, name == asked.name) for name, text in words.PERIODS.items()],
        "total": money.shown(total),
        "before": money.shown(total_before),
        "change": tables.change(total, total_before),
        "earlier": earlier,
        "users": round(sum(day.users for day in active) / len(active)),
        "per_user": tables.ratio(units.user),
        "per_check": tables.ratio(units.check),
        "unreadable": unreadable,
        "notices": _notices(asked),
        "alerts": _alerts(asked),
        "uncosted": costing.uncosted(asked.now)[: TOP + 1].count(),
        "units": tables.units(units, earlier_units),
        **_days(asked, found),
        **_month(asked, statuses),
        **_people(found, active),
        **_sides(asked, found, before),
        **_machines(asked, found),
        "plans": tables.plans(unit_costs.plans(asked.days.start, asked.end)),
        "budgets": _budget_table(statuses),
    }


def _alerts(asked: Question) -> list[dict[str, Any]]:
    """What fires now; of budgets the notices tell."""
    firing = [alert for alert in showing.now_firing(asked.now) if alert.rule not in rules.OF_BUDGETS]
    return [{"id": alert.pk, "at": alert.raised_at, "title": telling.title(alert)} for alert in firing[:NOTICES]]


def link(asked: Question, **more: str) -> str:
    return f"{reverse(LINES)}?{asked.query(**more)}"


def _days(asked: Question, found: tuple[Cell, ...]) -> dict[str, Any]:
    days, bills = spending.by_day(found, asked.days), spending.bills(asked.days)
    links = {day: f"{reverse(LINES)}?{asked.of_day(day)}" for day in asked.days.days}
    confirmed = spending.confirmed(found, bills, asked.days)
    spent = [day for day in days if day.kinds]
    return {
        "spent": charts.stacked(days, links.__getitem__),
        "by_day": tables.by_day(days, confirmed, links),
        "bills": tables.bills(bills) if bills else None,
        "reconciled": len(confirmed),
        "estimated": len(spent) - len(confirmed),
        "delta": money.shown(sum(bill.delta for bill in bills)),
    }


# --- The month ----------------------------------------------------------------------------------------------


def _month(asked: Question, statuses: Iterable[BudgetStatus]) -> dict[str, Any]:
    """Its budget: the one of all GPU work; whose month may be another zone's, which the table says."""
    zone, now = asked.days.zone, asked.now
    today = today_of(zone, now)
    days = DateRange(today.replace(day=1), today, zone)
    last = date_ranges.month_end(today)
    sums = {day.day: day.total for day in spending.by_day(spending.cells(days), days)}
    so_far = sum(sums.values())
    found = _forecast(asked, today, last, so_far)
    at, path = 0, []
    for day, amount in sums.items():
        at += amount
        path.append((day, at))
    whole = [
        status
        for status in statuses
        if status.budget.scope == Budget.Scope.GLOBAL and status.budget.period == Budget.Period.MONTH
    ]
    hard = whole[0].limit if whole else None
    soft = whole[0].budget.soft_nanousd if whole else None
    over = bool(found and hard is not None and found.expected > hard)
    return {
        "month": charts.month(path, found, last, soft, hard),
        "forecast": tables.forecast(so_far, found, whole),
        "expected": None if found is None else money.shown(found.expected),
        "over_budget": over,
    }


def _forecast(asked: Question, today: date, last: date, so_far: int) -> Forecast | None:
    zone = asked.days.zone
    begun = spending.first_day(zone)
    if begun is None or begun >= today:
        return None
    first = max(begun, today - forecasting.LONGEST_HISTORY * date_ranges.ONE_DAY)
    days = DateRange(first, today - date_ranges.ONE_DAY, zone)
    history = {day.day: day.total for day in spending.by_day(spending.cells(days), days)}
    left = date_ranges.start_of(today + date_ranges.ONE_DAY, zone) - asked.now
    return forecasting.month_end(
        history, so_far, today=today, left_seconds=max(0, int(left.total_seconds())), last=last
    )


def _budgets(asked: Question) -> tuple[list[BudgetStatus], str]:
    try:
        return budgets.status(asked.now), ""
    except budgets.Unreadable as error:
        return [], str(error.message)


def _budget_table(statuses: Iterable[BudgetStatus]) -> tables.Table:
    known = list(statuses)
    names = {status.budget.pk: str(budget_words.name(status.budget)) for status in known}
    return tables.budgets(known, names, {status.budget.pk: budget_words.when(status) for status in known})


def _notices(asked: Question) -> list[dict[str, Any]]:
    """Limits that were reached lately."""
    rows = BudgetNotice.objects.filter(at__gte=asked.now - NOTICES_SINCE).select_related("budget")[:NOTICES]
    return [
        {
            "at": row.at,
            "budget": budget_words.name(row.budget),
            "level": budget_words.STATES[row.level],
            "spent": money.shown(row.spent_nanousd),
            "limit": money.shown(row.limit_nanousd),
        }
        for row in rows
    ]


# --- Whose, of what, on what --------------------------------------------------------------------------------


def _people(found: Iterable[Cell], active: list[activity.ActiveDay]) -> dict[str, Any]:
    sums: dict[date, int] = {}
    for cell in found:
        sums[cell.day] = sums.get(cell.day, 0) + cell.nanousd
    per_user = {day.day: unit_costs.Ratio(sums.get(day.day, 0), day.users).value for day in active}
    return {
        "activity": tables.activity(active, per_user),
        "users_drawn": charts.bars(str(words.USERS_BY_DAY), [(day.day, day.users) for day in active], lambda n: f"{n}"),
        "per_user_drawn": charts.bars(str(words.PER_USER_BY_DAY), list(per_user.items()), money.shown),
    }


def _sides(asked: Question, found: tuple[Cell, ...], before: tuple[Cell, ...]) -> dict[str, Any]:
    boards = []
    for side in spending.SIDES:
        now = spending.by(side, found)
        names = {value: named(side, value) for value, _ in now}
        links = {value: link(asked, **{PARAMETER.get(side, side): value}) for value, _ in now}
        earlier = dict(spending.by(side, before))
        boards.append(tables.compared(str(words.SIDES[side]), now, earlier, names, links))
    return {"sides": boards, "accounts": _accounts(asked)}


def _accounts(asked: Question) -> tables.Table:
    earlier = asked.earlier
    now = spending.accounts(asked.days.start, asked.days.end, TOP)
    ids = [each.account_id for each in now]
    before = {account: ledger.spent(earlier.days.start, earlier.end, account_id=account) for account in ids}
    known = dict(Account.objects.filter(pk__in=ids).values_list("pk", "name"))
    names = {
        str(each): str(words.NOBODY if each == AccountQuarter.UNALLOCATED else known.get(each, words.GONE))
        for each in ids
    }
    return tables.compared(
        str(words.TOP_ACCOUNTS),
        [(str(each.account_id), each.nanousd) for each in now],
        {str(account): amount for account, amount in before.items()},
        names,
        {str(each): link(asked, account=str(each)) for each in ids},
    )


def _machines(asked: Question, found: tuple[Cell, ...]) -> dict[str, Any]:
    start, end = asked.days.start, asked.end
    local = Q(backend=throughput.LOCAL)
    report = unit_costs.quality(unit_costs.live_version())
    return {
        "parts": tables.parts(spending.parts(found)),
        "devices": tables.devices(throughput.devices(start, end, found)),
        "speed": tables.speed(
            throughput.latency(start, end, ~local),
            throughput.latency(start, end, local),
            unit_costs.padding(found, start, end),
        ),
        "quality": None if report is None else tables.quality(report),
    }


def days_address(asked: Question) -> str:
    return f"{reverse('staff:costs_days_csv')}?{asked.query()}"


def with_choice(asked: Question, chosen: dict[str, str]) -> str:
    """The same lines, as a file or on another page."""
    return f"{asked.query()}&{urlencode(chosen)}" if chosen else asked.query()

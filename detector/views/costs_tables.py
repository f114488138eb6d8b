"""Tables of the pages about costs. Pure; the partial `costs_table.html` writes them, a row's name as a link.

Every ratio says what it was divided by, and is a dash where that is zero.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from detector.activity import ActiveDay
from detector.templatetags.ink import rate, share, whole
from detector.unit_costs import PlanCost, Quality, Ratio, Units, Waste
from detector.views import accuracy_names, accuracy_tables
from detector.views import costs_words as words
from detector.views.accuracy_tables import NONE, Cell
from detector.views.gpu_figures import time
from gpujobs import budget_words
from gpujobs.budget_reading import BudgetStatus
from gpujobs.forecasting import Forecast
from gpujobs.spending import Bill, Day, Parts
from gpujobs.throughput import Device, Latency
from inkcloak import money


@dataclass(frozen=True, slots=True)
class Row:
    """note: small, below the name.  href: where the name leads; "" for nowhere."""

    name: str
    cells: tuple[Cell, ...]
    note: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """columns: heads, the first over the names of the rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


# --- Cells --------------------------------------------------------------------------------------------------


def amount(nanousd: int | None) -> Cell:
    return Cell(NONE if nanousd is None else money.shown(nanousd))


def part(nanousd: int, total: int) -> Cell:
    return Cell(share(nanousd / total) if total > 0 and nanousd >= 0 else NONE)


def ratio(value: Ratio) -> Cell:
    """With what it was divided by."""
    return Cell(NONE if value.value is None else money.shown(value.value), (f"n = {whole(value.n)}",))


def change(now: int, before: int) -> str:
    """+12 %; a dash where there was nothing before."""
    if before <= 0:
        return NONE
    percent = round(100 * (now - before) / before)
    number = number_format(abs(percent), 0, force_grouping=True)
    return f"{'+' if percent > 0 else '−' if percent < 0 else '±'}{number}\u202f%"


def day_name(day: date) -> str:
    return date_format(day, "D j M")


# --- Money --------------------------------------------------------------------------------------------------


def by_day(days: Sequence[Day], confirmed: set[date], links: Mapping[date, str]) -> Table:
    """Each day with its kinds; estimated or reconciled below its name."""
    kinds = [kind for kind in words.KINDS if any(day.kinds.get(kind) for day in days)]
    rows = []
    for day in reversed(days):
        mark = "" if not day.kinds else words.RECONCILED if day.day in confirmed else words.ESTIMATED
        cells = (amount(day.total), *(amount(day.kinds.get(kind, 0)) for kind in kinds))
        rows.append(Row(day_name(day.day), cells, str(mark), links[day.day] if day.kinds else ""))
    heads = tuple(str(words.KINDS[kind]).capitalize() for kind in kinds)
    return Table(_("Spent by day"), (_("Day"), _("Together"), *heads), tuple(rows))


def compared(
    name: str,
    now: Sequence[tuple[str, int]],
    before: Mapping[str, int],
    names: Mapping[str, str],
    links: Mapping[str, str],
) -> Table:
    """One side of the sum, held against the days before."""
    together = sum(nanousd for _value, nanousd in now)
    rows = [
        Row(
            names.get(value, value),
            (
                amount(nanousd),
                part(nanousd, together),
                amount(before.get(value, 0)),
                Cell(change(nanousd, before.get(value, 0))),
            ),
            href=links.get(value, ""),
        )
        for value, nanousd in now
    ]
    columns = (name, _("Spent"), _("Share"), _("Before"), _("Change"))
    return Table(name, columns, tuple(rows))


def parts(found: Parts) -> Table:
    """Used, cold and idle: of machine time, not of storage and adjustments."""
    sides = (
        (_("used"), found.used, found.used_ms),
        (_("cold starts"), found.cold, found.cold_ms),
        (_("idle time"), found.idle, found.idle_ms),
    )
    rows = [
        Row(name, (amount(nanousd), part(nanousd, found.machines), hours(ms), part(ms, found.machines_ms)))
        for name, nanousd, ms in sides
    ]
    rows.append(Row(_("storage and adjustments"), (amount(found.other), Cell(NONE), Cell(NONE), Cell(NONE))))
    columns = (_("Machine time"), _("Spent"), _("Share"), _("Hours"), _("Share of hours"))
    return Table(_("Used, cold and idle"), columns, tuple(rows))


def hours(milliseconds: int) -> Cell:
    return Cell(number_format(round(milliseconds / 3_600_000, 2), 2, force_grouping=True))


def bills(found: Iterable[Bill]) -> Table:
    columns = (_("Day (UTC)"), _("Estimated"), _("Billed"), _("Delta"))
    rows = [
        Row(
            day_name(bill.day),
            (
                amount(bill.estimated),
                amount(bill.billed),
                Cell(money.shown(bill.delta), (change(bill.billed, bill.estimated),)),
            ),
            f"{bill.provider}, {words.SERVICES.get(bill.service, bill.service)}",
        )
        for bill in found
    ]
    return Table(_("Bills: what we thought, and what the provider asked"), columns, tuple(rows))


def forecast(so_far: int, found: Forecast | None, month: Sequence[BudgetStatus]) -> Table:
    rows = [Row(_("Spent so far"), (amount(so_far),))]
    if found is None:
        rows.append(Row(_("Forecast of the month"), (Cell(NONE, (_("less than two weeks of history"),), wraps=True),)))
    else:
        rests = _("n = %(n)s days") % {"n": whole(found.days)}
        band = f"{money.shown(found.low)} – {money.shown(found.high)}"
        rows.append(Row(_("Forecast of the month"), (Cell(money.shown(found.expected), (rests,)),)))
        rows.append(Row(_("8 of 10 such months"), (Cell(band),)))
    for status in month:
        rows.append(Row(_("Budget of the month"), (Cell(money.shown(status.limit), (status.budget.zone,)),)))
    return Table(_("This month"), (_("Figure"), _("Amount")), tuple(rows))


def budgets(found: Iterable[BudgetStatus], names: Mapping[int, str], resets: Mapping[int, str]) -> Table:
    columns = (_("Budget"), _("Spent"), _("Held"), _("Limit"), _("Left"), _("State"))
    rows = []
    for status in found:
        pk = status.budget.pk
        state = str(budget_words.STATES[status.state()])
        cells = (status.spent, status.held, status.limit, status.left)
        again = _("again from %(time)s") % {"time": resets[pk]}
        rows.append(Row(names[pk], (*map(amount, cells), Cell(state)), again, f"/staff/gpujobs/budget/{pk}/change/"))
    return Table(_("Budgets"), columns, tuple(rows))


# --- People and unit costs ----------------------------------------------------------------------------------


def activity(days: Sequence[ActiveDay], per_user: Mapping[date, int | None]) -> Table:
    columns = (
        _("Day"),
        _("Active users"),
        _("Spent for each"),
        _("Accounts"),
        _("People signed in"),
        _("Visitors"),
        _("Checks"),
    )
    rows = [
        Row(
            day_name(day.day),
            (
                Cell(whole(day.users)),
                amount(per_user[day.day]),
                *(Cell(whole(n)) for n in (day.accounts, day.people, day.visitors, day.checks)),
            ),
        )
        for day in reversed(days)
    ]
    return Table(_("Active users by day"), columns, tuple(rows))


def units(now: Units, before: Units) -> Table:
    """n of each is named below it."""
    lines = (
        (_("a day of an active user"), _("all spending; n: users, each day anew"), now.user, before.user),
        (_("a check"), _("checks; n: all of them, also the CPU's"), now.check, before.check),
        (_("a text on a rented GPU"), _("checks; n: texts scored there"), now.text, before.text),
        (_("1,000 tokens on a rented GPU"), _("checks; n: tokens scored there"), now.tokens, before.tokens),
        (_("an experiment"), _("training and benchmarks; n: of both"), now.experiment, before.experiment),
    )
    rows = [Row(name, (ratio(new), ratio(old), _change(new, old)), note) for name, note, new, old in lines]
    return Table(_("What one costs"), (_("One"), _("Now"), _("Before"), _("Change")), tuple(rows))


def _change(now: Ratio, before: Ratio) -> Cell:
    return Cell(NONE if now.value is None or before.value is None else change(now.value, before.value))


def plans(found: Iterable[PlanCost]) -> Table:
    rows = [
        Row(
            str(words.PLANS.get(plan.name, plan.name.capitalize())),
            (
                amount(plan.nanousd),
                Cell(whole(plan.accounts) if plan.name else NONE),
                amount(plan.revenue),
                amount(plan.margin),
            ),
        )
        for plan in found
    ]
    return Table(
        _("By plan"), (_("Customer plan"), _("GPU cost"), _("Accounts"), _("Revenue"), _("Margin")), tuple(rows)
    )


# --- Machines, speed and quality ------------------------------------------------------------------------------


def devices(found: Iterable[Device]) -> Table:
    columns = (_("Device"), _("Occupied"), _("Texts an hour"), _("Tokens a second"), _("Hours"), _("Spent"))
    rows = [
        Row(
            device.gpu_type or _("CPU (this machine)"),
            (
                Cell(share(device.occupancy)),
                Cell(NONE if device.texts_per_hour is None else whole(round(device.texts_per_hour))),
                Cell(NONE if device.tokens_per_second is None else whole(round(device.tokens_per_second))),
                hours(device.paid_ms or device.worked_ms),
                amount(device.nanousd if device.gpu_type else None),
            ),
            ngettext("%(n)s run", "%(n)s runs", device.runs) % {"n": whole(device.runs)},
        )
        for device in found
    ]
    return Table(_("Occupancy and throughput"), columns, tuple(rows))


def speed(rented: Latency, local: Latency, waste: Waste | None) -> Table:
    rows = [
        Row(name, (Cell(time(found.p50)), Cell(time(found.p95)), Cell(whole(found.n))))
        for name, found in ((_("rented GPU"), rented), (_("CPU (this machine)"), local))
    ]
    if waste is not None:
        told = (_("%(money)s of work") % {"money": money.shown(waste.nanousd)},)
        rows.append(Row(_("padding"), (Cell(rate(waste.share), told), Cell(NONE), Cell(whole(waste.runs)))))
    else:
        rows.append(Row(_("padding"), (Cell(NONE), Cell(NONE), Cell("0"))))
    return Table(_("Latency of runs, and padding"), (_("Where"), _("Median"), "p95", _("Runs")), tuple(rows))


def quality(found: Quality) -> Table:
    rows = [
        Row(accuracy_names.group(key), (accuracy_tables.flagged(figures), accuracy_tables.caught(figures)))
        for key, figures in found.groups
    ]
    columns = (_("Texts"), _("People flagged (FPR)"), _("AI caught (TPR)"))
    return Table(_("Quality of %(version)s at its limit") % {"version": found.version}, columns, tuple(rows))

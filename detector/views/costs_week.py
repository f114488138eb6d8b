"""The week's report in words and tables, for its page and its mail. Pure but for asking what things are called."""

from datetime import timedelta
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from detector.views import costs_charts, costs_tables
from detector.views import costs_words as words
from detector.views.accuracy_tables import caught, flagged
from detector.weekly import Told, Week
from gpujobs import spending
from gpujobs.changes import Side
from inkcloak import money

TOLD_SIDES = ("kind", "service", "version", "gpu_type")


def context(week: Week) -> dict[str, Any]:
    """What both templates show."""
    days = spending.by_day(week.cells, week.days)
    sides = [_side(week, side) for side in TOLD_SIDES]
    return {
        "week": week,
        "monday": week.days.first.isoformat(),
        "from": date_format(week.days.first, "DATE_FORMAT"),
        "to": date_format(week.days.last, "DATE_FORMAT"),
        "zone": week.days.zone,
        "total": money.shown(week.total),
        "before": money.shown(week.earlier_total),
        "change": costs_tables.change(week.total, week.earlier_total),
        "users": round(sum(day.users for day in week.active) / len(week.active)),
        "spent": costs_charts.stacked(days, lambda _day: ""),
        "sides": sides,
        "units": costs_tables.units(week.units, week.earlier_units),
        "changes": [_told(told) for told in week.changes],
        "previous_week": (week.days.first - timedelta(days=7)).isoformat(),
        "next_week": (week.days.first + timedelta(days=7)).isoformat() if week.days.end <= week.now else "",
    }


def _side(week: Week, side: str) -> costs_tables.Table:
    found = spending.by(side, week.cells)
    names = {value: named(side, value) for value, _amount in found}
    return costs_tables.compared(str(words.SIDES[side]), found, dict(spending.by(side, week.earlier_cells)), names, {})


def named(side: str, value: str) -> str:
    """One value of a side of the sum, as people read it."""
    if side == "kind":
        return str(words.KINDS.get(value, value))
    if side == "service":
        return str(words.SERVICES.get(value, value))
    if value:
        return value
    return str(words.NO_GPU if side == "gpu_type" else words.NO_VERSION)


def _told(told: Told) -> dict[str, Any]:
    """A change as sentences: what, why, and what 1,000 tokens cost before and after it."""
    change = told.change
    found = {"at": change.at, "sort": words.CHANGES[change.sort], "says": change.says, "reason": change.reason}
    lines = []
    if told.effect is not None:
        before, after = told.effect.before, told.effect.after
        costs = _("1,000 tokens: %(before)s in the 7 days before, %(after)s in the %(n)s days since.")
        since = max(1, round((after.end - after.start) / timedelta(days=1)))
        lines.append(costs % {"before": _per_1000(before), "after": _per_1000(after), "n": since})
        if before.per_1000 and after.per_1000 is not None:
            lines.append(_("Cost: %(change)s.") % {"change": costs_tables.change(after.per_1000, before.per_1000)})
        else:
            lines.append(_("Too little was scored on rented GPUs to tell what it did to cost."))
    if change.sort == "alias":
        lines.append(_quality(told))
    return found | {"who": change.who, "lines": lines}


def _per_1000(side: Side) -> str:
    """ "$0.0012 (n = 1,200 tokens)", or a dash."""
    from detector.templatetags.ink import whole

    amount = "–" if side.per_1000 is None else money.shown(side.per_1000)
    return _("%(amount)s (n = %(n)s tokens)") % {"amount": amount, "n": whole(side.tokens)}


def _quality(told: Told) -> str:
    """The first group of both reports: English texts from new sources."""
    if told.before is None or told.after is None:
        return _("No stored reports of both versions: nobody can say here what it did to quality.")
    (_name, before), (_same, after) = told.before.groups[0], told.after.groups[0]
    says = _("People flagged: %(fpr0)s before, %(fpr1)s now; AI caught: %(tpr0)s before, %(tpr1)s now.")
    return says % {
        "fpr0": flagged(before).main,
        "fpr1": flagged(after).main,
        "tpr0": caught(before).main,
        "tpr1": caught(after).main,
    }

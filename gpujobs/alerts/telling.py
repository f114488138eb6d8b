"""An alert in words, in the reader's language: what, against what, since when, where, what changed lately, what comes.

`told` puts everything together from the row; changes are read anew, so that both languages can be written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.conf import settings
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gpujobs import budget_words, changes, date_ranges
from gpujobs.alerts import reading, rules, series
from gpujobs.alerts.series import Series
from gpujobs.changes import Change
from gpujobs.models import Alert, Budget
from inkcloak import money

CHANGES_BEFORE = timedelta(days=2)  # of the beginning: what was changed then may be why
MOST_CHANGES = 5
Words = str | Promise
SERVICES: dict[str, Words] = {
    "inference": gettext_lazy("Checks on GPUs"),
    "training": gettext_lazy("Training"),
    "benchmark": gettext_lazy("Benchmarks"),
}
KINDS: dict[str, Words] = {
    "idle": gettext_lazy("Idle time of workers"),
    "cold_start": gettext_lazy("Cold starts"),
    "storage": gettext_lazy("Storage"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """title: one line.  lines: the rest.  link: path and query of what is behind it."""

    title: str
    lines: tuple[str, ...]
    link: str


def told(alert: Alert, lately: Sequence[Change] | None = None) -> Told:
    """lately: changes of around that time, where they are known already."""
    found = changes_of(alert) if lately is None else [each for each in lately if _is_near(each, alert)]
    lines = [_since(alert), *_top(alert), *_idle(alert), *_forecast(alert), *_changes(found[:MOST_CHANGES], alert)]
    return Told(title(alert), tuple(lines), link(alert))


def title(alert: Alert) -> str:
    says = _TITLES[alert.rule]
    return str(says) % {
        "what": name(series.parse(alert.series)),
        "actual": money.shown(alert.actual_nanousd),
        "expected": money.shown(alert.expected_nanousd),
        "hours": alert.hours,
    }


_TITLES: dict[str, Words] = {
    rules.HOURS: gettext_lazy("%(what)s: %(actual)s in %(hours)s hours, where %(expected)s is ordinary"),
    rules.DAY: gettext_lazy("%(what)s: %(actual)s in %(hours)s hours, where %(expected)s is ordinary"),
    rules.WEEK: gettext_lazy("%(what)s: a slow rise, %(actual)s in six days, where %(expected)s is ordinary"),
    rules.FORGOTTEN: gettext_lazy("A machine costs money, and no run works on it: %(what)s, %(actual)s in %(hours)s h"),
    rules.PRICE: gettext_lazy("%(what)s: a machine hour costs %(actual)s; before it cost %(expected)s"),
    rules.FORECAST: gettext_lazy("%(what)s: %(actual)s by the month's end, where its budget is %(expected)s"),
    rules.BUDGET_SOFT: gettext_lazy("%(what)s is past its warning: %(actual)s spent, warned from %(expected)s on"),
    rules.BUDGET_HARD: gettext_lazy("%(what)s is used up: %(actual)s of %(expected)s; no new GPU work begins"),
}  # fmt: skip


def name(of: Series) -> str:
    if of.side == series.ALL_SIDE:
        return _("All GPU costs")
    if of.side == series.SERVICE:
        return str(SERVICES.get(of.name, of.name))
    if of.side == series.KIND:
        return str(KINDS.get(of.name, of.name))
    if of.side == series.VERSION:
        return _("Model version %(version)s") % {"version": of.name}
    if of.side == series.BUDGET:
        budget = Budget.objects.filter(name=of.name).first()
        return _("The budget for %(budget)s") % {"budget": budget_words.name(budget) if budget else of.name}
    provider, _slash, gpu = of.name.partition("/")
    if of.side == series.MACHINE:
        service, (provider, _slash, gpu) = provider, gpu.partition("/")
        named = {"service": SERVICES.get(service, service), "gpu": gpu, "provider": provider}
        return _("%(service)s on %(gpu)s (%(provider)s)") % named
    return f"{gpu} ({provider})"


def link(alert: Alert) -> str:
    """The ledger's lines of its days and series; of a budget the page about costs."""
    of = series.parse(alert.series)
    if of.side == series.BUDGET:
        return reverse("staff:costs")
    zone = reading.zone()
    first, last = (date_ranges.today_of(zone, moment) for moment in (alert.began_at, alert.raised_at))
    asked = {"period": date_ranges.CUSTOM, "from": first.isoformat(), "to": last.isoformat(), "zone": zone}
    return f"{reverse('staff:costs_lines')}?{urlencode(asked | _choice(of))}"


def changes_of(alert: Alert) -> list[Change]:
    return changes.between(alert.began_at - CHANGES_BEFORE, alert.raised_at)


def since(moment: datetime) -> str:
    """In the zone of the budgets, named."""
    zone = reading.zone()
    return f"{date_format(moment.astimezone(UTC).astimezone(ZoneInfo(zone)), 'DATETIME_FORMAT')} ({zone})"


def _choice(of: Series) -> dict[str, str]:
    if of.side in (series.SERVICE, series.KIND):
        return {of.side: of.name}
    if of.side == series.VERSION:
        return {"model_version": of.name}
    if of.side == series.ALL_SIDE:
        return {}
    *service, provider, gpu = of.name.split("/", 2 if of.side == series.MACHINE else 1)
    return {"provider": provider, "gpu_type": gpu} | ({"service": service[0]} if service else {})


def _since(alert: Alert) -> str:
    if alert.rule in (rules.BUDGET_SOFT, rules.BUDGET_HARD):
        end = since(alert.ended_at) if alert.ended_at else ""
        return _("It is free again on %(time)s.") % {"time": end}
    if alert.rule == rules.FORECAST:
        return _("By what weekdays cost on average; %(days)s days of history.") % {"days": alert.days}
    began = {"time": since(alert.began_at), "more": money.shown(alert.an_hour_nanousd), "days": alert.days}
    if alert.rule == rules.PRICE:
        return _("Since %(time)s, against the median of %(days)s days.") % began
    if not alert.days:
        return _("Since %(time)s; %(more)s an hour.") % began
    return _("Since %(time)s; some %(more)s an hour more. Ordinary is the median of %(days)s days.") % began


def _top(alert: Alert) -> list[str]:
    rose = [(name(series.parse(of)), money.shown(excess)) for of, excess in alert.facts.get("top", [])]
    if not rose:
        return []
    listed = ", ".join(f"{of} +{excess}" for of, excess in rose)
    return [_("What rose most since then: %(listed)s.") % {"listed": listed}]


def _idle(alert: Alert) -> list[str]:
    """Of a forgotten machine the title says it."""
    idle = [name(series.parse(of)) for of in alert.facts.get("idle", [])]
    if not idle or alert.rule == rules.FORGOTTEN:
        return []
    return [_("No run works on: %(listed)s.") % {"listed": ", ".join(idle)}]


def _forecast(alert: Alert) -> list[str]:
    if not (found := alert.facts.get("forecast")):
        return []
    expected, low, high = map(money.shown, found)
    says = _("At the month's end: %(expected)s (8 of 10 such months lie between %(low)s and %(high)s).")
    return [says % {"expected": expected, "low": low, "high": high}]


def _changes(found: Sequence[Change], alert: Alert) -> list[str]:
    if alert.rule in (rules.BUDGET_SOFT, rules.BUDGET_HARD):
        return []
    if not found:
        return [_("Nothing was changed in the two days before: no model, routing, price or limit.")]
    listed = [f"{since(each.at)}: {each.says} {each.reason}".strip() for each in found]
    return [_("Changed lately:"), *(f"– {line}" for line in listed)]


def _is_near(change: Change, alert: Alert) -> bool:
    return alert.began_at - CHANGES_BEFORE <= change.at < alert.raised_at


def absolute(path: str) -> str:
    return f"{settings.PUBLIC_URL}{path}"

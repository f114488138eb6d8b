"""A turn with rows: the only writer of watches and alerts.

Every full hour is looked at once, a quarter after its end (by then its costs are posted); hours that nobody looked at
are caught up, up to two days. Whoever looks locks the clock's row, so a doubled tick finds nothing left to do. Watches,
alerts and their deliveries are written in one transaction with it; nothing is sent here.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q

from gpujobs import budget_reading, budgets, date_ranges, periods
from gpujobs.alerts import months, reading, rules, series, states, turns
from gpujobs.alerts.rules import Detector, Finding
from gpujobs.alerts.series import ALL, BUDGET, SERVICE, VERSION, Series
from gpujobs.alerts.turns import Key, Raised, Turn, Watch
from gpujobs.models import (
    Alert,
    AlertClock,
    AlertDelivery,
    AlertMute,
    AlertWatch,
    Budget,
    BudgetNotice,
    CostQuarter,
    Service,
)
from inkcloak.errors import DomainError
from inkcloak.lifecycle import advance

log = logging.getLogger(__name__)

SETTLE = timedelta(minutes=15)  # after an hour's end, until its costs are posted
CATCH_UP_HOURS = 48
REMEMBERED = timedelta(days=35)  # for so long an alert explains what it told of
NOTICES_SINCE = timedelta(days=2)
WHOLE_HOUR = timedelta(hours=1)


def tick(now: datetime) -> list[Alert]:
    """The new alerts. Twice, or late, is harmless."""
    with transaction.atomic():
        AlertClock.objects.get_or_create(pk=1)
        clock = AlertClock.objects.select_for_update().get(pk=1)
        made = _of_budgets(now)
        last = series.hour_of(now - SETTLE) - 1
        first = last if clock.evaluated is None else max(series.hour_of(clock.evaluated) + 1, last - CATCH_UP_HOURS + 1)
        if first > last:
            return made
        if CostQuarter.objects.exists():
            made += _of_hours(first, last, now)
        clock.evaluated = series.instant(last)
        clock.save()
    return made


# --- Trends ---------------------------------------------------------------------------------------------------


def _of_hours(first: int, last: int, now: datetime) -> list[Alert]:
    detector = Detector(reading.ledger(first, last))
    watches, known = _watches(), _known(now)
    made: list[Alert] = []
    muted = _muted(now)
    for hour in range(first, last + 1):
        alerts = [raised for raised, _row in known]
        before = [raised.an_hour for raised in alerts]
        findings = [*detector.at(hour), *_forecasts(detector, hour)]
        result = turns.turn(hour, findings, watches, alerts, detector, muted=muted)
        for (raised, row), an_hour in zip(known, before, strict=True):
            if raised.an_hour != an_hour:
                Alert.objects.filter(pk=row.pk).update(an_hour_nanousd=raised.an_hour)
        made += _write(result, hour, known, detector)
    return made


def _write(result: Turn, hour: int, known: list[tuple[Raised, Alert]], detector: Detector) -> list[Alert]:
    at, made = series.instant(hour) + WHOLE_HOUR, []
    for (rule, of), to in result.moves:
        row, _new = AlertWatch.objects.get_or_create(rule=rule, series=str(of), defaults={"since": at})
        ended = {"alert": None} if to == states.OK else {}
        if not advance(AlertWatch.objects.filter(pk=row.pk), to, since=at, **ended):
            log.error("alerts: %s %s can't become %s", rule, of, to)
    for raised, old in known:
        if raised.key in result.ended and raised.ended is None:
            raised.ended = hour
            Alert.objects.filter(pk=old.pk).update(ended_at=at)
    for again in result.reopened:
        old = next(row for raised, row in known if raised is again)
        Alert.objects.filter(pk=old.pk).update(ended_at=None)
        AlertWatch.objects.filter(rule=again.key[0], series=str(again.key[1])).update(alert=old)
    for raised in result.raised:
        alert, new = _alert(raised, at, detector)
        AlertWatch.objects.filter(rule=raised.key[0], series=str(raised.key[1])).update(alert=alert)
        known.append((raised, alert))
        if new:
            made.append(alert)
    return made


def _alert(raised: Raised, at: datetime, detector: Detector) -> tuple[Alert, bool]:
    """False for one that was raised before in the same period: it goes on, and nobody is told again."""
    finding, (rule, of), zone = raised.finding, raised.key, reading.zone()
    if finding is None:
        raise ValueError("an alert without a finding")
    hour = raised.at
    if rule == rules.FORECAST:
        period = periods.span_of(periods.MONTH, zone, at - WHOLE_HOUR).start
    else:
        period = date_ranges.start_of(date_ranges.today_of(zone, at - WHOLE_HOUR), zone)
    top = months.contributors(detector, raised.began, hour)
    month = months.forecast(detector.ledger, ALL, hour, zone)
    service, version = _named(of, top)
    alert, new = Alert.objects.get_or_create(
        rule=rule,
        series=str(of),
        period=period,
        defaults={
            "began_at": series.instant(raised.began),
            "raised_at": at,
            "service": service,
            "model_version": version,
            "hours": finding.hours,
            "actual_nanousd": finding.actual,
            "expected_nanousd": finding.expected,
            "enter_nanousd": finding.enter,
            "an_hour_nanousd": raised.an_hour,
            "days": finding.days,
            "facts": {
                "idle": [str(each) for each in rules.idle_machines(detector.ledger, hour)],
                "top": [[str(each), excess] for each, excess in top],
                "forecast": [month.expected, month.low, month.high] if month else [],
            },
        },
    )
    if new:
        _order(alert, at)
    else:
        Alert.objects.filter(pk=alert.pk).update(ended_at=None)
    return alert, new


def _named(of: Series, top: Iterable[tuple[Series, int]]) -> tuple[str, str]:
    """Service and model version: its own, or of those that rose most."""
    sides = [of, *(each for each, _excess in top)]
    service = next((each.name for each in sides if each.side == SERVICE), "")
    if of.side == series.MACHINE:
        service = of.name.split("/")[0]
    return service if service in Service.values else "", next((each.name for each in sides if each.side == VERSION), "")


def _watches() -> dict[Key, Watch]:
    rows = AlertWatch.objects.exclude(status=AlertWatch.Status.OK)
    return {
        (row.rule, series.parse(row.series)): Watch(
            row.status, series.hour_of(row.since - WHOLE_HOUR), row.alert_id is not None
        )
        for row in rows
    }


def _known(now: datetime) -> list[tuple[Raised, Alert]]:
    rows = Alert.objects.filter(Q(raised_at__gte=now - REMEMBERED) | Q(ended_at__isnull=True)).order_by("raised_at")
    return [
        (
            Raised(
                (row.rule, series.parse(row.series)),
                series.hour_of(row.began_at),
                series.hour_of(row.raised_at - WHOLE_HOUR),
                row.an_hour_nanousd,
                ended=None if row.ended_at is None else series.hour_of(row.ended_at - WHOLE_HOUR),
            ),
            row,
        )
        for row in rows.exclude(rule__startswith="budget")
    ]


def _muted(now: datetime) -> Callable[[Series], bool]:
    last = AlertMute.objects.order_by("series", "-id").distinct("series")
    names = {mute.series for mute in last if mute.until > now}
    return lambda of: str(of) in names


# --- Budgets --------------------------------------------------------------------------------------------------


def _forecasts(detector: Detector, hour: int) -> list[Finding]:
    """Of the months' budgets that the whole house shares."""
    found = []
    try:
        statuses = budgets.status(series.instant(hour) + WHOLE_HOUR)
    except DomainError:
        return []
    for status in statuses:
        budget = status.budget
        if budget.period != Budget.Period.MONTH:
            continue
        of = ALL if budget.scope == Budget.Scope.GLOBAL else Series(SERVICE, budget.service)
        month = months.forecast(detector.ledger, of, hour, budget.zone)
        if month is not None:
            found.append(rules.forecast(budget.name, month.expected, _limit(status), month.days))
    return found


def _limit(status: budget_reading.BudgetStatus) -> int:
    return status.budget.hard_nanousd  # an override ends; the month goes on


def _of_budgets(now: datetime) -> list[Alert]:
    """Of each notice that is new, but for accounts' own budgets, which are many: pages show those."""
    notices = BudgetNotice.objects.filter(at__gte=now - NOTICES_SINCE).exclude(budget__scope=Budget.Scope.ACCOUNT)
    muted, made = _muted(now), []
    for notice in notices.select_related("budget").order_by("pk"):
        of = Series(BUDGET, notice.budget.name)
        if muted(of):
            continue
        alert, new = Alert.objects.get_or_create(
            rule=rules.BUDGET_HARD if notice.level == BudgetNotice.Level.HARD else rules.BUDGET_SOFT,
            series=str(of),
            period=notice.period_start,
            defaults={
                "began_at": notice.period_start,
                "raised_at": notice.at,
                "ended_at": notice.resets_at,
                "service": notice.budget.service,
                "hours": 0,
                "actual_nanousd": notice.spent_nanousd,
                "expected_nanousd": notice.limit_nanousd,
                "enter_nanousd": notice.limit_nanousd,
            },
        )
        if new:
            _order(alert, now)
            made.append(alert)
    return made


# --- Who is told ----------------------------------------------------------------------------------------------


def _order(alert: Alert, at: datetime) -> None:
    """A delivery for each of the staff and for the webhook, in the same transaction."""
    staff = get_user_model().objects.filter(is_staff=True, is_active=True).exclude(email="").order_by("pk")
    mail = AlertDelivery.Channel.MAIL
    rows = [AlertDelivery(alert=alert, channel=mail, recipient=user, next_at=at) for user in staff]
    if settings.ALERT_WEBHOOK_URL:
        rows.append(AlertDelivery(alert=alert, channel=AlertDelivery.Channel.WEBHOOK, next_at=at))
    AlertDelivery.objects.bulk_create(rows)
    log.warning("alert %d: %s %s", alert.pk, alert.rule, alert.series)

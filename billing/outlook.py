"""Read side of the forecast: the words of the last whole days, and of last month."""

from datetime import UTC, datetime, timedelta

from django.db.models import Sum
from django.db.models.functions import TruncDate

from billing import forecast
from billing.accounts import Owner, allowance_of
from billing.forecast import PACE_DAYS, Forecast
from billing.models import Account, Meter, WordEntry
from billing.usage import Words


def of(account: Account, words: Words, *, now: datetime) -> Forecast:
    """Where this month's words are going. Two questions to the database, however long the ledger is."""
    return forecast.month(
        used=words.used,
        limit=words.limit,
        daily=_daily(account, now),
        last_month=_last_month(account, words.period_start),
        start=words.period_start,
        end=words.resets_at,
        now=now,
    )


def _daily(account: Account, now: datetime) -> list[int]:
    """Words charged on each of the PACE_DAYS days (UTC) before today, newest first."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first = today - timedelta(days=PACE_DAYS)
    rows = WordEntry.objects.filter(account=account, kind=WordEntry.Kind.CHARGED, at__gte=first, at__lt=today)
    by_day = dict(
        rows.annotate(day=TruncDate("at", tzinfo=UTC)).values("day").annotate(n=Sum("words")).values_list("day", "n")
    )
    return [by_day.get((today - timedelta(days=back)).date(), 0) for back in range(1, PACE_DAYS + 1)]


def _last_month(account: Account, start: datetime) -> int:
    before = allowance_of(Owner(account=account), start - timedelta(days=1))
    found = Meter.objects.filter(holder=before.holder, unit=before.unit, period_start=before.period_start).first()
    return found.used if found else 0

"""The ledger, brought to the provider's bill: day by day, the difference becomes a line of its own.

A UTC day is estimated until the bill shows it, then reconciled: a ReconciledDay keeps what the ledger had, what was
billed, and the difference, which is posted as an adjustment. Bills come late and change: each day of the last weeks is
looked at again, and only a new difference makes another row. So the ledger adds up to the bill, to the nano-dollar.

Serverless is inference. A pod is of the service that its meter says; one that nobody here knows counts as training,
which rents pods: somebody pays for it, and the bill's line names it.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from django.db import connection, transaction

from gpujobs import ledger
from gpujobs.models import CostEntry, MachineMeter, ReconciledDay, Service
from gpujobs.providers.runpod_rest import Bill, RunpodRest

log = logging.getLogger(__name__)

PROVIDER = "runpod"
WINDOW_DAYS = 35  # a month and some days: what comes later is an adjustment by hand
READY = timedelta(hours=3)  # after its end a day's bill is read; nothing of the last hour is in it
PATIENCE = timedelta(days=3)  # so long a bill of nothing at all is taken for a late one
ONE_DAY = timedelta(days=1)
# The adjustment counts at noon UTC: in every zone less than 12 hours off that is the local day that shares most of it.
NOON = time(12, tzinfo=UTC)
LOCK = 0x1E06E12  # advisory, of this module


def reconcile(now: datetime, rest: RunpodRest) -> list[ReconciledDay]:
    """The days that changed. Twice, or beside itself, changes nothing more. Raises RunpodError."""
    last = (now - READY).astimezone(UTC).date() - ONE_DAY
    first = last - (WINDOW_DAYS - 1) * ONE_DAY
    billed = billed_by_service(rest.bills("serverless", first, last), rest.bills("pods", first, last))
    made = []
    for service in Service:
        for day in (first + n * ONE_DAY for n in range(WINDOW_DAYS)):
            changed = settle_day(PROVIDER, service, day, billed[service, day], now=now)
            made += [] if changed is None else [changed]
    return made


def billed_by_service(serverless: Iterable[Bill], pods: Iterable[Bill]) -> Counter[tuple[str, date]]:
    """(service, day) -> nano-dollars."""
    found: Counter[tuple[str, date]] = Counter()
    for bill in serverless:
        found[Service.INFERENCE, bill.day] += bill.nanousd
    pods = list(pods)
    known = MachineMeter.objects.filter(provider=PROVIDER, machine_id__in={bill.resource for bill in pods})
    service_of = dict(known.values_list("machine_id", "service"))
    for bill in pods:
        if bill.resource not in service_of:
            log.error("pod %s was billed on %s, and nobody here knows it", bill.resource, bill.day)
        found[service_of.get(bill.resource, Service.TRAINING), bill.day] += bill.nanousd
    return found


@transaction.atomic
def settle_day(provider: str, service: str, day: date, billed: int, *, now: datetime) -> ReconciledDay | None:
    """One day: posts the difference to what the ledger has; None where nothing is to be changed, or told anew."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    start = datetime.combine(day, time(), tzinfo=UTC)
    before = ReconciledDay.objects.filter(provider=provider, service=service, day=day).order_by("-id")
    last = before.first()
    estimated = ledger.spent(start, start + ONE_DAY, service=service, provider=provider)
    delta = billed - estimated
    if not delta and (not billed or (last is not None and last.billed_nanousd == billed)):
        return None
    if not billed and last is None and now < start + ONE_DAY + PATIENCE:
        return None
    entry = _adjustment(provider, service, day, delta, before.count() + 1) if delta else None
    return ReconciledDay.objects.create(
        provider=provider,
        service=service,
        day=day,
        estimated_nanousd=estimated,
        billed_nanousd=billed,
        delta_nanousd=delta,
        entry=entry,
    )


def _adjustment(provider: str, service: str, day: date, delta: int, number: int) -> CostEntry:
    entry = CostEntry(
        kind=CostEntry.Kind.ADJUSTMENT,
        service=service,
        provider=provider,
        amount_nanousd=delta,
        source_ref=f"bill:{provider}:{service}:{day}:{number}",
        note=f"the bill of {day} less what the ledger had",
        at=datetime.combine(day, NOON),
    )
    ledger.post([entry])
    return entry

"""Sixty plausible days for pages about money: `fill(now)`. Every cent goes through the ledger's own verb.

Ordinary weeks (weekends half as busy), cold starts and idle time beside the work, a training now and then, a dearer
model version from `CHANGE_DAYS` ago on, bills for all but the last two days, accounts and visitors who come back.
"""

import random
import uuid
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import F

from billing.models import Account
from detector.models import ActivityQuarter
from gpujobs import budget_rows, ledger, registry
from gpujobs.models import AliasMove, AuditEntry, Budget, CostEntry, GpuRun, ModelVersion, Price, ReconciledDay
from inkcloak import money

DAYS = 60
CHANGE_DAYS = 12
SEED = 20
HOURS = (8, 10, 11, 14, 16, 17, 20)
MICRO = 1_000  # nano-dollars
CARDS = ("NVIDIA RTX A4000", "NVIDIA RTX A5000")
WEEKEND = 5


def fill(now: datetime, days: int = DAYS) -> None:
    """Needs a model in service, which stays there; makes the one whose place it took in the midst of these days."""
    dice = random.Random(SEED)
    new = registry.resolve()
    old = ModelVersion.objects.create(version=f"{new.version[:30]}-before", name=new.name, manifest=new.manifest)
    people = [Account.objects.create(name=f"Account {n}").pk for n in range(24)]
    today = now.astimezone(UTC).date()
    for back in range(days, -1, -1):
        day = today - timedelta(days=back)
        version = new if back < CHANGE_DAYS else old
        _fill_day(dice, day, now, people, version)
    _bills(now, days)
    move = AliasMove.objects.create(
        alias=registry.CHAMPION, previous=old, current=new, reason="Catches more in Spanish"
    )
    AliasMove.objects.filter(pk=move.pk).update(moved_at=now - timedelta(days=CHANGE_DAYS))
    _other_changes(now)


def _fill_day(dice: random.Random, day: date, now: datetime, people: list[uuid.UUID], version: ModelVersion) -> None:
    busy = (0.5 if day.weekday() >= WEEKEND else 1.0) * dice.uniform(0.85, 1.15)
    entries, active, runs = [], [], []
    for hour in HOURS:
        at = datetime.combine(day, time(hour, dice.randrange(60)), UTC)
        if at > now:
            continue
        card = CARDS[hour % 5 == 0]
        who = dice.sample(people, max(2, int(6 * busy)))
        shares = {account: int(busy * dice.randrange(2_000, 9_000) * MICRO) for account in who}
        if not version.version.endswith("-before"):
            shares = {account: amount * 4 // 3 for account, amount in shares.items()}
        run = _run(at, version, card, shares)
        runs.append(run)
        same = {"service": "inference", "provider": "runpod", "gpu_type": card, "at": at, "worker_id": f"w{hour}"}
        for account, amount in shares.items():
            entries.append(_entry("execution", amount, run, account, version=version.version, **same))
            active.append((at, ActivityQuarter.Kind.ACCOUNT, str(account), dice.randrange(1, 9)))
        work = sum(shares.values())
        entries.append(_entry("cold_start", work // 5, run, None, version=version.version, **same))
        entries.append(_entry("idle", work // 3, run, None, version=version.version, **same))
        active += [
            (at, ActivityQuarter.Kind.VISITOR, f"v{day:%m%d}{hour}{n}", dice.randrange(1, 4))
            for n in range(dice.randrange(5))
        ]
    noon = datetime.combine(day, time(3), UTC)
    if noon <= now:
        plain = {"provider": "runpod", "gpu_type": "", "at": noon, "service": "inference"}
        entries.append(_entry("storage", 9_000 * MICRO, None, None, **plain))
        if day.day % 9 == 0:
            training = plain | {"service": "training", "gpu_type": CARDS[1]}
            entries.append(_entry("training", 150_000 * MICRO, None, None, ms=2_400_000, **training))
    GpuRun.objects.bulk_create(runs)
    made = GpuRun.objects.filter(pk__in=[run.pk for run in runs])
    made.update(created_at=F("lease_expires_at"))  # a row's making sets the moment of the test
    ledger.post(entries)
    _activity(active)


def _run(at: datetime, version: ModelVersion, card: str, shares: dict[uuid.UUID, int]) -> GpuRun:
    work = sum(shares.values()) // (100 * MICRO)
    return GpuRun(
        backend="runpod",
        model_version=version,
        status=GpuRun.Status.SUCCEEDED,
        texts=4 * len(shares),
        tokens=2_000 * len(shares),
        gpu_type=card,
        execution_ms=work,
        delay_ms=1_500,
        lease_expires_at=at,
        finished_at=at + timedelta(milliseconds=work + 1_500),
        costed_at=at + timedelta(minutes=1),
        result={"texts": [{"padding": 60}]},
    )


def _entry(
    kind: str,
    amount: int,
    run: GpuRun | None,
    account: uuid.UUID | None,
    *,
    version: str = "",
    ms: int = 0,
    **fields: object,
) -> CostEntry:
    return CostEntry(
        kind=kind,
        amount_nanousd=amount,
        milliseconds=ms or (amount // (100 * MICRO) if kind in ("execution", "idle", "cold_start") else None),
        run=run,
        account_id=account,
        model_version=version,
        source_ref=f"seed:{uuid.uuid4()}",
        **fields,
    )


def _activity(found: list[tuple[datetime, str, str, int]]) -> None:
    rows: dict[tuple[datetime, str, str], int] = {}
    for at, kind, who, checks in found:
        start = at.replace(minute=at.minute // 15 * 15, second=0, microsecond=0)
        rows[start, kind, who] = rows.get((start, kind, who), 0) + checks
    ActivityQuarter.objects.bulk_create(
        ActivityQuarter(start=start, kind=kind, who=who, checks=checks, words=checks * 220)
        for (start, kind, who), checks in rows.items()
    )


def _bills(now: datetime, days: int) -> None:
    """RunPod asks 1 % more than we thought; the last two days have no bill yet."""
    for back in range(days, 1, -1):
        day = now.astimezone(UTC).date() - timedelta(days=back)
        start = datetime.combine(day, time(), UTC)
        for service in ("inference", "training"):
            thought = ledger.spent(start, start + timedelta(days=1), service=service)
            if not thought:
                continue
            delta = thought // 100
            plain = {"provider": "runpod", "service": service, "at": start + timedelta(hours=23)}
            entry = CostEntry(
                kind="adjustment", amount_nanousd=delta, source_ref=f"bill:runpod:{service}:{day}", note="bill", **plain
            )
            ledger.post([entry])
            ReconciledDay.objects.create(
                provider="runpod",
                service=service,
                day=day,
                estimated_nanousd=thought,
                billed_nanousd=thought + delta,
                delta_nanousd=delta,
                entry=entry,
            )


def _other_changes(now: datetime) -> None:
    budget_rows.built(Budget.Scope.GLOBAL, Budget.Period.MONTH, 12 * money.NANO).save()
    budget_rows.built(Budget.Scope.SERVICE, Budget.Period.DAY, 40 * money.CENT, service="inference").save()
    Price.objects.create(
        provider="runpod",
        gpu_type=CARDS[0],
        mode="flex",
        amount_nanousd=580_000_000,
        source="the price list",
        as_of=now.date(),
        valid_from=now - timedelta(days=5),
    )
    AuditEntry.objects.create(
        action="budget_changed", subject="global-month", actor="sam@example.com", reason="A class of 300 begins"
    )

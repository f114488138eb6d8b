"""Whatever runs, splits, corrections and bills there are: the ledger is the sum of its accounts and what is nobody's,
and of what was billed, to the nano-dollar."""

import uuid
from collections import defaultdict
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from costing_rows import after, ended, total
from django.db import transaction
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpujobs import costing, ledger, reconciling
from gpujobs.lifetimes import awake
from gpujobs.models import AccountQuarter, CostEntry, CostQuarter, GpuRun, ModelVersion
from gpujobs.pricing import Rate, cost, disk

pytestmark = pytest.mark.django_db
ACCOUNTS = [None, *(str(uuid.UUID(int=n)) for n in range(1, 5))]
TO_MIDNIGHT = 43_110  # seconds from START: the runs lie around 00:00 UTC
DAYS = (date(2026, 11, 30), date(2026, 12, 1))
IDLE_SECONDS, DISK_GB = 5, 20
A4000, DISK_PRICE = Rate(576_000_000), 100_000_000
WHOLE = timedelta(days=3)

SHARES = st.lists(st.tuples(st.sampled_from(ACCOUNTS), st.none(), st.integers(0, 10_000)).map(list), max_size=4)
RUNS = st.lists(
    st.fixed_dictionaries(
        {
            "worker": st.sampled_from(["w1", "w2", ""]),
            "at": st.integers(0, 120_000),
            "delay": st.integers(0, 70_000),
            "long": st.integers(0, 30_000),
            "shares": SHARES,
        }
    ),
    min_size=1,
    max_size=8,
)
CORRECTIONS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 10**8)), max_size=3)
BILLS = st.lists(st.tuples(st.sampled_from(DAYS), st.integers(0, 10**9)), max_size=4)
LOOKS = st.lists(st.integers(0, 300), max_size=3).map(sorted)


@pytest.fixture(autouse=True)
def _endpoint(settings: Any) -> None:
    settings.RUNPOD_IDLE_SECONDS, settings.RUNPOD_DISK_GB = IDLE_SECONDS, DISK_GB


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=RUNS, looks=LOOKS, corrections=CORRECTIONS, bills=BILLS)
def test_nothing_is_lost_and_nothing_counted_twice(
    champion: ModelVersion,
    runs: list[dict[str, Any]],
    looks: list[int],
    corrections: list[tuple[int, int]],
    bills: list[tuple[date, int]],
) -> None:
    with transaction.atomic():  # of this example alone: the ledger itself forgets nothing
        for run in runs:
            seconds = {name: run[name] / 1000 for name in ("at", "delay", "long")}
            seconds["at"] += TO_MIDNIGHT
            ended(champion, worker=run["worker"], shares=run["shares"], **seconds)
        for look in [*looks, 1_000]:  # some see only a part of it
            costing.cost_ended_runs(after(TO_MIDNIGHT + look))
        assert not GpuRun.objects.filter(costed_at=None).exists()
        assert total() == what_is_billed()
        it_adds_up()
        lines = list(CostEntry.objects.order_by("pk"))
        for place, amount in corrections:
            ledger.correct(lines[place % len(lines)], amount, "a test says so")
        it_adds_up()
        last: dict[date, int] = {}
        for day, billed in bills:
            reconciling.settle_day("runpod", "inference", day, billed, now=after(0) + 30 * WHOLE)
            last[day] = billed
            it_adds_up()
        for day, billed in last.items():
            start = after(0).replace(day=day.day, month=day.month, hour=0)
            assert ledger.spent(start, start + timedelta(days=1), provider="runpod") == billed
        if last.keys() == set(DAYS):
            assert total() == sum(last.values())
        transaction.set_rollback(True)


def what_is_billed() -> int:
    """By the provider's rule, from the workers' lives: started seconds at the price, and started steps of disk."""
    by_worker: defaultdict[str, list[GpuRun]] = defaultdict(list)
    for run in GpuRun.objects.all():
        by_worker[run.worker_id or str(run.pk)].append(run)
    billed = 0
    for of_worker in by_worker.values():
        spans = awake([costing.work_of(run) for run in of_worker], IDLE_SECONDS * 1000)
        assert all(one[1] <= next_[0] for one, next_ in pairwise(spans))
        for start, end in spans:
            assert (end - start) % 1000 == 0
            billed += cost(A4000, end - start) + disk(DISK_PRICE, DISK_GB, end - start)
    return billed


def it_adds_up() -> None:
    everything = total()
    begin, end = after(0) - WHOLE, after(0) + WHOLE
    accounts = [account and uuid.UUID(account) for account in ACCOUNTS]
    parts = [ledger.spent(begin, end, account_id=account or ledger.UNALLOCATED) for account in accounts]
    assert sum(parts) == everything == ledger.spent(begin, end)
    for sums in (CostQuarter, AccountQuarter):
        assert (sums.objects.aggregate(total=Sum("amount_nanousd"))["total"] or 0) == everything
    assert ledger.rebuild_sums(repair=False) == 0

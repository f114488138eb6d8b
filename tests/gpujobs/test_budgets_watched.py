"""What happens by itself: a notice once a period, min workers to 0 and back, and what a killed process held."""

import os
import signal
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection
from django.utils import timezone

from gpujobs import budget_watch, budgets, costing, ledger, runs
from gpujobs.models import AuditEntry, Budget, BudgetNotice, BudgetReservation, CostEntry, GpuRun, ModelVersion
from gpujobs.providers.runpod_rest import RunpodRest
from inkcloak.money import NANO
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]
ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 11, 30, 12, 7, tzinfo=UTC)


def spend(amount: int) -> None:
    values: dict[str, Any] = {"kind": "execution", "service": "inference", "provider": "runpod", "at": NOW}
    ledger.post([CostEntry(**values, amount_nanousd=amount, source_ref=str(uuid.uuid4()))])


def noticed(now: datetime = NOW) -> list[tuple[str, str]]:
    return [(notice.budget.name, notice.level) for notice in budget_watch.notice(now)]


@pytest.mark.django_db
def test_a_limit_is_told_once_a_period(settings: Any) -> None:
    settings.BUDGETS_NANOUSD = {"global-day": NANO, "training-day": NANO}
    assert noticed() == []
    spend(NANO * 8 // 10)
    assert noticed() == [("global-day", "soft")]
    assert noticed() == []
    spend(NANO * 2 // 10)
    assert noticed() == [("global-day", "hard")]
    assert [status.state() for status in budgets.status(NOW)] == ["hard", "ok"]
    assert noticed(NOW + timedelta(days=1)) == []
    spend(NANO)
    assert noticed() == []
    last = BudgetNotice.objects.first()
    assert last is not None
    assert (last.spent_nanousd, last.limit_nanousd) == (NANO, NANO)
    assert last.resets_at == datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.django_db
def test_without_room_for_a_batch_a_budget_is_used_up(settings: Any) -> None:
    """What is left would never be spent: no batch fits into it."""
    settings.BUDGETS_NANOUSD = {"inference-day": NANO, "training-day": NANO}
    spend(NANO - 1)
    assert noticed() == [("inference-day", "hard")]


@pytest.mark.django_db
def test_no_worker_is_kept_warm_without_a_budget(settings: Any, runpod: LoopbackRunPod) -> None:
    made = runpod.endpoint(workers={"min": 2, "max": 3, "idleTimeout": 5})
    settings.RUNPOD_WORKERS_MIN, settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = 2, made, runpod.key
    settings.BUDGETS_NANOUSD = {"inference-day": NANO}
    rest = RunpodRest(f"{runpod.url}/v2", f"{runpod.url}/graphql", runpod.key)

    def floor() -> Any:
        return rest.endpoint(made).fields["workers"]

    assert budget_watch.keep_floor(NOW, rest) is None
    assert floor()["min"] == 2
    spend(NANO)
    assert budget_watch.keep_floor(NOW, rest) is not None
    assert floor() == {"min": 0, "max": 3, "idleTimeout": 5}
    assert budget_watch.keep_floor(NOW, rest) is None
    assert budget_watch.keep_floor(NOW + timedelta(days=1), rest) is not None
    assert floor()["min"] == 2
    assert budget_watch.keep_floor(NOW + timedelta(days=1), rest) is None
    assert list(AuditEntry.objects.values_list("action", "actor")) == [
        ("workers_restored", "system"),
        ("workers_stopped", "system"),
    ]
    rest.close()


@pytest.mark.django_db
def test_runpod_away_is_tried_again(settings: Any) -> None:
    settings.RUNPOD_WORKERS_MIN, settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = 1, "4m7x", "rpa_test"
    settings.BUDGETS_NANOUSD = {"inference-day": 0}
    rest = RunpodRest("http://127.0.0.1:1/v2", "http://127.0.0.1:1/graphql", "rpa_test", sleep=lambda _: None)
    assert budget_watch.keep_floor(NOW, rest) is None
    assert not AuditEntry.objects.exists()
    rest.close()


HELD = """
import time
import django
django.setup()
from datetime import timedelta
from django.db import transaction
from django.utils import timezone
from gpujobs import budget_gate, registry, runs
now = timezone.now()
with transaction.atomic():
    run = runs.open_run(backend="runpod", model_version=registry.resolve(), texts=1, now=now)
    budget_gate.hold(run, account_ids=(), now=now, expires=now + timedelta(minutes=20))
runs.started(run)
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.django_db(transaction=True)
def test_kill_9_between_reserve_and_settle_frees_the_money_and_counts_the_cost(
    settings: Any, champion: ModelVersion
) -> None:
    settings.BUDGETS_NANOUSD = {"inference-day": NANO}
    address = urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}"))
    environment = os.environ | {
        "DATABASE_URL": address,
        "DJANGO_SETTINGS_MODULE": "inkcloak.settings",
        "INKCLOAK_IGNORE_DEV_ENV": "1",
        "PYTHONPATH": str(ROOT),
        "BUDGET_INFERENCE_DAY_USD": "1",
    }
    worker = subprocess.Popen([sys.executable, "-c", HELD], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "held\n"
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        worker.communicate()
    held = Budget.objects.get().held_nanousd
    assert held > 0
    run = GpuRun.objects.get()
    assert run.status == "running"

    later = timezone.now() + timedelta(minutes=21)
    (dead,) = runs.expired(later)
    # The machine had worked, as its provider tells.
    usage = {"delay_ms": 1000, "execution_ms": 4000, "worker_id": "w1", "gpu_type": "AMPERE_16"}
    assert runs.fail(dead, "lease_expired", now=later, usage=usage)
    assert budgets.expire(later) == 1
    assert BudgetReservation.objects.get().status == BudgetReservation.Status.EXPIRED
    assert Budget.objects.get().held_nanousd == 0

    assert costing.cost_ended_runs(later + timedelta(minutes=5)).runs == 1
    (status,) = budgets.status(run.created_at)
    assert status.spent > 4 * 160_000, "four seconds of work and a start"
    assert status.held == 0

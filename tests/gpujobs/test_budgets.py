"""Budgets: reserve, settle, release, expire; who may begin what, and that nobody gets past a limit in a race."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import factories
import pytest
from django.db import connection, transaction

from gpujobs import budgets, ledger, runs
from gpujobs.budgets import UsedUp
from gpujobs.models import Budget, BudgetReservation, CostEntry, GpuRun, ModelVersion
from inkcloak.money import NANO

NOW = datetime(2026, 11, 30, 12, 7, tzinfo=UTC)
LATER = NOW + timedelta(minutes=20)
Status = BudgetReservation.Status


def limit(settings: Any, **amounts: int) -> None:
    """The settings' budgets: limit(settings, global_day=10) in nano-dollars."""
    settings.BUDGETS_NANOUSD = {name.replace("_", "-"): amount for name, amount in amounts.items()}


def run_of(version: ModelVersion) -> GpuRun:
    return runs.open_run(backend="runpod", model_version=version, texts=1, now=NOW)


def hold(amount: int, run: GpuRun | None = None, **changes: Any) -> BudgetReservation | None:
    values: dict[str, Any] = {"service": "inference", "now": NOW, "expires": LATER} | changes
    return budgets.reserve(run=run, amount_nanousd=amount, **values)


def spend(amount: int, at: datetime = NOW, **changes: Any) -> None:
    values = {"kind": "execution", "service": "inference", "provider": "runpod", "source_ref": str(uuid.uuid4())}
    ledger.post([CostEntry(**values | changes, amount_nanousd=amount, at=at)])


def held() -> dict[str, int]:
    return dict(Budget.objects.values_list("name", "held_nanousd"))


# --- One after the other ------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_without_budgets_nothing_is_held() -> None:
    assert hold(10**12) is None
    assert not BudgetReservation.objects.exists()


@pytest.mark.django_db
def test_it_makes_the_rows_on_first_use_and_holds_in_each(settings: Any) -> None:
    account = uuid.uuid4()
    limit(settings, global_month=100, inference_day=50, training_day=1, account_day=40)
    assert hold(30, account_ids=[account]) is not None
    assert held() == {"global-month": 30, "inference-day": 30, "training-day": 0, f"account-{account}-day": 30}
    with pytest.raises(UsedUp) as caught:
        hold(11, account_ids=[account])
    assert caught.value.status_of_budget.budget.account_id == account
    assert hold(11) is not None, "others still may"


@pytest.mark.django_db
def test_it_names_the_budget_and_the_time_it_is_free_again(settings: Any) -> None:
    limit(settings, global_month=10, inference_day=10)
    spend(10)
    with pytest.raises(UsedUp) as caught:
        hold(1)
    error = caught.value
    assert (error.code, error.kind, error.retry_after) == ("budget_used_up", "exhausted", 11 * 3600 + 53 * 60)
    assert "budget for all GPU work of a month" in str(error.message) or "checks on GPUs in a day" in str(error.message)
    assert "Dec. 1, 2026, midnight (UTC)" in str(error.message)


@pytest.mark.django_db
def test_what_is_settled_is_spent_and_no_longer_held(settings: Any, champion: ModelVersion) -> None:
    limit(settings, global_day=100)
    run = run_of(champion)
    hold(60, run)
    with transaction.atomic():
        spend(25, run=run)
        assert budgets.settle(run.pk) == 1
        assert budgets.settle(run.pk) == 0
    (status,) = budgets.status(NOW)
    assert (status.spent, status.held, status.left) == (25, 0, 75)
    hold(75)
    assert budgets.settle(uuid.uuid4()) == 0


@pytest.mark.django_db
def test_what_is_released_cost_nothing(settings: Any, champion: ModelVersion) -> None:
    limit(settings, global_day=100)
    run = run_of(champion)
    hold(60, run)
    assert budgets.release(run.pk)
    assert not budgets.release(run.pk)
    assert budgets.settle(run.pk) == 0
    assert held() == {"global-day": 0}


@pytest.mark.django_db
def test_what_nobody_came_back_for_expires(settings: Any, champion: ModelVersion) -> None:
    limit(settings, global_day=100)
    dead, alive = run_of(champion), run_of(champion)
    GpuRun.objects.filter(pk=alive.pk).update(lease_expires_at=LATER + timedelta(hours=1))
    hold(60, dead)
    hold(40, alive)
    assert budgets.expire(LATER - timedelta(seconds=1)) == 0
    assert budgets.expire(LATER) == 1, "the other one still works"
    assert held() == {"global-day": 40}
    assert budgets.settle(dead.pk) == 0, "its costs count by the ledger"


@pytest.mark.django_db
def test_yesterdays_money_is_no_longer_counted(settings: Any) -> None:
    settings.BUDGET_ZONE = "Europe/Madrid"
    limit(settings, global_day=10)
    spend(10, at=datetime(2026, 11, 29, 22, 59, 59, tzinfo=UTC))
    assert budgets.would_pass("inference", 10, now=NOW) is None
    spend(1, at=datetime(2026, 11, 29, 23, 0, tzinfo=UTC))
    passed = budgets.would_pass("inference", 10, now=NOW)
    assert passed is not None
    assert passed.name == "global-day"
    assert budgets.would_pass("training", 9, now=NOW) is None


@pytest.mark.django_db
def test_a_day_of_25_hours_is_one_budget(settings: Any) -> None:
    settings.BUDGET_ZONE = "Europe/Madrid"
    limit(settings, global_day=10)
    for hour in (datetime(2026, 10, 24, 22, 0), datetime(2026, 10, 25, 0, 30), datetime(2026, 10, 25, 22, 59, 59)):
        spend(3, at=hour.replace(tzinfo=UTC))
    spend(1, at=datetime(2026, 10, 25, 23, 0, tzinfo=UTC))
    assert [each.spent for each in budgets.status(datetime(2026, 10, 25, 12, 0, tzinfo=UTC))] == [9]
    assert [each.spent for each in budgets.status(datetime(2026, 10, 25, 23, 0, tzinfo=UTC))] == [1]


@pytest.mark.django_db
def test_a_late_entry_counts_for_the_day_that_it_is_of(settings: Any) -> None:
    limit(settings, global_day=10)
    after_midnight = datetime(2026, 12, 1, 0, 1, tzinfo=UTC)
    hold(5, now=after_midnight)
    spend(10, at=NOW)
    assert budgets.would_pass("inference", 5, now=after_midnight) is None
    assert budgets.would_pass("inference", 1, now=NOW) is not None


@pytest.mark.django_db
def test_a_budget_moved_to_another_zone_sums_over_the_other_day(settings: Any) -> None:
    limit(settings, global_day=10)
    spend(10, at=datetime(2026, 11, 29, 23, 30, tzinfo=UTC))
    assert budgets.would_pass("inference", 1, now=NOW) is None
    Budget.objects.update(zone="Europe/Madrid")
    assert budgets.would_pass("inference", 1, now=NOW) is not None


@pytest.mark.django_db
def test_a_row_counts_and_not_the_setting_that_made_it(settings: Any) -> None:
    limit(settings, global_day=10)
    hold(1)
    limit(settings, global_day=1000)
    assert budgets.would_pass("inference", 10, now=NOW) is not None
    Budget.objects.update(active=False)
    assert hold(10**9) is None, "switched off, it is not made again"
    assert Budget.objects.count() == 1


# --- Unreadable ---------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_zone_that_there_is_none_of_refuses(settings: Any) -> None:
    limit(settings, global_day=10)
    hold(1)
    Budget.objects.update(zone="Nowhere/Land")
    for ask in (lambda: hold(1), lambda: budgets.would_pass("inference", 1, now=NOW), lambda: budgets.status(NOW)):
        with pytest.raises(budgets.Unreadable) as caught:
            ask()
        assert caught.value.code == "budget_unreadable"
    assert held() == {"global-day": 1}


@pytest.mark.django_db
def test_a_ledger_that_cannot_be_read_refuses(settings: Any) -> None:
    limit(settings, global_day=10)
    hold(1)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE gpujobs_costquarter RENAME TO gone")
    with pytest.raises(budgets.Unreadable):
        hold(1)
    assert Budget.objects.get().held_nanousd == 1, "and the transaction around it goes on"


# --- Races --------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_fifty_at_once_exactly_ten_begin(settings: Any, champion: ModelVersion) -> None:
    """The very first requests, too: no budget's row is there yet, nor the account's."""
    account, worst = uuid.uuid4(), NANO // 100
    limit(settings, global_month=10 * worst, inference_day=11 * worst, account_day=12 * worst)

    def begin(_number: int) -> uuid.UUID:
        with transaction.atomic():
            run = run_of(champion)
            hold(worst, run, account_ids=[account])
        return run.pk

    found = factories.together(begin, 50)

    begun = [each for each in found if isinstance(each, uuid.UUID)]
    assert len(begun) == GpuRun.objects.count() == BudgetReservation.objects.count() == 10
    assert {type(each) for each in found} == {uuid.UUID, UsedUp}
    assert set(held().values()) == {10 * worst}
    assert Budget.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_money_that_turns_from_held_to_spent_is_at_no_moment_free(settings: Any, champion: ModelVersion) -> None:
    """Each run costs what was held for it: fifty that begin and end at once are ten all the same."""
    accounts = [uuid.uuid4() for _ in range(4)]
    limit(settings, global_day=70, account_day=10**6)

    def work(number: int) -> None:
        mine = [accounts[number % 4], accounts[(number + 1) % 4]]
        with transaction.atomic():
            run = run_of(champion)
            hold(7, run, account_ids=mine)
        with transaction.atomic():
            spend(7, run=run, account_id=mine[0])
            budgets.settle(run.pk)

    found = factories.together(work, 50)

    assert found.count(None) == 10
    assert {type(each) for each in found} == {type(None), UsedUp}
    assert set(held().values()) == {0}
    assert [status.spent for status in budgets.status(NOW)] == [70]

"""Texts and budgets: what may not be paid for steps down to the CPU and says so, or waits; an account's is its own."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import factories
import page_reading as pages
import pytest
import samples
from django.test import Client
from django.utils import timezone

from billing.models import User
from detector import batching, dispatch
from detector.models import Submission
from gpujobs import estimates, ledger, routing
from gpujobs.backends import Answer, BackendError
from gpujobs.backends.runpod import BREAKER_NAME
from gpujobs.breaker import Breaker
from gpujobs.budgets import UsedUp
from gpujobs.models import Budget, BudgetReservation, CostEntry, GpuRun, ModelVersion
from gpujobs.pod.contract import ScoreRequest

NOW = factories.NOW


class Rented(factories.ScriptedBackend):
    """A GPU somewhere."""

    name = "runpod"
    tier = "gpu"


@pytest.fixture(autouse=True)
def rented(settings: Any, champion: ModelVersion) -> Iterator[Any]:
    """An endpoint with a closed breaker and a price; hybrid, and every text wakes the GPU."""
    settings.SCORING_POLICY, settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = "hybrid", "4m7x", "rpa_test"
    settings.GPU_WAKE_SECONDS = 0
    Breaker(BREAKER_NAME).succeeded()
    yield settings
    Breaker(BREAKER_NAME).succeeded()


def limit(settings: Any, **amounts: int) -> None:
    settings.BUDGETS_NANOUSD = {name.replace("_", "-"): amount for name, amount in amounts.items()}


def spend(amount: int, account_id: uuid.UUID | None = None) -> None:
    values: dict[str, Any] = {"kind": "execution", "service": "inference", "provider": "runpod"}
    ledger.post(
        [CostEntry(**values, amount_nanousd=amount, at=NOW, account_id=account_id, source_ref=uuid.uuid4().hex)]
    )


def on_the_gpu() -> bool:
    return dispatch.next_batch(now=NOW, backend=Rented())


def on_the_cpu() -> bool:
    return dispatch.next_batch(now=NOW, backend=factories.ScriptedBackend())


def warm(version: ModelVersion) -> None:
    """A worker has just answered."""
    run = GpuRun.objects.create(
        backend="runpod",
        model_version=version,
        texts=1,
        status="succeeded",
        finished_at=NOW,
        lease_expires_at=NOW,
        costed_at=NOW,
    )
    GpuRun.objects.filter(pk=run.pk).update(created_at=NOW - timedelta(seconds=2))


def test_a_batch_holds_its_worst_case_until_it_is_costed(rented: Any, alice: User) -> None:
    limit(rented, inference_month=10**9)
    text = factories.accepted(factories.owner(alice))
    assert on_the_gpu()
    text.refresh_from_db()
    (held,) = BudgetReservation.objects.all()
    assert held.run_id == text.run_id
    assert held.amount_nanousd == estimates.batch_nanousd(NOW) == Budget.objects.get().held_nanousd
    assert held.expires_at > text.deadline_at
    assert not text.verdict.degraded


def test_work_of_the_cpu_never_asks(rented: Any, alice: User) -> None:
    limit(rented, global_month=0)
    factories.accepted(factories.owner(alice))
    assert on_the_cpu()
    assert not BudgetReservation.objects.exists()


def test_a_used_up_budget_steps_down_and_says_so(rented: Any, alice: User) -> None:
    limit(rented, global_month=estimates.batch_nanousd(NOW))
    spend(1)
    text = factories.accepted(factories.owner(alice))
    assert not on_the_gpu()
    assert on_the_cpu()
    text.refresh_from_db()
    assert (text.verdict.tier, text.verdict.degraded) == ("cpu", True)


def test_an_unreadable_budget_and_an_unknown_price_step_down_too(rented: Any, alice: User) -> None:
    limit(rented, global_month=10**12)
    assert not routing.now_open(now=NOW, waiting_characters=lambda _: 1).degraded
    rented.RUNPOD_GPU_POOLS = ["AMPERE_16", "A_POOL_OF_TOMORROW"]
    assert routing.now_open(now=NOW, waiting_characters=lambda _: 1).degraded
    rented.RUNPOD_GPU_POOLS = ["AMPERE_16"]
    Budget.objects.update(zone="Nowhere/Land")
    factories.accepted(factories.owner(alice))
    assert not on_the_gpu()
    assert routing.now_open(now=NOW, waiting_characters=lambda _: 1).degraded


def test_the_door_stays_shut_for_who_comes_second(rented: Any, alice: User) -> None:
    """The route is open for both, the money is there for one."""
    limit(rented, global_month=estimates.batch_nanousd(NOW))
    factories.accepted(factories.owner(alice), samples.HUMAN)
    assert dispatch.claim(backend="runpod", tier="gpu", now=NOW) is not None
    factories.accepted(factories.owner(alice), samples.AI)
    with pytest.raises(UsedUp) as caught:
        dispatch.claim(backend="runpod", tier="gpu", now=NOW)
    assert caught.value.code == "budget_used_up"
    assert GpuRun.objects.count() == 1
    assert Submission.objects.filter(status="queued").count() == 1


def test_an_account_without_room_stops_nobody_else(rented: Any, alice: User, bob: User, champion: ModelVersion) -> None:
    warm(champion)
    hers = factories.accepted(factories.owner(alice))
    his = factories.accepted(factories.owner(bob))
    limit(rented, account_day=2 * estimates.batch_nanousd(NOW))
    spend(2 * estimates.batch_nanousd(NOW), hers.account_id)
    assert on_the_gpu()
    assert not on_the_gpu()
    assert on_the_cpu(), "a warm GPU takes everything else"
    assert not on_the_cpu()
    hers.refresh_from_db()
    his.refresh_from_db()
    assert (his.verdict.tier, his.verdict.degraded) == ("gpu", False)
    assert (hers.verdict.tier, hers.verdict.degraded) == ("cpu", True)


def test_what_was_never_handed_over_is_released(rented: Any, alice: User) -> None:
    limit(rented, global_month=10**12)
    factories.accepted(factories.owner(alice))
    refused = Rented(script=[BackendError("runpod_breaker_open", permanent=False)])
    assert dispatch.next_batch(now=NOW, backend=refused)
    assert BudgetReservation.objects.get().status == BudgetReservation.Status.RELEASED
    assert Budget.objects.get().held_nanousd == 0


def test_gpu_only_waits_and_the_page_says_why(rented: Any, alice: User, client_of: Any) -> None:
    rented.SCORING_POLICY = "gpu"
    limit(rented, global_month=0)
    text = factories.accepted(factories.owner(alice), now=timezone.now() - timedelta(seconds=30))
    assert not on_the_gpu()
    assert not on_the_cpu()
    client: Client = client_of(alice)
    page: Any = client.get(f"/checks/{text.pk}/")
    said = pages.words(page)
    assert "The budget for all GPU work of a month is used up. GPU work starts again on" in said
    assert "nothing is charged" in said


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_as_many_begin_as_can_be_paid(
    rented: Any, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    worst = estimates.batch_nanousd(NOW)
    limit(rented, global_month=3 * worst)
    rented.RUNS_IN_FLIGHT = 100
    monkeypatch.setattr(batching, "GPU", batching.Limits(characters=10**6, texts=1))
    begun: list[str] = []
    for number in range(8):
        factories.accepted(factories.owner(alice), f"{number} {samples.HUMAN}")

    def answer(request: ScoreRequest) -> Answer:
        begun.append(request.run_id)
        return Rented().answer(request)

    def one_text(_number: int) -> bool:
        return dispatch.next_batch(now=NOW, backend=Rented(script=[answer]))

    factories.together(one_text, 8)
    while one_text(0):  # whoever found all rows locked comes again
        pass

    assert len(begun) == GpuRun.objects.count() == 3
    assert Budget.objects.get().held_nanousd == 3 * worst

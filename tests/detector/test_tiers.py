"""A text goes to the tier that the policy names, with that tier's model, and its verdict says which."""

from typing import Any

import factories
import pytest
from factories import NOW, ScriptedBackend

from billing.models import User
from detector import dispatch, wakeups
from detector.models import Submission
from gpujobs import registry, routing
from gpujobs.backends import BackendError
from gpujobs.breaker import FAILURES_IN_A_ROW, Breaker
from gpujobs.models import GpuRun, ModelVersion


class GpuBackend(ScriptedBackend):
    name, tier = "runpod", "gpu"


@pytest.fixture(autouse=True)
def endpoint(settings: Any) -> Any:
    settings.SCORING_POLICY, settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = "gpu", "4m7x", "rpa_test"
    Breaker(routing.BREAKER_NAME).succeeded()
    yield settings
    Breaker(routing.BREAKER_NAME).succeeded()


@pytest.fixture
def waiting(alice: User, champion: ModelVersion) -> Submission:
    return factories.accepted(factories.owner(alice))


def break_the_gpu() -> None:
    for _ in range(FAILURES_IN_A_ROW):
        Breaker(routing.BREAKER_NAME).failed("gone")


def test_the_policy_says_who_may_take_it(waiting: Submission) -> None:
    assert not dispatch.next_batch(now=NOW, backend=ScriptedBackend())
    assert dispatch.next_batch(now=NOW, backend=GpuBackend())
    waiting.refresh_from_db()
    assert (waiting.verdict.tier, waiting.verdict.degraded) == ("gpu", False)


def test_a_hybrid_steps_down_and_the_verdict_says_so(waiting: Submission, endpoint: Any) -> None:
    endpoint.SCORING_POLICY = "hybrid"
    break_the_gpu()
    assert not dispatch.next_batch(now=NOW, backend=GpuBackend())
    assert dispatch.next_batch(now=NOW, backend=ScriptedBackend())
    waiting.refresh_from_db()
    assert (waiting.verdict.tier, waiting.verdict.degraded, waiting.run.degraded) == ("cpu", True, True)


def test_a_long_queue_counts_by_its_head(alice: User, champion: ModelVersion, endpoint: Any) -> None:
    endpoint.SCORING_POLICY, endpoint.CPU_CHARACTERS_PER_SECOND = "hybrid", 10
    endpoint.GPU_WAKE_SECONDS = 10
    factories.accepted(factories.owner(alice))  # more than 100 characters
    assert dispatch.next_batch(now=NOW, backend=GpuBackend())


def test_each_tier_scores_with_its_own_model(alice: User, champion: ModelVersion, endpoint: Any) -> None:
    small = factories.version(model_version="small-1", model="inkcloak-small")
    registry.promote(small, alias=registry.CHAMPION_CPU, reason="the CPU has a model of its own")
    endpoint.SCORING_POLICY = "cpu"
    first = factories.accepted(factories.owner(alice))
    assert dispatch.next_batch(now=NOW, backend=ScriptedBackend())
    first.refresh_from_db()
    assert (first.model_version, first.verdict.model_version, first.run.model_version) == (small, small, small)
    endpoint.SCORING_POLICY = "gpu"
    Submission.objects.filter(pk=first.pk).update(status="queued")
    first.verdict.delete()
    assert dispatch.next_batch(now=NOW, backend=GpuBackend())
    first.refresh_from_db()
    assert first.model_version == champion


def test_a_stand_in_takes_only_what_it_can_judge(alice: User, champion: ModelVersion, endpoint: Any) -> None:
    english = factories.version(model_version="small-1", thresholds={"en": {"0.01": factories.LIMITS["0.01"]}})
    registry.promote(english, alias=registry.CHAMPION_CPU, reason="English at one cap")
    endpoint.SCORING_POLICY = "cpu"
    loose = factories.accepted(factories.owner(alice), max_fpr="0.05")
    assert not dispatch.next_batch(now=NOW, backend=ScriptedBackend())
    loose.refresh_from_db()
    assert loose.status == "queued"


def test_a_refusal_at_the_breaker_is_no_attempt(waiting: Submission) -> None:
    refused = BackendError("runpod_breaker_open", permanent=False)
    for _ in range(5):
        assert dispatch.next_batch(now=NOW, backend=GpuBackend(script=[refused]))
    waiting.refresh_from_db()
    assert (waiting.status, waiting.attempts) == ("queued", 0)
    assert GpuRun.objects.filter(failure_code="runpod_breaker_open").count() == 5


def test_both_workers_are_woken_where_there_is_an_endpoint(monkeypatch: pytest.MonkeyPatch, endpoint: Any) -> None:
    sent: list[str] = []
    monkeypatch.setattr(wakeups.app, "send_task", lambda name, **_: sent.append(name))
    wakeups.queue_has_work()
    endpoint.RUNPOD_ENDPOINT_ID = ""
    wakeups.queue_has_work()
    assert sent == ["detector.tasks.dispatch_queued", "detector.tasks.dispatch_gpu", "detector.tasks.dispatch_queued"]

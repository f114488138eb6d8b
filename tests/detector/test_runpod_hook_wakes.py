"""A bulk text at RunPod, scored by the real worker: its end is told, or found by asking, and makes one verdict.

Looks are set so rare that a verdict which comes at once comes by the webhook.
"""

import base64
import json
import sys
from datetime import timedelta
from typing import Any

import factories
import pytest
import redis
from django.utils import timezone

from billing.models import User
from detector import dispatch, tasks
from detector.models import Submission
from gpujobs import backends, runs
from gpujobs.breaker import Breaker
from gpujobs.models import GpuRun, ModelVersion
from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

pytestmark = pytest.mark.django_db(transaction=True)

RARE_SECONDS = 3600.0


@pytest.fixture
def endpoint(runpod: LoopbackRunPod, live_server: Any, settings: Any) -> str:
    """Cold, what the settings name, and told where this site is."""
    runpod.image("*", [sys.executable, "-m", "gpujobs.pod.handler"], {"INKCLOAK_ENGINE_THREADS": "1"})
    made = runpod.endpoint(workers={"min": 0, "max": 1}, scaling={"type": "REQUEST_COUNT", "requestCount": 1})
    settings.SCORING_POLICY = "gpu"
    settings.RUNPOD_BASE_URL, settings.RUNPOD_WEBHOOK_URL = f"{runpod.url}/v2", live_server.url
    settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = made, runpod.key
    Breaker("runpod").succeeded()
    return made


@pytest.fixture
def rare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "FIRST_LOOK_SECONDS", RARE_SECONDS)
    monkeypatch.setattr(runs, "LONGEST_LOOK_SECONDS", RARE_SECONDS)


@pytest.fixture
def handed_in(endpoint: str, shipped: ModelVersion, alice: User) -> Submission:
    """A text that nobody watches."""
    return factories.accepted(factories.owner(alice), now=timezone.now(), lane=Submission.Lane.BULK)


def hand_over() -> GpuRun:
    assert dispatch.next_batch(now=timezone.now(), backend=backends.get("runpod"))
    run = GpuRun.objects.get()
    assert (run.status, bool(run.external_id)) == ("running", True)
    return run


def due_now(broker: redis.Redis) -> list[str]:
    """The runs that messages say shall be looked at at once; those with a time of theirs still wait for it."""
    messages = [json.loads(raw) for raw in broker.lrange("default", 0, -1)]
    looks = [message for message in messages if message["headers"]["task"] == tasks.look_after.name]
    return [json.loads(base64.b64decode(look["body"]))[0][0] for look in looks if look["headers"]["eta"] is None]


def deliveries(runpod: LoopbackRunPod) -> list[int]:
    return [entry["status"] for entry in runpod.control("GET", "webhooks")]


def by_the_hook(broker: redis.Redis) -> None:
    """As a worker of the queue does with what the hook sent."""
    for run_id in eventually(lambda: due_now(broker)):
        tasks.look_after(run_id)


@pytest.mark.usefixtures("rare")
def test_the_hook_brings_the_verdict_at_once(
    handed_in: Submission, runpod: LoopbackRunPod, broker: redis.Redis
) -> None:
    run = hand_over()
    assert run.next_look_at > timezone.now() + timedelta(seconds=RARE_SECONDS / 2)
    by_the_hook(broker)
    handed_in.refresh_from_db()
    assert (handed_in.status, handed_in.verdict.tier) == ("done", "gpu")
    eventually(lambda: deliveries(runpod) == [200])  # taken at the first try
    assert runpod.count("status") == 1


@pytest.mark.usefixtures("rare")
def test_a_doubled_hook_makes_one_verdict(handed_in: Submission, runpod: LoopbackRunPod, broker: redis.Redis) -> None:
    runpod.fault("webhook_duplicate")
    hand_over()
    eventually(lambda: deliveries(runpod) == [200, 200])
    by_the_hook(broker)
    by_the_hook(broker)
    handed_in.refresh_from_db()
    assert (handed_in.status, handed_in.attempts) == ("done", 1)
    assert runpod.count("status") == 1


@pytest.mark.usefixtures("rare")
def test_a_late_hook_finds_nothing_left_to_do(
    handed_in: Submission, endpoint: str, runpod: LoopbackRunPod, broker: redis.Redis
) -> None:
    runpod.fault("webhook_slow", seconds_late=120)
    run = hand_over()
    runpod.final(endpoint, run.external_id)
    GpuRun.objects.update(next_look_at=timezone.now())
    tasks.look_after(str(run.pk))
    handed_in.refresh_from_db()
    assert handed_in.status == "done"
    runpod.advance(120)
    eventually(lambda: deliveries(runpod) == [200])
    assert due_now(broker) == []


def test_the_poll_brings_the_verdict_when_the_hook_is_missing(handed_in: Submission, runpod: LoopbackRunPod) -> None:
    runpod.fault("webhook_missing")
    run = hand_over()

    def looked() -> bool:
        tasks.look_after(str(run.pk))
        handed_in.refresh_from_db()
        return handed_in.is_finished

    eventually(looked)
    assert (handed_in.status, handed_in.verdict.tier) == ("done", "gpu")
    assert deliveries(runpod) == []

"""The whole way with `SCORING_POLICY=gpu`: a pasted text, a real worker, a verdict that says it came from a GPU."""

import logging
import sys
from pathlib import Path
from typing import Any

import factories
import pytest
import samples
from django.utils import timezone

from billing.models import User
from detector import dispatch
from gpujobs import backends
from gpujobs.breaker import Breaker
from gpujobs.models import GpuRun, ModelVersion
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

pytestmark = pytest.mark.django_db(transaction=True)  # a thread of its own renews the lease


@pytest.fixture
def endpoint(runpod: LoopbackRunPod, settings: Any) -> str:
    """Cold, and what the settings name."""
    runpod.image("*", [sys.executable, "-m", "gpujobs.pod.handler"], {"INKCLOAK_ENGINE_THREADS": "1"})
    made = runpod.endpoint(workers={"min": 0, "max": 1}, scaling={"type": "REQUEST_COUNT", "requestCount": 1})
    settings.SCORING_POLICY, settings.RUNPOD_BASE_URL = "gpu", f"{runpod.url}/v2"
    settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = made, runpod.key
    return made


def test_it_gives_a_verdict(
    endpoint: str, runpod: LoopbackRunPod, shipped: ModelVersion, alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    submission = factories.accepted(factories.owner(alice), now=timezone.now())
    with caplog.at_level(logging.DEBUG):
        assert dispatch.next_batch(now=timezone.now(), backend=backends.get("runpod"))
    submission.refresh_from_db()
    assert submission.status == "done"
    assert submission.verdict.tier == "gpu"
    assert submission.run.backend == "runpod"
    worker_logs = "".join(path.read_text() for path in (Path(runpod._data) / "logs").iterdir())
    for known in (samples.HUMAN[:20], runpod.key):
        assert known not in caplog.text + worker_logs


def test_it_tries_again_when_the_service_is_down(
    endpoint: str, runpod: LoopbackRunPod, shipped: ModelVersion, alice: User
) -> None:
    Breaker(backends.get("runpod").name).succeeded()
    submission = factories.accepted(factories.owner(alice), now=timezone.now())
    fault = runpod.fault("bad_gateway", where={"op": "runsync"}, times=None)
    assert dispatch.next_batch(now=timezone.now(), backend=backends.get("runpod"))
    run = GpuRun.objects.get()
    assert (run.status, run.failure_code) == ("failed", "runpod_unavailable")
    runpod.control("DELETE", f"faults/{fault}")
    assert dispatch.next_batch(now=timezone.now(), backend=backends.get("runpod"))
    submission.refresh_from_db()
    assert (submission.status, submission.attempts) == ("done", 2)

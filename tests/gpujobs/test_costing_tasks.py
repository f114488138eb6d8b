"""The doors of the beat: costing and reconciling, with and without what they need."""

import logging
from typing import Any

import pytest
from costing_rows import ended, total

from gpujobs import tasks
from gpujobs.models import GpuRun, ModelVersion, ReconciledDay
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]
pytestmark = pytest.mark.django_db


def test_costing_twice_is_once(champion: ModelVersion) -> None:
    ended(champion, at=0, long=1)
    tasks.cost()
    before = total()
    tasks.cost()
    assert total() == before > 0
    assert GpuRun.objects.get().costed_at is not None


def test_workers_without_a_price_hold_up_no_run(
    champion: ModelVersion, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.RUNPOD_WORKERS_MIN, settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_GPU_POOLS = 1, "e1", ["UNKNOWN"]
    ended(champion, at=0, long=1)
    with caplog.at_level(logging.ERROR):
        tasks.cost()
    assert GpuRun.objects.filter(costed_at=None).count() == 0
    assert "no price of runpod UNKNOWN" in caplog.text


def test_without_an_endpoint_nobody_is_asked_for_a_bill(settings: Any) -> None:
    settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_REST_URL = "", "http://127.0.0.1:1/v2"
    tasks.reconcile()
    assert not ReconciledDay.objects.exists()


def test_it_reconciles_with_the_account_of_the_settings(runpod: LoopbackRunPod, settings: Any) -> None:
    settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = "e1", runpod.key
    settings.RUNPOD_REST_URL, settings.RUNPOD_GRAPHQL_URL = f"{runpod.url}/v2", f"{runpod.url}/graphql"
    tasks.reconcile()
    assert runpod.count("billing") == 2
    assert not ReconciledDay.objects.exists()


def test_a_refused_key_is_logged_and_changes_nothing(
    runpod: LoopbackRunPod, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = "e1", "wrong"
    settings.RUNPOD_REST_URL = f"{runpod.url}/v2"
    tasks.reconcile()
    assert "not reconciled: RunPod: unauthorized" in caplog.text
    assert "wrong" not in caplog.text

"""A caller who names a model version gets that one or nothing; and the same text once more by the same version."""

from typing import Any

import factories
import pytest
import samples
from api_calls import Caller, problem
from django.utils import timezone
from factories import ScriptedBackend
from pytest_django import Settings

from billing.models import User
from detector import dispatch, pinning
from detector.models import Submission
from gpujobs import registry, routing
from gpujobs.models import ModelVersion

pytestmark = pytest.mark.django_db


class GpuBackend(ScriptedBackend):
    name, tier = "runpod", "gpu"


@pytest.fixture
def caller(alice: User, champion: ModelVersion) -> Caller:
    return Caller(alice)


@pytest.fixture
def small(champion: ModelVersion) -> ModelVersion:
    """The CPU has a model of its own, which stands in for the champion."""
    made = factories.version(model_version="small-1", model="inkcloak-small")
    registry.promote(made, alias=registry.CHAMPION_CPU, reason="a test needs it")
    return made


@pytest.fixture
def folder(settings: Settings, tmp_path: Any):
    """folder(version): its files lie on this machine."""
    settings.MODEL_DIR = tmp_path

    def made(version: str) -> None:
        (tmp_path / version).mkdir()
        (tmp_path / version / "manifest.json").write_text(f'{{"model_version": "{version}"}}')

    return made


def work(backend: ScriptedBackend | None = None) -> ScriptedBackend:
    backend = backend or ScriptedBackend()
    while dispatch.next_batch(now=timezone.now(), backend=backend):
        pass
    return backend


def test_a_named_version_answers_and_no_other(caller: Caller, folder: Any) -> None:
    folder("older-1")
    factories.version(model_version="older-1")
    made = caller.check(samples.AI, model="older-1")
    backend = work()
    found = caller.get(f"/detections/{made['id']}").json()
    assert (found["model_version"], found["pinned"]) == ("older-1", True)
    assert [request.model_version for request in backend.requests] == ["older-1"]


def test_a_version_whose_files_are_gone_is_not_callable(caller: Caller) -> None:
    factories.version(model_version="older-1")
    answer = caller.post("/detections", {"text": samples.AI, "model": "older-1"})
    assert problem(answer) == (409, "model_not_callable")
    assert not Submission.objects.exists()


@pytest.mark.usefixtures("small")
def test_no_stand_in_answers_for_a_named_version(caller: Caller, folder: Any, settings: Settings) -> None:
    folder("test-version-1")
    made = caller.check(samples.AI, model="test-version-1")
    work()
    assert caller.get(f"/detections/{made['id']}").json()["model_version"] == "test-version-1"
    other = caller.check(samples.HUMAN)
    work()
    assert caller.get(f"/detections/{other['id']}").json()["model_version"] == "small-1"


@pytest.mark.usefixtures("small")
def test_a_tier_leaves_versions_alone_that_it_does_not_have(caller: Caller, settings: Settings) -> None:
    settings.SCORING_POLICY = "hybrid"
    settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY, settings.GPU_WAKE_SECONDS = "4m7x", "rpa_test", 0
    large, little = (
        caller.check(text, model=name)
        for text, name in (
            (samples.AI, "test-version-1"),
            (samples.HUMAN, "small-1"),
        )
    )
    assert [request.model_version for request in work().requests] == ["small-1"]
    assert [request.model_version for request in work(GpuBackend()).requests] == ["test-version-1"]
    assert {caller.get(f"/detections/{one['id']}").json()["tier"] for one in (large, little)} == {"cpu", "gpu"}


@pytest.mark.parametrize(
    ("policy", "callable_"),
    [
        ("cpu", {"small-1", "older-1"}),
        ("gpu", {"test-version-1"}),
        ("hybrid", {"small-1", "older-1", "test-version-1"}),
    ],
)
@pytest.mark.usefixtures("small")
def test_what_is_callable_hangs_on_policy_and_files(
    folder: Any, settings: Settings, policy: str, callable_: set[str]
) -> None:
    folder("older-1")
    settings.SCORING_POLICY = policy
    known = {"small-1", "older-1", "test-version-1", "lost-1"}
    assert {version for version in known if pinning.tiers_of(version, now=timezone.now())} == callable_
    assert pinning.scored_by(routing.GPU, known) == {"test-version-1"}


def test_a_pinned_repeat_is_no_answer_of_another_version(caller: Caller, small: ModelVersion, folder: Any) -> None:
    folder("test-version-1")
    caller.check(samples.AI)
    work()  # by the CPU's own model
    assert caller.check(samples.AI)["cached"]
    assert caller.check(samples.AI, model="test-version-1")["status"] == "queued"
    assert caller.check(samples.AI, model="small-1")["cached"]


# --- Run again ----------------------------------------------------------------------------------------------


def test_it_runs_again_on_the_version_that_judged_it(caller: Caller, folder: Any) -> None:
    folder("test-version-1")
    first = caller.check(samples.AI, max_fpr=0.05, metadata={"essay": "17"})
    work()
    factories.champion(model_version="test-version-2")
    answer = caller.post(f"/detections/{first['id']}/rerun")
    again = answer.json()
    assert (answer.status_code, again["rerun_of"], again["pinned"], again["cached"]) == (202, first["id"], True, False)
    backend = work()
    assert [request.model_version for request in backend.requests] == ["test-version-1"]
    found = caller.get(f"/detections/{again['id']}").json()
    assert (found["model_version"], found["max_fpr"], found["metadata"]) == ("test-version-1", 0.05, {"essay": "17"})
    assert caller.ledger() == [("charged", found["words"])] * 2


def test_it_does_not_run_again_on_a_version_that_is_gone(caller: Caller, settings: Settings, tmp_path: Any) -> None:
    first = caller.check(samples.AI)
    work()
    settings.MODEL_DIR = tmp_path
    factories.champion(model_version="test-version-2")
    assert problem(caller.post(f"/detections/{first['id']}/rerun")) == (409, "model_not_callable")


def test_it_does_not_run_again_what_has_no_verdict(caller: Caller) -> None:
    first = caller.check(samples.AI)
    assert problem(caller.post(f"/detections/{first['id']}/rerun")) == (409, "not_finished")


def test_it_runs_once_for_an_idempotency_key(caller: Caller) -> None:
    first = caller.check(samples.AI)
    work()
    header = {"Idempotency-Key": "again"}
    made = [caller.post(f"/detections/{first['id']}/rerun", **header).json()["id"] for _ in range(2)]
    assert made[0] == made[1] != first["id"]

"""GET /models and /benchmarks: what can be called, and what was measured of it."""

from pathlib import Path

import factories
import pytest
from api_calls import Caller, problem
from pytest_django import Settings

from billing.models import User
from gpujobs import registry
from gpujobs.models import ModelVersion

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller(alice: User) -> Caller:
    return Caller(alice)


def test_models_are_those_that_can_be_called(caller: Caller, champion: ModelVersion) -> None:
    factories.version(model_version="lost-1")
    (found,) = caller.get("/models").json()["items"]
    assert (found["version"], found["name"], found["default"]) == ("test-version-1", "inkcloak-test", True)
    assert (found["languages"], found["min_words"], found["max_characters"]) == (["en", "es"], 50, 100_000)
    assert found["max_fprs"] == {"en": [0.005, 0.01, 0.05], "es": [0.005, 0.01, 0.05]}
    assert (found["default_max_fpr"], found["tiers"], found["flip_rate"]) == (0.01, ["cpu"], None)


def test_a_tiers_own_model_is_listed_too(caller: Caller, champion: ModelVersion) -> None:
    small = factories.version(model_version="small-1", model="inkcloak-small", flip_rate=0.031)
    registry.promote(small, alias=registry.CHAMPION_CPU, reason="a test needs it")
    (found,) = caller.get("/models").json()["items"]  # the policy is cpu: nobody would score by the champion
    assert (found["version"], found["flip_rate"], found["default"]) == ("small-1", 0.031, False)


def test_without_a_model_in_service_it_says_so(caller: Caller) -> None:
    for path in ("/models", "/benchmarks"):
        assert problem(caller.get(path)) == (503, "no_model")


@pytest.mark.usefixtures("shipped")
def test_benchmarks_are_the_figures_of_the_stored_report(caller: Caller) -> None:
    found = caller.get("/benchmarks").json()
    version = registry.resolve()
    assert (found["model"], found["model_version"]) == (version.name, version.pk)
    assert found["report"].endswith("/accuracy/report.json")
    assert found["figures"]["default_max_fpr"] == version.manifest["default_max_fpr"]
    assert found["figures"]["headline"]


@pytest.mark.usefixtures("champion")
@pytest.mark.parametrize("asked", ["", "?model_version=none", "?model_version=../..", "?model_version=%00"])
def test_a_version_without_a_report_has_no_benchmarks(
    caller: Caller, settings: Settings, tmp_path: Path, asked: str
) -> None:
    settings.REPORTS_FOLDER = tmp_path
    assert problem(caller.get(f"/benchmarks{asked}")) == (404, "not_found")

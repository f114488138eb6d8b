"""`manage.py runpod_doctor` against the loopback RunPod: it finds what is wrong, says what to do, and ends with 1."""

import contextlib
import io
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import factories
import pytest
from django.core.management import call_command

from gpujobs import endpoints
from gpujobs.backends.runpod import BREAKER_NAME
from gpujobs.breaker import Breaker
from gpujobs.models import ModelAlias, ModelVersion
from gpujobs.pod.contract import ScoreRequest
from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]
pytestmark = pytest.mark.django_db

KEY = "rpa_planted_key"
Body = Callable[[ScoreRequest], str]


@pytest.fixture(autouse=True)
def endpoint(runpod: LoopbackRunPod, settings: Any, champion: ModelVersion) -> Iterator[str]:
    """An endpoint as the settings want it, whose worker the test plays, and a model in service."""
    runpod.control("POST", "keys", {"key": KEY})
    settings.RUNPOD_BASE_URL = settings.RUNPOD_REST_URL = f"{runpod.url}/v2"
    settings.RUNPOD_GRAPHQL_URL = f"{runpod.url}/graphql"
    settings.RUNPOD_API_KEY, settings.RUNPOD_IMAGE = KEY, "inkcloak/pod:7"
    want = endpoints.wanted()
    runpod.call("POST", "/v2/templates", want.template())
    settings.RUNPOD_ENDPOINT_ID = runpod.played(**want.endpoint())
    yield settings.RUNPOD_ENDPOINT_ID
    Breaker(BREAKER_NAME).succeeded()


def good(request: ScoreRequest) -> str:
    answer = factories.response(request, [factories.scores(text, 0.2) for text in request.texts])
    return json.dumps({"output": answer.to_json()})


def doctor(*words: str) -> tuple[bool, dict[str, dict[str, str]]]:
    """Whether it is content, and its findings by name."""
    out = io.StringIO()
    try:
        call_command("runpod_doctor", "--json", *words, stdout=out)
        status = 0
    except SystemExit as end:
        status = int(str(end.code))
    assert KEY not in out.getvalue()
    said = json.loads(out.getvalue())
    assert said["ok"] is (status == 0)
    return said["ok"], {each["name"]: each for each in said["findings"]}


def states(found: dict[str, dict[str, str]]) -> dict[str, str]:
    return {name: each["state"] for name, each in found.items()}


@contextlib.contextmanager
def working(runpod: LoopbackRunPod, endpoint: str, body: Body) -> Iterator[None]:
    """A worker that answers one job with `body`."""

    def work() -> None:
        worker = runpod.worker(endpoint)

        def taken() -> dict[str, Any] | None:
            answer = runpod.take(endpoint, worker)
            return dict(answer.json()) if answer.status_code == 200 else None

        job = eventually(taken)
        assert job is not None
        runpod.done(endpoint, worker, job["id"], body(ScoreRequest.from_json(job["input"])))

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join(10)
    assert not thread.is_alive()


def test_it_is_content_where_all_is_well(runpod: LoopbackRunPod, endpoint: str, champion: ModelVersion) -> None:
    with working(runpod, endpoint, good):
        ok, found = doctor()
    assert ok
    assert set(states(found).values()) == {"ok"}
    assert list(found) == ["key", "endpoint", "scaler", "settings", "workers", "balance", "breaker", "model"]
    assert found["workers"]["says"] == "none now: it has scaled to zero"
    assert found["balance"]["says"] == "$100.00"
    assert champion.pk in found["model"]["says"]


def test_it_tells_people_line_by_line(runpod: LoopbackRunPod, endpoint: str) -> None:
    out = io.StringIO()
    runpod.fault("balance", usd=3)
    call_command("runpod_doctor", "--no-job", stdout=out)
    assert "ok       key       accepted" in out.getvalue()
    assert "warning  balance   $3.00\n" + " " * 19 + "-> Add credit: it is below $10." in out.getvalue()


@pytest.mark.parametrize(
    ("name", "value", "finding", "said"),
    [
        ("RUNPOD_API_KEY", "", "settings", "RUNPOD_API_KEY not set"),
        ("RUNPOD_ENDPOINT_ID", "", "settings", "RUNPOD_ENDPOINT_ID not set"),
        ("RUNPOD_API_KEY", "rpa_wrong", "key", "unauthorized"),
        ("RUNPOD_ENDPOINT_ID", "elsewhere", "key", "endpoint missing"),
        ("RUNPOD_BASE_URL", "http://127.0.0.1:1/v2", "key", "unreachable"),
        ("RUNPOD_REST_URL", "http://127.0.0.1:1/v2", "endpoint", "unreachable"),
    ],
)
def test_it_finds_wrong_settings(
    settings: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str, finding: str, said: str
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    setattr(settings, name, value)
    ok, found = doctor("--no-job")
    assert (ok, found[finding]["state"]) == (False, "trouble")
    assert said in found[finding]["says"]
    assert found[finding]["fix"]


def test_a_key_that_may_only_score_is_no_trouble(runpod: LoopbackRunPod, settings: Any) -> None:
    runpod.control("POST", "keys", {"key": "rpa_scores_only", "rest": False})
    settings.RUNPOD_API_KEY = "rpa_scores_only"
    ok, found = doctor("--no-job")
    assert ok
    assert states(found) == {"key": "ok", "endpoint": "warning", "balance": "warning", "breaker": "ok"}


def test_it_finds_that_nobody_asked_for_a_week(runpod: LoopbackRunPod) -> None:
    runpod.advance(4 * 86_400)
    ok, found = doctor("--no-job")
    assert (ok, found["scaler"]["state"]) == (True, "warning")
    runpod.fault("max_workers_zero")
    ok, found = doctor()
    assert (ok, found["scaler"]["state"], found["model"]["state"]) == (False, "trouble", "warning")
    assert "runpod_deploy --yes" in found["scaler"]["fix"]


def test_it_finds_settings_other_than_wanted(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.call("PATCH", f"/v2/serverless/{endpoint}", {"timeout": 1000, "env": {"BY_HAND": "x"}})
    ok, found = doctor("--no-job")
    assert (ok, found["settings"]["state"]) == (True, "warning")
    assert "endpoint.timeout" in found["settings"]["says"]
    assert "endpoint.env.BY_HAND" in found["settings"]["says"]


def test_it_finds_an_empty_account(runpod: LoopbackRunPod) -> None:
    runpod.fault("balance", usd=0)
    ok, found = doctor()
    assert (ok, found["balance"]["state"], found["model"]["says"]) == (
        False,
        "trouble",
        "not asked: no worker would come",
    )


def test_it_finds_workers_that_get_no_card(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("throttled")
    runpod.call("PATCH", f"/v2/serverless/{endpoint}", {"workers": {"min": 1}})
    _, found = doctor("--no-job")
    assert (found["workers"]["state"], found["workers"]["says"]) == ("warning", "1 throttled")
    assert "RUNPOD_GPU_POOLS" in found["workers"]["fix"]


def test_it_finds_workers_that_fail_at_their_start(runpod: LoopbackRunPod, settings: Any) -> None:
    runpod.fault("unhealthy")
    settings.RUNPOD_ENDPOINT_ID = broken = runpod.endpoint(workers={"min": 1, "max": 1})
    eventually(lambda: [each for each in runpod.workers(broken) if each["phase"] == "UNHEALTHY"])
    ok, found = doctor("--no-job")
    assert (ok, found["workers"]["state"], found["workers"]["says"]) == (False, "trouble", "1 unhealthy")


def test_it_finds_an_open_breaker() -> None:
    Breaker(BREAKER_NAME).failed("runpod_unpaid", at_once=True)
    ok, found = doctor("--no-job")
    assert (ok, found["breaker"]["state"], found["breaker"]["fix"]) == (True, "warning", "The account needs credit.")


def other_model(request: ScoreRequest) -> str:
    return good(request).replace(request.model_version, "another-version")


def not_scored(request: ScoreRequest) -> str:
    texts = [factories.failed(factories.scores(text, 0.2), "engine") for text in request.texts]
    return json.dumps({"output": factories.response(request, texts).to_json()})


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (other_model, "serves another-version"),
        (not_scored, "was not scored: engine"),
        (lambda _: '{"error": "contract"}', "FAILED: contract"),
        (lambda _: '{"error": "The planted words of a text"}', "FAILED"),
        (lambda _: '{"output": {"texts": []}}', "contract version None"),
    ],
)
def test_it_finds_an_endpoint_that_answers_wrongly(
    runpod: LoopbackRunPod, endpoint: str, body: Body, said: str
) -> None:
    with working(runpod, endpoint, body):
        ok, found = doctor()
    assert (ok, found["model"]["state"]) == (False, "trouble")
    assert said in found["model"]["says"]
    assert "planted" not in found["model"]["says"]
    assert found["model"]["fix"]


def test_it_does_not_wait_for_ever(runpod: LoopbackRunPod) -> None:
    runpod.fault("throttled")
    ok, found = doctor("--wait", "1")
    assert (ok, found["model"]["says"]) == (False, "RunPod throttled")
    assert [job["status"] for job in runpod.control("GET", "jobs")] == ["CANCELLED"]


def test_it_wants_a_model_in_service() -> None:
    ModelAlias.objects.all().delete()
    ok, found = doctor()
    assert (ok, found["model"]["fix"]) == (False, "manage.py register_shipped_model")

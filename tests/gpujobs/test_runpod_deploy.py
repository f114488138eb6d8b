"""`manage.py runpod_deploy` against the loopback RunPod: plan first, --yes does it, twice is once, no secret shown."""

import io
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command

from gpujobs import endpoints
from gpujobs.providers import runpod_rest
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

KEY = "rpa_planted_key"


@pytest.fixture(autouse=True)
def account(runpod: LoopbackRunPod, settings: Any, monkeypatch: pytest.MonkeyPatch) -> LoopbackRunPod:
    """Settings as docs/runpod.md has them, before there is an endpoint."""
    runpod.control("POST", "keys", {"key": KEY})
    monkeypatch.setattr(runpod_rest.time, "sleep", lambda _: None)
    settings.RUNPOD_REST_URL, settings.RUNPOD_GRAPHQL_URL = f"{runpod.url}/v2", f"{runpod.url}/graphql"
    settings.RUNPOD_API_KEY, settings.RUNPOD_ENDPOINT_ID = KEY, ""
    settings.RUNPOD_IMAGE = "inkcloak/pod:7"
    settings.RUNPOD_WORKER_ENV = ["TOKEN=planted-value"]
    return runpod


def deploy(*words: str) -> str:
    out = io.StringIO()
    try:
        call_command("runpod_deploy", *words, stdout=out)
    finally:
        assert KEY not in out.getvalue()
        assert "planted" not in out.getvalue()
    return out.getvalue()


def refusal(*words: str) -> str:
    with pytest.raises(CommandError) as caught:
        deploy(*words)
    assert KEY not in str(caught.value)
    return str(caught.value)


def made(runpod: LoopbackRunPod) -> list[dict[str, Any]]:
    return list(runpod.call("GET", "/v2/serverless").json()["endpoints"])


def writes(runpod: LoopbackRunPod) -> list[str]:
    return [f"{e['method']} {e['path']}" for e in runpod.control("GET", "requests?op=rest") if e["method"] != "GET"]


def test_it_shows_the_plan_and_changes_nothing(runpod: LoopbackRunPod) -> None:
    shown = deploy()
    assert "template inkcloak-worker: create" in shown
    assert "endpoint inkcloak: create" in shown
    assert "inkcloak/pod:7" in shown
    assert "--yes" in shown
    assert writes(runpod) == []


def test_it_creates_both_with_every_setting(runpod: LoopbackRunPod) -> None:
    shown = deploy("--yes")
    (endpoint,) = made(runpod)
    want = endpoints.wanted().endpoint()
    gpu = {name: value for name, value in want.pop("gpu").items() if name != "excludedTypes"}
    assert {name: endpoint[name] for name in want} == want
    assert endpoint["gpu"] == gpu
    assert endpoint["env"] == {"RUNPOD_LOG_LEVEL": "INFO", "TOKEN": "planted-value"}
    (template,) = runpod.call("GET", "/v2/templates").json()["templates"]
    assert {name: template[name] for name in endpoints.wanted().template()} == endpoints.wanted().template()
    assert f"RUNPOD_ENDPOINT_ID={endpoint['id']}" in shown


def test_twice_is_once(runpod: LoopbackRunPod, settings: Any) -> None:
    deploy("--yes")
    before = writes(runpod)
    settings.RUNPOD_ENDPOINT_ID = made(runpod)[0]["id"]
    assert "Nothing to do" in deploy("--yes")
    assert writes(runpod) == before
    assert len(made(runpod)) == 1


def test_it_brings_a_new_image_to_both(runpod: LoopbackRunPod) -> None:
    deploy("--yes")
    shown = deploy("--yes", "--image", "inkcloak/pod:8")
    assert "inkcloak/pod:7 -> inkcloak/pod:8" in shown
    assert made(runpod)[0]["image"] == "inkcloak/pod:8"
    assert runpod.call("GET", "/v2/templates").json()["templates"][0]["image"] == "inkcloak/pod:8"


def test_it_raises_max_workers_after_idle_weeks(runpod: LoopbackRunPod) -> None:
    deploy("--yes")
    runpod.advance(8 * 86_400)
    assert made(runpod)[0]["workers"]["max"] == 0
    shown = deploy("--yes")
    assert "7 days without requests" in shown
    assert made(runpod)[0]["workers"]["max"] == 3


def test_it_refuses_drift_by_name_and_leaves_it_when_told(runpod: LoopbackRunPod, settings: Any) -> None:
    deploy("--yes")
    path = f"/v2/serverless/{made(runpod)[0]['id']}"
    runpod.call("PATCH", path, {"env": {"RUNPOD_LOG_LEVEL": "DEBUG", "TOKEN": "x", "BY_HAND": "planted-by-hand"}})
    before = writes(runpod)
    assert "endpoint.env.BY_HAND" in refusal("--yes")
    assert writes(runpod) == before
    deploy("--yes", "--ignore", "endpoint.env.BY_HAND")
    assert made(runpod)[0]["env"] == {
        "RUNPOD_LOG_LEVEL": "INFO",
        "TOKEN": "planted-value",
        "BY_HAND": "planted-by-hand",
    }


@pytest.mark.parametrize(
    ("fault", "values"), [("server_error", {"after": True}), ("dropped_answer", {}), ("server_error", {})]
)
@pytest.mark.parametrize("creation", [1, 2])
def test_a_lost_answer_makes_nothing_twice(
    runpod: LoopbackRunPod, monkeypatch: pytest.MonkeyPatch, fault: str, values: dict, creation: int
) -> None:
    """The template's creation is the first, the endpoint's the second. The connection is the place where it is lost."""
    send, seen = httpx.Client.request, []

    def spoilt(self: httpx.Client, method: str, url: str, **rest: Any) -> httpx.Response:
        if method == "POST" and "/_control" not in str(url):
            seen.append(url)
            if len(seen) == creation:
                runpod.fault(fault, **values)
        return send(self, method, url, **rest)

    monkeypatch.setattr(httpx.Client, "request", spoilt)
    deploy("--yes")
    assert [each["name"] for each in made(runpod)] == ["inkcloak"]
    assert len(runpod.call("GET", "/v2/templates").json()["templates"]) == 1


def test_it_names_two_endpoints_of_one_name(runpod: LoopbackRunPod, settings: Any) -> None:
    deploy("--yes")
    first = made(runpod)[0]
    again = runpod.endpoint(name="inkcloak")
    text = refusal("--yes")
    assert first["id"] in text
    assert again in text
    settings.RUNPOD_ENDPOINT_ID = first["id"]
    assert "Nothing to do" in deploy()


def test_it_makes_no_second_endpoint_where_the_id_is_wrong(runpod: LoopbackRunPod, settings: Any) -> None:
    settings.RUNPOD_ENDPOINT_ID = "elsewhere"
    assert "no such endpoint" in refusal("--yes")
    assert made(runpod) == []


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("RUNPOD_API_KEY", "", "RUNPOD_API_KEY is not set"),
        ("RUNPOD_API_KEY", "rpa_wrong", "refuses RUNPOD_API_KEY"),
        ("RUNPOD_IMAGE", "", "RUNPOD_IMAGE is not set"),
        ("RUNPOD_IMAGE", "inkcloak/pod:latest", "tag"),
        ("RUNPOD_WORKER_ENV", ["planted"], "NAME=VALUE"),
        ("RUNPOD_GPU_POOLS", ["AMPERE_17"], "unknown GPU pool"),
        ("RUNPOD_WORKERS_MAX", 99, "workers quota"),
    ],
)
def test_it_says_what_is_wrong(settings: Any, name: str, value: Any, said: str) -> None:
    setattr(settings, name, value)
    assert said in refusal("--yes")


def test_it_quotes_no_secret_that_runpod_quotes(settings: Any) -> None:
    settings.RUNPOD_GPU_POOLS, settings.RUNPOD_WORKER_ENV = ["sesame"], ["TOKEN=sesame"]
    said = refusal("--yes")
    assert "unknown GPU pool …" in said
    assert "sesame" not in said


def test_it_tells_a_key_that_may_only_score(runpod: LoopbackRunPod, settings: Any) -> None:
    runpod.control("POST", "keys", {"key": "rpa_scores_only", "rest": False})
    settings.RUNPOD_API_KEY = "rpa_scores_only"
    assert "may not manage endpoints" in refusal()

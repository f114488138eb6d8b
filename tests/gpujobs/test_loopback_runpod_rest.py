"""The loopback RunPod's REST v2: endpoints, templates, pods, catalogue; refusals as the real API words them."""

import sys
from pathlib import Path

import pytest

from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.graphql import Unreadable, read
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

ENDPOINT = {
    "name": "inkcloak",
    "type": "QUEUE",
    "image": "inkcloak/worker:1",
    "gpu": {"pools": ["AMPERE_16"]},
    "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
}
POD = {"name": "retrain-1", "image": "x:1", "gpu": {"id": "NVIDIA RTX A4000", "minCudaVersion": "12.4"}, "disk": 30}


def create(runpod: LoopbackRunPod, **more) -> dict:
    answer = runpod.call("POST", "/v2/serverless", ENDPOINT | more)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_it_creates_an_endpoint_with_the_api_s_own_defaults(runpod: LoopbackRunPod) -> None:
    made = create(runpod)
    assert (made["timeout"], made["flashboot"]) == (300_000, "OFF")
    assert made["workers"] == {"min": 0, "max": 3, "idleTimeout": 10}
    assert made["gpu"] == {"pools": ["AMPERE_16"], "count": 1, "allowedCudaVersions": [], "minCudaVersion": None}
    assert made["requestUrls"]["runSync"] == f"{runpod.url}/v2/{made['id']}/runsync"
    assert runpod.call("GET", f"/v2/serverless/{made['id']}").json() == made
    assert runpod.call("GET", "/v2/serverless").json() == {"endpoints": [made]}
    assert runpod.call("DELETE", f"/v2/serverless/{made['id']}").status_code == 204
    answer = runpod.call("GET", f"/v2/serverless/{made['id']}")
    assert (answer.status_code, answer.json()["title"]) == (404, "Not Found")


def test_it_patches_only_what_is_sent(runpod: LoopbackRunPod) -> None:
    made = create(runpod, workers={"min": 0, "max": 2, "idleTimeout": 5}, env={"A": "1"})
    path = f"/v2/serverless/{made['id']}"
    changed = runpod.call("PATCH", path, {"workers": {"max": 4}, "timeout": 60_000}).json()
    assert changed == made | {"workers": {"min": 0, "max": 4, "idleTimeout": 5}, "timeout": 60_000}
    changed = runpod.call("PATCH", path, {"scaling": {"type": "REQUEST_COUNT", "requestCount": 2}}).json()
    assert changed["workers"] == {"min": 0, "max": 4}


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"name": None}, 422),
        ({"type": "LOAD_BALANCER"}, 422),
        ({"workersMax": 3}, 422),
        ({"scaling": {"type": "QUEUE_DELAY", "queueDelay": 0.4}}, 422),
        ({"scaling": {"type": "QUEUE_DELAY", "requestCount": 4}}, 422),
        ({"workers": {"idleTimeout": 0}}, 422),
        ({"workers": {"maximum": 3}}, 422),
        ({"workers": {"min": 4, "max": 3}}, 400),
        ({"workers": {"max": 6}}, 400),  # the account's quota is 10 at 100 dollars, see below
        ({"env": {"A": 1}}, 422),
        ({"flashboot": True}, 422),
        ({"gpu": {}}, 422),
        ({"gpu": {"pools": ["AMPERE_17"]}}, 400),
        ({"gpu": {"pools": ["AMPERE_16"], "excludedTypes": ["NVIDIA L4"]}}, 400),
        ({"gpu": {"pools": ["AMPERE_16"], "minCudaVersion": "12"}}, 422),
        ({"gpu": {"pools": ["AMPERE_16"], "minCudaVersion": "12.4", "allowedCudaVersions": ["12.8"]}}, 400),
        ({"scaling": {"type": "REQUEST_COUNT", "requestCount": 2}, "workers": {"idleTimeout": 5}}, 400),
        ({"templateId": "nowhere"}, 404),
    ],
)
def test_it_refuses_an_endpoint_that_breaks_a_rule(runpod, change, status) -> None:
    runpod.control("POST", "account", {"worker_quota": 5})
    answer = runpod.call("POST", "/v2/serverless", {k: v for k, v in (ENDPOINT | change).items() if v is not None})
    assert answer.status_code == status, answer.text
    assert answer.json()["status"] == status
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert runpod.call("GET", "/v2/serverless").json() == {"endpoints": []}


def test_a_refused_patch_changes_nothing(runpod: LoopbackRunPod) -> None:
    made = create(runpod)
    path = f"/v2/serverless/{made['id']}"
    assert runpod.call("PATCH", path, {"timeout": 1, "workers": {"min": 9}}).status_code == 400
    assert runpod.call("GET", path).json() == made


def test_the_worker_quota_grows_with_the_balance(runpod: LoopbackRunPod) -> None:
    for usd, quota in ((50, 5), (100, 10), (200, 20)):
        assert runpod.control("POST", "account", {"balance_usd": usd})["worker_quota"] == quota


def test_an_endpoint_takes_its_template_s_container_once(runpod: LoopbackRunPod) -> None:
    body = {"name": "t", "image": "inkcloak/worker:7", "serverless": True, "env": {"A": "1", "B": "1"}, "disk": 15}
    template = runpod.call("POST", "/v2/templates", body).json()
    assert (template["startSsh"], template["category"]) == (True, "NVIDIA")
    assert runpod.call("POST", "/v2/templates", body).status_code == 400  # names are unique
    without = {name: value for name, value in ENDPOINT.items() if name != "image"}
    made = runpod.call("POST", "/v2/serverless", without | {"templateId": template["id"], "env": {"B": "2"}}).json()
    assert (made["image"], made["disk"], made["env"]) == ("inkcloak/worker:7", 15, {"A": "1", "B": "2"})
    runpod.call("PATCH", f"/v2/templates/{template['id']}", {"image": "inkcloak/worker:8"})
    assert runpod.call("GET", f"/v2/serverless/{made['id']}").json()["image"] == "inkcloak/worker:7"
    assert runpod.call("DELETE", f"/v2/templates/{template['id']}").status_code == 204
    assert runpod.call("GET", "/v2/templates").json() == {"templates": []}


def test_a_pod_template_makes_no_endpoint(runpod: LoopbackRunPod) -> None:
    template = runpod.call("POST", "/v2/templates", {"name": "t", "image": "x"}).json()
    assert runpod.call("POST", "/v2/serverless", ENDPOINT | {"templateId": template["id"]}).status_code == 422


def test_it_shows_rates_on_every_answer_and_limits_them(runpod: LoopbackRunPod) -> None:
    runpod.control("POST", "account", {"rest_per_minute": 2})
    first, _, third = (runpod.call("GET", "/v2/pods") for _ in range(3))
    assert first.headers["RateLimit"].startswith('"minute";r=1;')
    assert first.headers["RateLimit-Policy"].startswith('"minute";q=2;w=60')
    assert (third.status_code, 0 < int(third.headers["Retry-After"]) <= 61) == (429, True)
    runpod.advance(61)
    assert runpod.call("GET", "/v2/pods").status_code == 200


# --- Pods -----------------------------------------------------------------------------------------------------------


def test_a_pod_lives_by_the_clock(runpod: LoopbackRunPod) -> None:
    made = runpod.call("POST", "/v2/pods", POD | {"ports": ["22/tcp", "8888/http"]})
    assert made.status_code == 201
    path = f"/v2/pods/{made.json()['id']}"

    def seen() -> dict:
        return runpod.call("GET", path).json()

    assert (seen()["status"], seen()["runtime"], seen()["cost"]) == ("PROVISIONING", None, 0.25)
    runpod.advance(5)
    assert seen()["status"] == "STARTING"
    runpod.advance(10)
    pod = seen()
    assert (pod["status"], pod["dataCenterId"], pod["cudaVersion"]) == ("RUNNING", "EU-RO-1", "12.8")
    assert pod["ssh"]["direct"]["command"].startswith("ssh root@127.0.0.1 -p ")
    assert [port["private"] for port in pod["runtime"]["ports"]] == [22, 8888]
    assert runpod.call("POST", path + "/action", {"action": "start"}).status_code == 409
    stopped = runpod.call("POST", path + "/action", {"action": "stop"}).json()
    assert (stopped["status"], stopped["cost"], stopped["actions"]) == ("EXITED", 0, ["start", "terminate"])
    assert runpod.call("POST", path + "/action", {"action": "start"}).json()["status"] == "STARTING"
    assert [runpod.call("DELETE", path).status_code for _ in range(2)] == [204, 404]


def test_a_pod_runs_its_image_s_command(runpod: LoopbackRunPod, tmp_path: Path) -> None:
    runpod.image("trainer:*", [sys.executable, "-c", "import os; open(os.environ['OUT'], 'w').write('trained')"])
    body = POD | {"image": "trainer:1", "env": {"OUT": str(tmp_path / "adapter")}}
    pod = runpod.call("POST", "/v2/pods", body).json()["id"]
    runpod.advance(15)
    eventually(lambda: runpod.call("GET", f"/v2/pods/{pod}").json()["status"] == "EXITED")
    assert (tmp_path / "adapter").read_text() == "trained"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"gpu": {"id": "NVIDIA T4000"}}, 400),
        ({"gpu": {"count": 1}}, 422),
        ({"name": ""}, 422),
        ({"image": ""}, 422),
        ({"gpuTypeIds": []}, 422),
        ({"interruptible": True}, 422),  # spot is gone
        ({"cloud": "SPOT"}, 422),
        ({"cloud": "COMMUNITY", "mounts": {"network": [{"volumeId": "v", "path": "/w"}]}}, 400),
    ],
)
def test_it_refuses_a_pod_that_breaks_a_rule(runpod, change, status) -> None:
    assert runpod.call("POST", "/v2/pods", POD | change).status_code == status
    assert runpod.call("GET", "/v2/pods").json() == {"pods": []}


def test_the_catalogue_has_prices_and_availability(runpod: LoopbackRunPod) -> None:
    gpus = {gpu["id"]: gpu for gpu in runpod.call("GET", "/v2/catalog/gpus").json()["gpus"]}
    a4000 = gpus["NVIDIA RTX A4000"]
    assert (a4000["pool"], a4000["price"]) == ("AMPERE_16", {"secure": 0.25, "community": 0.25, "serverless": 0.576})
    assert "availability" not in a4000
    ask = {"include": "AVAILABILITY", "product": "SERVERLESS"}
    assert runpod.call("GET", f"/v2/catalog/gpus/{a4000['id']}", params=ask).json()["availability"] == "HIGH"
    assert runpod.call("GET", "/v2/catalog/gpus?include=AVAILABILITY").status_code == 400
    assert runpod.call("GET", "/v2/catalog/gpus?product=POD").status_code == 400


# --- GraphQL --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "selection"),
    [
        ("{ myself { clientBalance } }", {"myself": {"clientBalance": {}}}),
        ("query A { myself { id } gpuTypes { id } }", {"myself": {"id": {}}, "gpuTypes": {"id": {}}}),
        (
            'query { gpuTypes(input: {id: "NVIDIA (x)"}) { lowestPrice(input:{gpuCount:1}) { stockStatus } } }',
            {"gpuTypes": {"lowestPrice": {"stockStatus": {}}}},
        ),
    ],
)
def test_a_query_is_read(query: str, selection: dict) -> None:
    assert read(query) == selection


@pytest.mark.parametrize("query", ["", "{ myself { id }", "mutation { podTerminate(input: {}) }", "{ a } b"])
def test_an_unreadable_query_is_refused(query: str) -> None:
    with pytest.raises(Unreadable):
        read(query)


def test_graphql_errors_come_with_200(runpod: LoopbackRunPod) -> None:
    answer = runpod.call("POST", "/graphql", {"query": "{ myself { shoeSize } }"})
    assert (answer.status_code, "shoeSize" in answer.json()["errors"][0]["message"]) == (200, True)
    answer = runpod.call("POST", "/graphql", {"query": "{}"}, headers={"Authorization": "Bearer wrong"})
    assert answer.status_code == 401

"""Faults of workers, money and pods are seen on the wire; the clock is moved, the test plays the workers."""

import pytest

from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

OK = '{"output": {"ok": true}}'


def phases(runpod: LoopbackRunPod, endpoint: str) -> list[str]:
    return [worker["phase"] for worker in runpod.workers(endpoint)]


def test_there_may_be_no_gpu_for_minutes(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("throttled", seconds=300)
    job = runpod.run(endpoint, 1)
    assert runpod.health(endpoint)["workers"]["throttled"] == 1
    shown = runpod.call("GET", f"/v2/serverless/{endpoint}/workers").json()
    assert (shown["summary"]["throttled"], shown["workers"][0]["gpuTypeId"]) == (1, None)
    runpod.advance(299)
    assert set(phases(runpod, endpoint)) == {"THROTTLED"}
    runpod.advance(1)
    assert runpod.take(endpoint, runpod.worker(endpoint)).json()["id"] == job


@pytest.mark.parametrize("seconds", [16, 180])
def test_a_start_may_be_cold(runpod, endpoint, seconds) -> None:
    runpod.fault("cold_start", seconds_to_start=seconds, pull_seconds=20)
    job = runpod.run(endpoint, 1)
    assert phases(runpod, endpoint) == ["PULLING"]
    runpod.advance(20 + seconds - 2)
    worker = runpod.worker(endpoint)
    assert runpod.take(endpoint, worker).status_code == 204
    runpod.advance(2)
    assert runpod.take(endpoint, worker).json()["id"] == job
    assert runpod.bill()["lifetimes"][0]["seconds"] in (seconds, seconds + 1)


def test_max_workers_may_be_0(runpod: LoopbackRunPod, endpoint: str) -> None:
    worker, _ = runpod.running(endpoint)
    runpod.fault("max_workers_zero", where={"endpoint": endpoint})
    assert runpod.call("GET", f"/v2/serverless/{endpoint}").json()["workers"]["max"] == 0
    assert worker in [each["id"] for each in runpod.workers(endpoint)]  # it finishes what it has
    waiting = runpod.run(endpoint, 2)
    runpod.advance(60)
    assert len(phases(runpod, endpoint)) == 1
    assert runpod.status(endpoint, waiting)["status"] == "IN_QUEUE"


def test_an_idle_worker_may_go_on_costing(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("worker_stop_ignored")
    worker, job = runpod.running(endpoint)
    runpod.done(endpoint, worker, job, OK)
    runpod.advance(3600)
    assert phases(runpod, endpoint) == ["READY"]
    assert runpod.bill()["lifetimes"][0]["seconds"] >= 3600


def test_the_money_may_be_gone(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("balance", usd=0)
    job = runpod.run(endpoint, 1)
    runpod.advance(60)
    assert phases(runpod, endpoint) == []
    assert runpod.status(endpoint, job)["status"] == "IN_QUEUE"
    assert runpod.call("POST", "/v2/pods", POD).status_code == 402
    query = {"query": "{ myself { clientBalance underBalance } }"}
    assert runpod.call("POST", "/graphql", query).json()["data"]["myself"] == {"clientBalance": 0, "underBalance": True}


# --- Pods -----------------------------------------------------------------------------------------------------------

POD = {"name": "retrain-1", "image": "x:1", "gpu": {"id": "NVIDIA RTX A4000"}, "ports": ["22/tcp"], "startSsh": True}


def pods(runpod: LoopbackRunPod) -> list[dict]:
    return runpod.call("GET", "/v2/pods").json()["pods"]


def test_a_pod_may_be_created_behind_a_500(runpod: LoopbackRunPod) -> None:
    runpod.fault("pod_created_500")
    assert runpod.call("POST", "/v2/pods", POD).status_code == 500
    assert [pod["name"] for pod in pods(runpod)] == ["retrain-1"]


def test_there_may_be_no_pod_to_rent(runpod: LoopbackRunPod) -> None:
    runpod.fault("no_capacity", where={"gpu": "NVIDIA RTX A4000", "cloud": "SECURE"})
    answer = runpod.call("POST", "/v2/pods", POD)
    assert (answer.status_code, pods(runpod)) == (400, [])
    ask = {"include": "AVAILABILITY", "product": "POD", "cloud": "SECURE"}
    gpus = {gpu["id"]: gpu for gpu in runpod.call("GET", "/v2/catalog/gpus", params=ask).json()["gpus"]}
    assert gpus["NVIDIA RTX A4000"]["availability"] == "NONE"
    assert gpus["NVIDIA RTX A5000"]["availability"] == "HIGH"
    assert runpod.call("POST", "/v2/pods", POD | {"cloud": "COMMUNITY"}).status_code == 201


@pytest.mark.parametrize("how", ["stop", "terminate", "delete"])
def test_a_stop_may_be_ignored(runpod, how) -> None:
    pod = runpod.call("POST", "/v2/pods", POD).json()["id"]
    runpod.advance(60)
    runpod.fault("stop_ignored")
    for expected in (["RUNNING"], ["EXITED"] if how == "stop" else []):
        if how == "delete":
            answer = runpod.call("DELETE", f"/v2/pods/{pod}")
        else:
            answer = runpod.call("POST", f"/v2/pods/{pod}/action", {"action": how})
        assert answer.is_success
        assert [each["status"] for each in pods(runpod)] == expected


def test_a_public_port_may_never_come(runpod: LoopbackRunPod) -> None:
    runpod.call("POST", "/v2/pods", POD)
    runpod.advance(60)
    assert pods(runpod)[0]["ssh"]["direct"]["port"] > 0
    runpod.fault("no_public_port")
    runpod.call("POST", "/v2/pods", POD | {"name": "other"})
    runpod.advance(3600)
    other = pods(runpod)[1]
    assert (other["status"], other["ssh"]["direct"], other["runtime"]["ports"][0]["public"]) == ("RUNNING", None, None)


def test_without_money_pods_end_within_five_minutes(runpod: LoopbackRunPod) -> None:
    runpod.call("POST", "/v2/pods", POD)
    network = {"network": [{"volumeId": "vol", "path": "/workspace"}]}
    runpod.call("POST", "/v2/pods", POD | {"name": "keeps-its-volume", "mounts": network})
    runpod.advance(60)
    runpod.fault("balance", usd=0)
    runpod.advance(300)
    assert [(pod["name"], pod["status"]) for pod in pods(runpod)] == [("keeps-its-volume", "EXITED")]

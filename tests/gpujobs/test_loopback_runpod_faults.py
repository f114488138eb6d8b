"""Every fault that can be scripted is seen on the wire (whole processes: test_loopback_runpod_worker)."""

from pathlib import Path

import httpx
import pytest

from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.faults import KINDS
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

OK = '{"output": {"ok": true}}'
# Seen in the files beside this one.
ELSEWHERE = {
    "webhook_missing": "jobs",
    "webhook_duplicate": "jobs",
    "webhook_slow": "jobs",
    "billing_lag": "bill",
    "worker_hang": "worker",
    "unhealthy": "worker",
    "mixed_versions": "worker",
}


@pytest.fixture
def endpoint(runpod: LoopbackRunPod) -> str:
    return runpod.played()


def running(runpod: LoopbackRunPod, endpoint: str) -> tuple[str, str]:
    """(worker, job), the job taken."""
    job = runpod.run(endpoint, {"text": "x"})
    worker = runpod.worker(endpoint)
    assert runpod.take(endpoint, worker).json()["id"] == job
    return worker, job


def submit(runpod: LoopbackRunPod, endpoint: str, **options) -> httpx.Response:
    return runpod.call("POST", f"/v2/{endpoint}/run", {"input": 1}, **options)


def jobs(runpod: LoopbackRunPod) -> list[dict]:
    return runpod.control("GET", "jobs")


def test_each_fault_is_shown_by_a_test() -> None:
    texts = {path.stem: path.read_text() for path in Path(__file__).parent.glob("test_loopback_runpod_*.py")}
    for kind in KINDS:
        name = f"test_loopback_runpod_{ELSEWHERE.get(kind, 'faults')}"
        told = (f'fault("{kind}"', f'"{kind}",', f'("{kind}"')
        assert any(way in texts[name] for way in told), kind


def test_an_unknown_fault_is_refused(runpod: LoopbackRunPod) -> None:
    for wrong in ({"fault": "typo"}, {"fault": "throttled", "where": {"color": "red"}}):
        with pytest.raises(AssertionError, match="ValueError"):
            runpod.control("POST", "faults", wrong)


# --- Requests -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("unauthorized", 401),
        ("forbidden", 403),
        ("not_found", 404),
        ("rate_limited", 429),
        ("server_error", 500),
        ("bad_gateway", 502),
    ],
)
def test_a_request_fails_as_often_as_told(runpod, endpoint, kind, status) -> None:
    runpod.fault(kind, times=2, where={"op": "run"}, retry_after=3)
    assert runpod.health(endpoint)["jobs"]["inQueue"] == 0  # another operation is not met
    answers = [submit(runpod, endpoint) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [status, status, 200]
    assert len(jobs(runpod)) == 1
    assert answers[0].headers.get("Retry-After") == ("3" if kind == "rate_limited" else None)
    html = answers[0].headers["content-type"].startswith("text/html")
    assert html == (kind == "bad_gateway")
    assert [entry["status"] for entry in runpod.control("GET", "requests?op=run")] == [status, status, 200]


@pytest.mark.parametrize("kind", ["server_error", "bad_gateway"])
def test_an_error_may_hide_an_accepted_job(runpod, endpoint, kind) -> None:
    runpod.fault(kind, after=True, where={"op": "run"})
    assert submit(runpod, endpoint).status_code >= 500
    assert len(jobs(runpod)) == 1


def test_a_slow_answer_is_an_ambiguous_submit(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("slow_answer", delay=30, where={"op": "run"})
    with pytest.raises(httpx.ReadTimeout):
        submit(runpod, endpoint, timeout=0.3)
    assert len(jobs(runpod)) == 1


def test_a_dropped_answer_is_one_too(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("dropped_answer", where={"op": "run"})
    with pytest.raises(httpx.RemoteProtocolError):
        submit(runpod, endpoint)
    assert len(jobs(runpod)) == 1


def test_rest_requests_fail_as_problems(runpod: LoopbackRunPod) -> None:
    runpod.fault("server_error", where={"op": "rest"})
    answer = runpod.call("GET", "/v2/pods")
    assert (answer.status_code, answer.json()["status"]) == (500, 500)
    assert answer.headers["content-type"].startswith("application/problem+json")


# --- What a client sees of its job ----------------------------------------------------------------------------------


@pytest.mark.parametrize("forget", [False, True])
def test_status_may_be_404_early(runpod, endpoint, forget) -> None:
    job = runpod.run(endpoint, 1)
    runpod.fault("early_404", forget=forget)
    ask = f"/v2/{endpoint}/status/{job}"
    assert [runpod.call("GET", ask).status_code for _ in range(2)] == [404, 404 if forget else 200]


@pytest.mark.parametrize("name", ["RUNNING", "PONDERING"])
def test_status_may_have_an_unknown_name(runpod, endpoint, name) -> None:
    runpod.fault("status_named", status=name)
    worker, job = running(runpod, endpoint)
    assert runpod.status(endpoint, job)["status"] == name
    runpod.done(endpoint, worker, job, OK)
    assert runpod.status(endpoint, job)["status"] == "COMPLETED"


def test_progress_may_come_after_the_end(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("progress_after_done", output="half")
    worker, job = running(runpod, endpoint)
    runpod.done(endpoint, worker, job, OK)
    seen = [runpod.status(endpoint, job) for _ in range(3)]
    assert [each["status"] for each in seen] == ["COMPLETED", "IN_PROGRESS", "COMPLETED"]
    assert seen[1]["output"] == "half"


def test_an_output_may_be_anything(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("output_replaced", output={"texts": []})
    runpod.fault("output_replaced", raw='{"probability": NaN}')
    worker, job = running(runpod, endpoint)
    runpod.done(endpoint, worker, job, OK)
    assert runpod.status(endpoint, job)["output"] == {"texts": []}
    text = runpod.call("GET", f"/v2/{endpoint}/status/{job}").text
    assert '"output": {"probability": NaN}' in text
    assert runpod.status(endpoint, job)["output"] == {"ok": True}


# --- Between server and worker --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 429, 500])
def test_job_done_may_be_refused(runpod, endpoint, status) -> None:
    runpod.fault("done_refused", status=status)
    worker, job = running(runpod, endpoint)
    assert runpod.done(endpoint, worker, job, OK).status_code == status
    assert runpod.status(endpoint, job)["status"] == "IN_PROGRESS"
    assert runpod.done(endpoint, worker, job, OK).status_code == 200  # the SDK tries a 5xx again
    assert runpod.status(endpoint, job)["status"] == "COMPLETED"


def test_a_result_may_be_dropped(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("done_dropped")
    worker, job = running(runpod, endpoint)
    assert runpod.done(endpoint, worker, job, OK).status_code == 200
    assert runpod.status(endpoint, job)["status"] == "IN_PROGRESS"
    runpod.advance(300)
    assert runpod.status(endpoint, job)["status"] == "TIMED_OUT"


def test_a_job_may_be_lost_on_its_way_to_the_worker(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("lost_take")
    job = runpod.run(endpoint, 1)
    assert runpod.take(endpoint, runpod.worker(endpoint)).status_code == 204
    assert runpod.status(endpoint, job)["status"] == "IN_PROGRESS"


def test_job_take_may_be_refused(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("take_refused", status=429)
    job = runpod.run(endpoint, 1)
    worker = runpod.worker(endpoint)
    assert runpod.take(endpoint, worker).status_code == 429
    assert runpod.take(endpoint, worker).json()["id"] == job


def test_a_job_may_run_twice(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(workers={"min": 2, "max": 2})
    runpod.fault("run_twice")
    job = runpod.run(endpoint, 1)
    first, second = (worker["id"] for worker in runpod.workers(endpoint))
    assert [runpod.take(endpoint, worker).json()["id"] for worker in (first, second)] == [job, job]
    runpod.done(endpoint, second, job, '{"output": 2}')
    runpod.done(endpoint, first, job, '{"output": 1}')
    assert runpod.status(endpoint, job)["output"] == 2
    assert jobs(runpod)[0]["attempts"] == [first, second]
    assert runpod.health(endpoint)["workers"]["idle"] == 2


def test_a_worker_may_crash_at_work(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("worker_crash", where={"input_contains": "poison"})
    harmless = runpod.run(endpoint, "bread")
    first = runpod.worker(endpoint)
    runpod.take(endpoint, first)
    runpod.done(endpoint, first, harmless, OK)
    job = runpod.run(endpoint, "poison")
    runpod.take(endpoint, first)
    eventually(lambda: runpod.status(endpoint, job)["status"] == "IN_QUEUE")
    second = runpod.worker(endpoint)
    assert second != first
    assert runpod.take(endpoint, second).json()["id"] == job


def test_a_stop_signal_may_be_lost(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.control("POST", f"endpoints/{endpoint}/habits", {"take_hold_real_seconds": 0.1})
    runpod.fault("stop_signal_lost")
    worker, job = running(runpod, endpoint)
    runpod.call("POST", f"/v2/{endpoint}/cancel/{job}")
    assert runpod.as_worker("GET", f"/v2/{endpoint}/job-stop/{worker}?gpu=x").status_code == 204


# --- Workers --------------------------------------------------------------------------------------------------------


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
    worker, _ = running(runpod, endpoint)
    runpod.fault("max_workers_zero", where={"endpoint": endpoint})
    assert runpod.call("GET", f"/v2/serverless/{endpoint}").json()["workers"]["max"] == 0
    assert worker in [each["id"] for each in runpod.workers(endpoint)]  # it finishes what it has
    waiting = runpod.run(endpoint, 2)
    runpod.advance(60)
    assert len(phases(runpod, endpoint)) == 1
    assert runpod.status(endpoint, waiting)["status"] == "IN_QUEUE"


def test_an_idle_worker_may_go_on_costing(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("worker_stop_ignored")
    worker, job = running(runpod, endpoint)
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

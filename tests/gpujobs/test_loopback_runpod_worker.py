"""The unmodified SDK's worker lives in the loopback RunPod as in the real one, and never outlives it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import runpod as sdk
from runpod.api.graphql import run_graphql_query
from runpod.error import QueryError

from tests.loopback.runpod.client import Director, eventually
from tests.loopback.runpod.guard import marked
from tests.loopback.runpod.processes import MARK
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

ROOT = Path(__file__).resolve().parents[2]
ONE = {"min": 0, "max": 1, "idleTimeout": 5}


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LoopbackRunPod, str]]:
    """An account and an endpoint with one real worker that takes four jobs at once, kept for these tests."""
    with LoopbackRunPod(tmp_path_factory.mktemp("runpod")) as account:
        workers = {"min": 1, "max": 1, "idleTimeout": 3600}
        yield account, account.endpoint(workers=workers, env={"CONCURRENCY": "4"})


def alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def pids(runpod: Director, endpoint: str) -> list[int]:
    return [worker["pid"] for worker in runpod.workers(endpoint) if worker["pid"]]


# --- One warm worker --------------------------------------------------------------------------------------------------


def test_it_serves_jobs_to_the_sdk_s_own_client(warm, monkeypatch) -> None:
    runpod, endpoint = warm
    monkeypatch.setattr(sdk, "endpoint_url_base", f"{runpod.url}/v2")
    client = sdk.Endpoint(endpoint, api_key=runpod.key)
    assert client.run_sync({"input": {"echo": "sync"}})["echo"] == "sync"
    jobs = [client.run({"input": {"echo": number}}) for number in range(5)]
    for number, job in enumerate(jobs):
        assert job.output(timeout=30) == {"echo": number, "model_version": "1"}
        assert job.status() == "COMPLETED"
    seen = runpod.status(endpoint, jobs[-1].job_id)
    assert seen["workerId"] == runpod.workers(endpoint)[0]["id"]
    assert client.health()["jobs"]["completed"] >= 6


def test_the_sdk_reads_the_balance_by_graphql(warm, monkeypatch) -> None:
    runpod, _ = warm
    monkeypatch.setenv("RUNPOD_API_BASE_URL", runpod.url)
    answer = run_graphql_query("query { myself { clientBalance } }", api_key=runpod.key)
    assert 99 < answer["data"]["myself"]["clientBalance"] < 100
    assert "NVIDIA RTX A4000" in [gpu["id"] for gpu in sdk.get_gpus(api_key=runpod.key)]
    with pytest.raises(QueryError, match="shoeSize"):
        run_graphql_query("query { myself { shoeSize } }", api_key=runpod.key)


def test_it_gives_a_worker_as_many_jobs_as_it_asks_for(warm) -> None:
    runpod, endpoint = warm
    jobs = [runpod.run(endpoint, {"sleep": 1.5, "echo": number}) for number in range(4)]
    eventually(lambda: runpod.health(endpoint)["jobs"]["inProgress"] == 4)
    assert [runpod.final(endpoint, job)["output"]["echo"] for job in jobs] == [0, 1, 2, 3]


def test_an_exception_comes_back_as_a_json_string(warm) -> None:
    runpod, endpoint = warm
    seen = runpod.final(endpoint, runpod.run(endpoint, {"raise": "no"}))
    assert (seen["status"], json.loads(seen["error"])["error_message"]) == ("FAILED", "no")


def test_a_result_that_cannot_be_serialised_is_lost(warm) -> None:
    runpod, endpoint = warm
    job = runpod.run(endpoint, {"nothing": 1}, policy={"executionTimeout": 5000})
    after = runpod.run(endpoint, {"echo": "after"})
    assert runpod.final(endpoint, after)["status"] == "COMPLETED"
    assert runpod.status(endpoint, job)["status"] == "IN_PROGRESS"
    runpod.advance(5)
    assert runpod.status(endpoint, job)["status"] == "TIMED_OUT"


def test_a_cancelled_job_is_stopped_on_its_worker(warm) -> None:
    runpod, endpoint = warm
    worker = runpod.workers(endpoint)[0]["id"]
    jobs = [runpod.run(endpoint, {"progress": "begun", "sleep": 600}) for _ in range(4)]
    for job in jobs:  # the SDK overhears a stop for a job that it has taken but not begun (up to 0.1 s)
        eventually(lambda job=job: runpod.status(endpoint, job).get("output") == "begun")
    for job in jobs:
        runpod.call("POST", f"/v2/{endpoint}/cancel/{job}")
    seen = runpod.final(endpoint, runpod.run(endpoint, {"echo": "free again"}))
    assert (seen["output"]["echo"], seen["workerId"]) == ("free again", worker)


def test_progress_is_seen_before_the_end(warm) -> None:
    runpod, endpoint = warm
    job = runpod.run(endpoint, {"progress": "half", "sleep": 1.5, "echo": 1})
    eventually(lambda: runpod.status(endpoint, job).get("output") == "half")
    assert runpod.final(endpoint, job)["output"]["echo"] == 1


def test_a_worker_killed_at_work_is_replaced_and_its_job_done(warm) -> None:
    runpod, endpoint = warm
    worker = runpod.workers(endpoint)[0]["id"]
    job = runpod.run(endpoint, {"progress": "begun", "sleep": 1, "echo": "again"})
    eventually(lambda: runpod.status(endpoint, job).get("output") == "begun")
    runpod.control("POST", f"workers/{worker}/signal", {"signal": "KILL"})
    seen = runpod.final(endpoint, job)
    assert (seen["output"]["echo"], seen["retries"]) == ("again", 1)
    assert seen["workerId"] != worker


# --- Workers that come, go and break --------------------------------------------------------------------------------


def test_flashboot_wakes_the_same_process_and_ends_it_in_time(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.endpoint(workers=ONE, flashboot="FLASHBOOT")
    cold = runpod.final(endpoint, runpod.run(endpoint, {"echo": 1}))
    (pid,) = pids(runpod, endpoint)
    runpod.advance(5)
    assert [worker["phase"] for worker in runpod.workers(endpoint)] == ["PARKED"]
    warm = runpod.final(endpoint, runpod.run(endpoint, {"echo": 2}))
    assert warm["delayTime"] < cold["delayTime"]
    assert pids(runpod, endpoint) == [pid]
    runpod.advance(5)
    runpod.advance(360)
    eventually(lambda: runpod.workers(endpoint) == [])
    assert not alive(pid)


def test_an_idle_worker_ends_by_itself_when_told(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.endpoint(workers=ONE, habits={"stop_grace_real_seconds": 30})
    runpod.final(endpoint, runpod.run(endpoint, {"echo": 1}))
    (pid,) = pids(runpod, endpoint)
    runpod.advance(5)
    eventually(lambda: runpod.workers(endpoint) == [], patience=20)  # before the grace is over: no kill was needed
    assert not alive(pid)


def test_a_crash_loop_requeues_and_gives_up(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.endpoint(workers=ONE, habits={"requeue_limit": 1})
    seen = runpod.final(endpoint, runpod.run(endpoint, {"crash": 1}))
    assert (seen["status"], seen["retries"]) == ("FAILED", 1)
    (job,) = runpod.control("GET", "jobs")
    assert len(set(job["attempts"])) == 2


def test_a_hanging_worker_pings_on_and_is_killed(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.endpoint(
        workers=ONE, timeout=60_000, habits={"stop_grace_real_seconds": 0.2, "ping_real_seconds": 1}
    )
    runpod.fault("worker_hang")
    job = runpod.run(endpoint, {"sleep": 1})
    (pid,) = eventually(lambda: pids(runpod, endpoint))
    eventually(lambda: "State:\tT" in Path(f"/proc/{pid}/status").read_text())
    assert runpod.status(endpoint, job)["status"] == "IN_PROGRESS"
    before = runpod.workers(endpoint)[0]["last_ping_at"]
    eventually(lambda: runpod.workers(endpoint)[0]["last_ping_at"] > before)
    runpod.advance(60)
    assert runpod.status(endpoint, job)["status"] == "TIMED_OUT"
    runpod.advance(5)
    eventually(lambda: runpod.workers(endpoint) == [])
    assert not alive(pid)


def test_an_image_that_never_comes_up_is_unhealthy_again_and_again(runpod: LoopbackRunPod) -> None:
    runpod.fault("unhealthy")
    endpoint = runpod.endpoint(workers=ONE)
    job = runpod.run(endpoint, {"echo": 1})
    for failures in (1, 2):
        eventually(lambda: runpod.health(endpoint)["workers"]["unhealthy"] == 1)
        assert runpod.state()["endpoints"][endpoint]["failed_in_a_row"] == failures
        runpod.advance(10)
    assert runpod.status(endpoint, job)["status"] == "IN_QUEUE"
    assert all(not life["billed"] for life in runpod.bill()["lifetimes"] if life["ended_at"])


def test_an_image_without_command_is_unhealthy(runpod: LoopbackRunPod) -> None:
    runpod.image("nothing/*", ["/nowhere/to/be/found"])
    endpoint = runpod.endpoint(workers=ONE, image="nothing/here:1")
    runpod.run(endpoint, {"echo": 1})
    eventually(lambda: runpod.health(endpoint)["workers"]["unhealthy"] == 1)


def test_two_versions_may_serve_at_once(runpod: LoopbackRunPod) -> None:
    runpod.fault("mixed_versions", env={"MODEL_VERSION": "old"})
    endpoint = runpod.endpoint(workers={"min": 2, "max": 2}, env={"MODEL_VERSION": "new"})
    eventually(lambda: sum(worker["last_ping_at"] is not None for worker in runpod.workers(endpoint)) == 2)
    jobs = [runpod.run(endpoint, {"sleep": 0.5}) for _ in range(4)]
    versions = {runpod.final(endpoint, job)["output"]["model_version"] for job in jobs}
    assert versions == {"old", "new"}


# --- Nothing is left behind -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_server(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "tests.loopback.runpod", "--port", "0", "--data", str(tmp_path)]
    settings = json.dumps({"workers": {"min": 1, "max": 1}})
    server = subprocess.Popen(
        [*command, "--endpoint", "demo", "--settings", settings], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        director = Director(told["url"], told["key"])
        mark = f"{MARK}={director.state()['mark']}".encode()
        eventually(lambda: director.workers("demo")[0]["last_ping_at"])  # its heartbeat process is there, too
        assert len(marked(mark)) >= 2
        director.close()
    finally:
        server.send_signal(number)
        status = server.wait(20)
    assert status == (0 if number is signal.SIGTERM else -signal.SIGKILL)
    eventually(lambda: marked(mark) == [])
    with pytest.raises(httpx.ConnectError):
        httpx.get(told["url"], trust_env=False)


def test_a_worker_s_environment_holds_nothing_of_ours(runpod: LoopbackRunPod, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_KEY", "not for workers")
    show = "import os, json, sys; json.dump(dict(os.environ), open(os.environ['SHOWN'], 'w'))"
    shown = tmp_path / "environment"
    runpod.image("show:*", [sys.executable, "-c", show], {"SHOWN": str(shown)})
    endpoint = runpod.endpoint(image="show:1", env={"OWN": "1"}, workers={"min": 1, "max": 1})
    seen = eventually(lambda: shown.exists() and shown.read_text().endswith("}") and json.loads(shown.read_text()))
    assert (seen["OWN"], seen["RUNPOD_POD_ID"]) == ("1", runpod.workers(endpoint)[0]["id"])
    assert not {"SECRET_KEY", "DATABASE_URL", "REDIS_URL"} & set(seen)
    assert seen["HOME"] != os.environ.get("HOME")

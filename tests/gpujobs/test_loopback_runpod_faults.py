"""Every fault that can be scripted is seen on the wire (whole processes: test_loopback_runpod_worker)."""

from pathlib import Path

import httpx
import pytest

from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.faults import KINDS
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

OK = '{"output": {"ok": true}}'


def submit(runpod: LoopbackRunPod, endpoint: str, **options) -> httpx.Response:
    return runpod.call("POST", f"/v2/{endpoint}/run", {"input": 1}, **options)


def jobs(runpod: LoopbackRunPod) -> list[dict]:
    return runpod.control("GET", "jobs")


def test_each_fault_is_shown_by_a_test() -> None:
    texts = "".join(path.read_text() for path in Path(__file__).parent.glob("test_loopback_runpod_*.py"))
    shown = [kind for kind in KINDS if f'fault("{kind}"' in texts or f'("{kind}", ' in texts]
    assert shown == list(KINDS)


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
    worker, job = runpod.running(endpoint)
    assert runpod.status(endpoint, job)["status"] == name
    runpod.done(endpoint, worker, job, OK)
    assert runpod.status(endpoint, job)["status"] == "COMPLETED"


def test_progress_may_come_after_the_end(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("progress_after_done", output="half")
    worker, job = runpod.running(endpoint)
    runpod.done(endpoint, worker, job, OK)
    seen = [runpod.status(endpoint, job) for _ in range(3)]
    assert [each["status"] for each in seen] == ["COMPLETED", "IN_PROGRESS", "COMPLETED"]
    assert seen[1]["output"] == "half"


def test_an_output_may_be_anything(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("output_replaced", output={"texts": []})
    runpod.fault("output_replaced", raw='{"probability": NaN}')
    worker, job = runpod.running(endpoint)
    runpod.done(endpoint, worker, job, OK)
    assert runpod.status(endpoint, job)["output"] == {"texts": []}
    text = runpod.call("GET", f"/v2/{endpoint}/status/{job}").text
    assert '"output": {"probability": NaN}' in text
    assert runpod.status(endpoint, job)["output"] == {"ok": True}


# --- Between server and worker --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 429, 500])
def test_job_done_may_be_refused(runpod, endpoint, status) -> None:
    runpod.fault("done_refused", status=status)
    worker, job = runpod.running(endpoint)
    assert runpod.done(endpoint, worker, job, OK).status_code == status
    assert runpod.status(endpoint, job)["status"] == "IN_PROGRESS"
    assert runpod.done(endpoint, worker, job, OK).status_code == 200  # the SDK tries a 5xx again
    assert runpod.status(endpoint, job)["status"] == "COMPLETED"


def test_a_result_may_be_dropped(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.fault("done_dropped")
    worker, job = runpod.running(endpoint)
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
    worker, job = runpod.running(endpoint)
    runpod.call("POST", f"/v2/{endpoint}/cancel/{job}")
    assert runpod.as_worker("GET", f"/v2/{endpoint}/job-stop/{worker}?gpu=x").status_code == 204

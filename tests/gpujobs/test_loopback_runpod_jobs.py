"""The loopback RunPod's jobs, with the test itself as worker: states, times, expiry, sizes, rates, deliveries."""

import json
import threading

import pytest

from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

OK = '{"output": {"ok": true}}'


def test_it_takes_a_job_from_queue_to_end(runpod: LoopbackRunPod, endpoint: str) -> None:
    job = runpod.run(endpoint, {"text": "x"})
    assert runpod.status(endpoint, job) == {"id": job, "status": "IN_QUEUE"}
    runpod.advance(3)
    worker = runpod.worker(endpoint)
    assert runpod.take(endpoint, worker).json()["id"] == job
    assert runpod.status(endpoint, job)["status"] == "IN_PROGRESS"
    runpod.advance(2)
    assert runpod.done(endpoint, worker, job, OK).status_code == 200
    seen = runpod.status(endpoint, job)
    assert (seen["status"], seen["output"], seen["workerId"]) == ("COMPLETED", {"ok": True}, worker)
    assert 3000 <= seen["delayTime"] < 4500
    assert 2000 <= seen["executionTime"] < 3500
    assert runpod.health(endpoint)["jobs"]["completed"] == 1


def test_it_answers_an_empty_queue_with_nothing(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(workers={"min": 1, "max": 1})
    assert runpod.take(endpoint, runpod.worker(endpoint)).status_code == 204


def test_it_hands_out_batches_and_keeps_the_order(runpod: LoopbackRunPod, endpoint: str) -> None:
    jobs = [runpod.run(endpoint, number) for number in range(3)]
    worker = runpod.worker(endpoint)
    path = f"/v2/{endpoint}/job-take-batch/{worker}?gpu=x&batch_size=2&job_in_progress=0"
    assert [job["id"] for job in runpod.as_worker("GET", path).json()] == jobs[:2]
    assert runpod.take(endpoint, worker).json()["id"] == jobs[2]


@pytest.mark.parametrize(
    ("body", "status", "error", "output"),
    [
        ('{"output": null}', "COMPLETED", None, None),
        ("{}", "COMPLETED", None, "absent"),
        ('{"error": "m", "output": {"extra": 1}}', "FAILED", "m", {"extra": 1}),
        ('{"error": {"not": "a string"}}', "COMPLETED", None, "absent"),
    ],
)
def test_it_reads_results_as_the_real_one(runpod, endpoint, body, status, error, output) -> None:
    worker, job = runpod.running(endpoint)
    runpod.done(endpoint, worker, job, body)
    seen = runpod.status(endpoint, job)
    assert (seen["status"], seen.get("error"), seen.get("output", "absent")) == (status, error, output)


def test_it_ignores_what_comes_after_the_end(runpod: LoopbackRunPod, endpoint: str) -> None:
    worker, job = runpod.running(endpoint)
    runpod.done(endpoint, worker, job, '{"status": "IN_PROGRESS", "output": "half"}')
    assert runpod.status(endpoint, job)["output"] == "half"
    for body in (OK, '{"status": "IN_PROGRESS", "output": "late"}', '{"output": "second"}'):
        assert runpod.done(endpoint, worker, job, body).status_code == 200
    assert runpod.status(endpoint, job)["output"] == {"ok": True}


def test_it_refuses_a_result_that_is_no_json(runpod: LoopbackRunPod, endpoint: str) -> None:
    worker, job = runpod.running(endpoint)
    assert runpod.done(endpoint, worker, job, '{"output": NaN}').status_code == 400
    assert runpod.status(endpoint, job)["status"] == "IN_PROGRESS"


def test_it_streams_each_chunk_once(runpod: LoopbackRunPod, endpoint: str) -> None:
    worker, job = runpod.running(endpoint)
    path = f"/v2/{endpoint}/job-stream/{worker}/{job}?gpu=x"
    runpod.as_worker("POST", path, '{"output": 1}')
    runpod.as_worker("POST", path, '{"output": 2}')
    stream = runpod.call("GET", f"/v2/{endpoint}/stream/{job}").json()
    assert stream == {"status": "IN_PROGRESS", "stream": [{"output": 1}, {"output": 2}]}
    assert runpod.call("GET", f"/v2/{endpoint}/stream/{job}").json()["stream"] == []


def test_it_cancels_in_the_queue_and_at_work(runpod: LoopbackRunPod, endpoint: str) -> None:
    worker, first = runpod.running(endpoint)
    second = runpod.run(endpoint, 2)
    for job in (first, second):
        answer = runpod.call("POST", f"/v2/{endpoint}/cancel/{job}").json()
        assert answer == {"id": job, "status": "CANCELLED"}
    stops = runpod.as_worker("GET", f"/v2/{endpoint}/job-stop/{worker}?gpu=x")
    assert stops.json() == {"jobsToStop": [first]}
    assert runpod.take(endpoint, worker).status_code == 204


def test_it_times_out_and_tells_the_worker(runpod: LoopbackRunPod, endpoint: str) -> None:
    worker, job = runpod.running(endpoint, policy={"executionTimeout": 5000})
    runpod.advance(4)
    assert runpod.status(endpoint, job)["status"] == "IN_PROGRESS"
    runpod.advance(1)
    assert runpod.status(endpoint, job)["status"] == "TIMED_OUT"
    stops = runpod.as_worker("GET", f"/v2/{endpoint}/job-stop/{worker}?gpu=x")
    assert stops.json() == {"jobsToStop": [job]}


def test_it_retries_only_what_failed(runpod: LoopbackRunPod, endpoint: str) -> None:
    worker, job = runpod.running(endpoint)
    assert runpod.call("POST", f"/v2/{endpoint}/retry/{job}").status_code == 400
    runpod.done(endpoint, worker, job, '{"error": "m", "output": 1}')
    assert runpod.call("POST", f"/v2/{endpoint}/retry/{job}").json() == {"id": job, "status": "IN_QUEUE"}
    assert runpod.status(endpoint, job) == {"id": job, "status": "IN_QUEUE"}
    assert runpod.take(endpoint, worker).json()["id"] == job


def test_it_purges_what_waits(runpod: LoopbackRunPod, endpoint: str) -> None:
    _, taken = runpod.running(endpoint)
    waiting = [runpod.run(endpoint, number) for number in range(2)]
    assert runpod.call("POST", f"/v2/{endpoint}/purge-queue").json() == {"removed": 2, "status": "completed"}
    assert [runpod.status(endpoint, job)["status"] for job in (taken, *waiting)] == [
        "IN_PROGRESS",
        "CANCELLED",
        "CANCELLED",
    ]


# --- Expiry -------------------------------------------------------------------------------------------------------


def known(runpod: LoopbackRunPod, endpoint: str, job: str) -> bool:
    return runpod.call("GET", f"/v2/{endpoint}/status/{job}").status_code == 200


def test_it_keeps_a_result_for_half_an_hour(runpod: LoopbackRunPod, endpoint: str) -> None:
    worker, job = runpod.running(endpoint)
    runpod.done(endpoint, worker, job, OK)
    runpod.advance(1790)
    assert known(runpod, endpoint, job)
    runpod.advance(10)
    assert not known(runpod, endpoint, job)


def test_it_shortens_retention_when_asked(runpod: LoopbackRunPod, endpoint: str) -> None:
    worker, job = runpod.running(endpoint)
    runpod.done(endpoint, worker, job, OK)
    assert runpod.call("GET", f"/v2/{endpoint}/status/{job}?ttl=5000").status_code == 200
    runpod.advance(5)
    assert not known(runpod, endpoint, job)


@pytest.mark.parametrize("taken", [False, True])
def test_it_forgets_a_job_past_its_ttl_whatever_its_state(runpod, endpoint, taken) -> None:
    job = runpod.run(endpoint, 1, policy={"ttl": 10_000})
    worker = runpod.worker(endpoint)
    if taken:
        runpod.take(endpoint, worker)
    runpod.advance(9)
    assert known(runpod, endpoint, job)
    runpod.advance(1)
    assert not known(runpod, endpoint, job)
    if taken:
        assert runpod.done(endpoint, worker, job, OK).status_code == 404


def test_it_waits_in_runsync_and_forgets_after_a_minute(runpod: LoopbackRunPod, endpoint: str) -> None:
    answers = []
    asking = threading.Thread(
        target=lambda: answers.append(runpod.call("POST", f"/v2/{endpoint}/runsync", {"input": 1}).json())
    )
    asking.start()
    worker = runpod.worker(endpoint)
    job = runpod.take(endpoint, worker).json()["id"]
    assert job.startswith("sync-")
    runpod.done(endpoint, worker, job, OK)
    asking.join(10)
    assert (answers[0]["status"], answers[0]["output"]) == ("COMPLETED", {"ok": True})
    runpod.advance(60)
    assert not known(runpod, endpoint, job)


def test_it_gives_up_waiting_in_runsync_by_the_clock(runpod: LoopbackRunPod, endpoint: str) -> None:
    answers = []
    asking = threading.Thread(
        target=lambda: answers.append(runpod.call("POST", f"/v2/{endpoint}/runsync?wait=30000", {"input": 1}).json())
    )
    asking.start()
    eventually(lambda: runpod.health(endpoint)["jobs"]["inQueue"])
    runpod.advance(30)
    asking.join(10)
    assert answers[0]["status"] == "IN_QUEUE"


# --- Limits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"input": 1, "policy": {"ttl": 9_999}},
        {"input": 1, "policy": {"executionTimeout": 4_999}},
        {"input": 1, "policy": {"ttl": 604_800_001}},
        {"input": 1, "policy": {"ttl": "long"}},
    ],
)
def test_it_refuses_a_malformed_job(runpod, endpoint, body) -> None:
    assert runpod.call("POST", f"/v2/{endpoint}/run", body).status_code == 400


def test_it_refuses_bodies_over_the_limit(runpod: LoopbackRunPod, endpoint: str) -> None:
    big = "x" * 10_000_000
    assert runpod.call("POST", f"/v2/{endpoint}/run", {"input": big}).status_code == 400
    assert runpod.call("POST", f"/v2/{endpoint}/run", {"input": big[:9_900_000]}).status_code == 200
    assert runpod.call("POST", f"/v2/{endpoint}/runsync?wait=1000", {"input": big}).status_code == 200
    worker = runpod.worker(endpoint)
    job = runpod.take(endpoint, worker).json()["id"]
    assert runpod.done(endpoint, worker, job, json.dumps({"output": big})).status_code == 400


def test_it_limits_rates_and_lets_go_again(runpod: LoopbackRunPod, endpoint: str) -> None:
    path = f"/v2/{endpoint}/purge-queue"
    assert [runpod.call("POST", path).status_code for _ in range(3)] == [200, 200, 429]
    runpod.advance(10)
    assert runpod.call("POST", path).status_code == 200


def test_running_workers_raise_a_rate(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.control("POST", f"endpoints/{endpoint}/rates", {"op": "status", "most": 1, "per_worker": 3})
    _, job = runpod.running(endpoint)
    path = f"/v2/{endpoint}/status/{job}"
    assert [runpod.call("GET", path).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_the_queue_s_former_cap_can_be_set(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(workers={"min": 0, "max": 0}, habits={"queue_cap": True})
    answers = [runpod.call("POST", f"/v2/{endpoint}/run", {"input": 1}).status_code for _ in range(52)]
    assert answers == [200] * 51 + [429]


def test_it_knows_keys(runpod: LoopbackRunPod, endpoint: str) -> None:
    other = runpod.played()
    runpod.control("POST", "keys", {"key": "narrow", "rest": False, "endpoints": [endpoint]})

    def ask(path: str, authorization: str) -> int:
        return runpod.call("GET", path, headers={"Authorization": authorization}).status_code

    assert ask(f"/v2/{endpoint}/health", "Bearer wrong") == 401
    assert ask(f"/v2/{endpoint}/health", "") == 401
    assert ask(f"/v2/{endpoint}/health", runpod.key) == 200  # the docs' samples send it bare
    assert ask(f"/v2/{endpoint}/health", "Bearer narrow") == 200
    assert ask(f"/v2/{other}/health", "Bearer narrow") == 403
    assert ask("/v2/pods", "Bearer narrow") == 403
    assert ask("/v2/nowhere/health", f"Bearer {runpod.key}") == 404
    assert ask(f"/v2/{endpoint}/job-take/w?gpu=x", f"Bearer {runpod.key}") == 401

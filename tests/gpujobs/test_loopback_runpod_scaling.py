"""The loopback RunPod's workers come and go as the reference says; the test plays them and moves the clock."""

import pytest

from gpujobs.planning.scaler import Load, QueueDelay, RequestCount, target
from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

OK = '{"output": 1}'
DAY = 86_400


@pytest.mark.parametrize(
    ("scaler", "waits", "in_progress", "live", "starting", "wanted"),
    [
        (QueueDelay(4), [], 0, 0, 0, 0),
        (QueueDelay(4), [0.0], 0, 0, 0, 1),  # from zero at once
        (QueueDelay(4), [3.9], 1, 1, 0, 1),
        (QueueDelay(4), [4.0], 1, 1, 0, 2),
        (QueueDelay(4), [9, 8, 7], 1, 1, 0, 4),
        (QueueDelay(4), [9, 8, 7], 1, 3, 2, 4),  # two are on their way
        (QueueDelay(4), [], 0, 2, 0, 2),  # only idleness ends one
        (RequestCount(4), [1] * 5, 4, 1, 0, 3),
        (RequestCount(4), [], 0, 3, 0, 0),
    ],
)
def test_scaler(scaler, waits, in_progress, live, starting, wanted) -> None:
    load = Load(waits, in_progress, live, starting)
    assert scaler.wanted(load) == wanted
    assert target(scaler, load, 1, 2) == min(max(wanted, 1), 2)


def phases(runpod: LoopbackRunPod, endpoint: str) -> list[str]:
    return sorted(worker["phase"] for worker in runpod.workers(endpoint))


def work(runpod: LoopbackRunPod, endpoint: str, worker: str) -> None:
    """Take one job and finish it."""
    job = runpod.take(endpoint, worker).json()["id"]
    assert runpod.done(endpoint, worker, job, OK).status_code == 200


def test_it_starts_cold_and_stops_when_idle(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(
        habits={"pull_seconds": 180, "cold_start_seconds": 16}, workers={"min": 0, "max": 3, "idleTimeout": 5}
    )
    assert runpod.health(endpoint)["workers"] == dict.fromkeys(
        ("idle", "initializing", "ready", "running", "throttled", "unhealthy"), 0
    )
    job = runpod.run(endpoint, 1)
    worker = runpod.worker(endpoint, "PULLING")
    assert runpod.health(endpoint)["workers"]["initializing"] == 1
    runpod.advance(180)
    assert runpod.worker(endpoint, "STARTING") == worker
    assert runpod.take(endpoint, worker).status_code == 204  # not ready before its time
    runpod.advance(16)
    assert runpod.take(endpoint, worker).json()["id"] == job
    assert runpod.health(endpoint)["workers"]["running"] == 1
    runpod.done(endpoint, worker, job, OK)
    assert 196_000 <= runpod.status(endpoint, job)["delayTime"] < 200_000
    assert runpod.health(endpoint)["workers"]["idle"] == 1
    runpod.advance(4)
    assert phases(runpod, endpoint) == ["READY"]
    runpod.advance(1)
    eventually(lambda: phases(runpod, endpoint) == [])


def test_queue_delay_adds_a_worker_for_each_job_that_waits_too_long(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(workers={"min": 0, "max": 3, "idleTimeout": 600})
    for number in range(5):
        runpod.run(endpoint, number)
    runpod.take(endpoint, runpod.worker(endpoint))
    assert phases(runpod, endpoint) == ["READY"]
    runpod.advance(4)
    assert phases(runpod, endpoint) == ["READY", "STARTING", "STARTING"]


def test_request_count_follows_the_load(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(
        scaling={"type": "REQUEST_COUNT", "requestCount": 2},
        workers={"min": 0, "max": 5},
        habits={"request_count_idle_seconds": 10},
    )
    for number in range(5):
        runpod.run(endpoint, number)
    assert phases(runpod, endpoint) == ["STARTING"] * 3
    ids = [worker["id"] for worker in runpod.workers(endpoint)]
    for at in range(5):
        work(runpod, endpoint, ids[at % 3])
    runpod.advance(10)
    eventually(lambda: phases(runpod, endpoint) == [])


def test_it_keeps_min_workers_and_never_exceeds_max(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(workers={"min": 1, "max": 2, "idleTimeout": 5})
    assert phases(runpod, endpoint) == ["STARTING"]
    runpod.take(endpoint, runpod.worker(endpoint))
    runpod.advance(3600)
    assert phases(runpod, endpoint) == ["READY"]
    for number in range(9):
        runpod.run(endpoint, number)
    runpod.advance(60)
    assert len(phases(runpod, endpoint)) == 2


def test_it_shares_the_account_s_quota(runpod: LoopbackRunPod) -> None:
    runpod.control("POST", "account", {"worker_quota": 3})
    first = runpod.played(workers={"min": 2, "max": 5})
    second = runpod.played(workers={"min": 2, "max": 5})
    assert (len(phases(runpod, first)), len(phases(runpod, second))) == (2, 1)


def test_low_priority_starts_nothing(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played()
    runpod.run(endpoint, 1, policy={"lowPriority": True})
    runpod.advance(600)
    assert phases(runpod, endpoint) == []


def test_flashboot_parks_and_resumes_the_same_worker(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(
        flashboot="FLASHBOOT",
        habits={"park_seconds": 360, "resume_seconds": 1, "cold_start_seconds": 16},
        workers={"min": 0, "max": 3, "idleTimeout": 5},
    )
    runpod.run(endpoint, 1)
    worker = runpod.worker(endpoint)
    runpod.advance(16)
    work(runpod, endpoint, worker)
    runpod.advance(5)
    assert phases(runpod, endpoint) == ["PARKED"]
    assert runpod.health(endpoint)["workers"]["idle"] == 1  # a slot, not a live worker
    job = runpod.run(endpoint, 2)
    runpod.advance(1)
    assert runpod.take(endpoint, worker).json()["id"] == job
    runpod.done(endpoint, worker, job, OK)
    runpod.advance(5 + 360)
    eventually(lambda: phases(runpod, endpoint) == [])
    lives = runpod.bill()["lifetimes"]
    assert [life["id"] for life in lives] == [worker] * 3
    assert lives[2]["gpu_nanousd"] == 0  # waking up to end costs nothing
    runpod.run(endpoint, 3)
    assert runpod.worker(endpoint) != worker


def test_it_replaces_workers_when_the_image_changes(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(workers={"min": 1, "max": 1, "idleTimeout": 5}, habits={"rollout_seconds": 30})
    old = runpod.worker(endpoint)
    runpod.run(endpoint, 1)
    runpod.call("PATCH", f"/v2/serverless/{endpoint}", {"image": "inkcloak/example:2"})
    work(runpod, endpoint, old)
    shown = runpod.call("GET", f"/v2/serverless/{endpoint}/workers").json()
    assert (shown["workers"][0]["isStale"], shown["endpointVersion"]) == (True, 2)
    runpod.advance(30)
    eventually(lambda: old not in [worker["id"] for worker in runpod.workers(endpoint)])
    assert runpod.worker(endpoint) != old
    shown = runpod.call("GET", f"/v2/serverless/{endpoint}/workers").json()
    assert (shown["workers"][0]["image"], shown["workers"][0]["isStale"]) == ("inkcloak/example:2", False)


def test_it_lowers_max_workers_of_a_quiet_endpoint(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(workers={"min": 0, "max": 3, "idleTimeout": 5})

    def most() -> int:
        return runpod.call("GET", f"/v2/serverless/{endpoint}").json()["workers"]["max"]

    runpod.advance(3 * DAY)
    assert most() == 2
    runpod.advance(4 * DAY)
    assert most() == 0
    runpod.run(endpoint, 1)
    runpod.advance(60)
    assert phases(runpod, endpoint) == []  # and stays there until raised
    workers = {"max": 3}
    runpod.call("PATCH", f"/v2/serverless/{endpoint}", {"workers": workers})
    assert phases(runpod, endpoint) == ["STARTING"]


def test_a_lost_worker_s_job_goes_back_and_fails_in_the_end(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(habits={"requeue_limit": 1})
    job = runpod.run(endpoint, 1)
    for expected in ("IN_QUEUE", "FAILED"):
        worker = runpod.worker(endpoint)
        runpod.fault("worker_crash", where={"endpoint": endpoint})
        runpod.take(endpoint, worker)
        eventually(lambda expected=expected: runpod.status(endpoint, job)["status"] == expected)
    seen = runpod.status(endpoint, job)
    assert (seen["retries"], "exited" in seen["error"]) == (1, True)
    assert runpod.health(endpoint)["jobs"]["retried"] == 1


def test_a_failed_fitness_check_makes_a_worker_unhealthy(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(habits={"unhealthy_limit": 2, "unhealthy_seconds": 10})
    runpod.run(endpoint, 1)
    for most in (3, 2):
        worker = runpod.worker(endpoint)
        runpod.as_worker("GET", f"/v2/{endpoint}/ping/{worker}?gpu=x&status=unhealthy&check=model&reason=hash")
        assert runpod.health(endpoint)["workers"]["unhealthy"] == 1
        assert runpod.call("GET", f"/v2/serverless/{endpoint}").json()["workers"]["max"] == most
        runpod.advance(10)


def test_refresh_worker_replaces_it_after_the_job(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played()
    job = runpod.run(endpoint, 1)
    worker = runpod.worker(endpoint)
    runpod.take(endpoint, worker)
    runpod.done(endpoint, worker, job, '{"output": 1, "stopPod": true}')
    eventually(lambda: phases(runpod, endpoint) == [])
    assert runpod.status(endpoint, job)["status"] == "COMPLETED"

"""The loopback RunPod's money: a bill per lifetime that adds up, in buckets, to the balance."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.ledger import Ledger, Lifetime
from tests.loopback.runpod.rest_billing import bucket_start, next_bucket
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

A4000_PER_SECOND = 160_000  # nano-dollars
OK = '{"output": 1}'
HOUR = 3600


def one_worker_life(runpod: LoopbackRunPod, *, seconds: float = 100, **settings) -> tuple[str, dict]:
    """An endpoint whose worker worked so long and was idle for 5 s; its lifetime on the bill."""
    workers = {"min": 0, "max": 1, "idleTimeout": 5}
    endpoint = runpod.played(workers=workers, disk=10, **settings)
    job = runpod.run(endpoint, 1)
    worker = runpod.worker(endpoint)
    runpod.take(endpoint, worker)
    runpod.advance(seconds)
    runpod.done(endpoint, worker, job, OK)
    runpod.advance(5)
    eventually(lambda: runpod.workers(endpoint) == [])
    return endpoint, runpod.bill()["lifetimes"][-1]


def test_it_bills_from_container_start_to_full_stop(runpod: LoopbackRunPod) -> None:
    endpoint, life = one_worker_life(runpod)
    assert 105 <= life["seconds"] <= 107  # 100 at work, 5 idle, and what the machine really needed
    assert life["gpu_nanousd"] == life["seconds"] * A4000_PER_SECOND
    assert (life["owner"], life["gpu"], life["billed"]) == (endpoint, "NVIDIA RTX A4000", True)


def test_a_jump_of_the_clock_costs_a_stopped_worker_nothing(runpod: LoopbackRunPod) -> None:
    _, life = one_worker_life(runpod)
    runpod.advance(7 * 24 * HOUR)
    assert runpod.bill()["lifetimes"] == [life]


def test_a_jump_past_the_idle_timeout_bills_up_to_it(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(workers={"min": 0, "max": 1, "idleTimeout": 5})
    job = runpod.run(endpoint, 1)
    worker = runpod.worker(endpoint)
    runpod.take(endpoint, worker)
    runpod.done(endpoint, worker, job, OK)
    runpod.advance(24 * HOUR)
    eventually(lambda: runpod.workers(endpoint) == [])
    assert 5 <= runpod.bill()["lifetimes"][0]["seconds"] <= 7


def test_image_pull_throttling_and_failed_starts_are_free(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(habits={"pull_seconds": 180})
    runpod.fault("throttled", seconds=600)
    runpod.run(endpoint, 1)
    runpod.advance(600 + 180)
    worker = runpod.worker(endpoint)
    assert [life["seconds"] for life in runpod.bill()["lifetimes"]] in ([0], [1])
    runpod.as_worker("GET", f"/v2/{endpoint}/ping/{worker}?gpu=x&status=unhealthy")
    runpod.advance(5)
    bill = runpod.bill()
    assert (bill["lifetimes"][0]["billed"], bill["total_nanousd"]) == (False, 0)


def records(runpod: LoopbackRunPod, path: str) -> dict:
    answer = runpod.call("GET", f"/v2/billing{path}")
    assert answer.status_code == 200, answer.text
    return answer.json(parse_float=Decimal)


@pytest.mark.parametrize("size", ["hour", "day", "month"])
def test_buckets_add_up_to_the_bill(runpod: LoopbackRunPod, size: str) -> None:
    runpod.control("POST", "account", {"billing_lag_seconds": 0})
    endpoints = [one_worker_life(runpod, seconds=seconds)[0] for seconds in (1, 5000, 90_000)]
    total = Decimal(runpod.bill()["total_nanousd"]) / 10**9
    shown = records(runpod, f"/serverless?bucketSize={size}&lastN=60")
    assert sum(record["totalAmount"] for record in shown["records"]) == total
    assert shown["metadata"]["totals"]["totalAmount"] == total
    assert {record["serverlessId"] for record in shown["records"]} == set(endpoints)
    assert shown["metadata"]["uniqueServerlessCount"] == 3
    for record in shown["records"]:
        parts = [record[name] for name in ("gpuAmount", "cpuAmount", "diskAmount", "feeAmount")]
        assert sum(parts) == record["totalAmount"]
    one = records(runpod, f"/serverless?bucketSize={size}&lastN=60&serverlessId={endpoints[0]}")
    assert {record["serverlessId"] for record in one["records"]} == {endpoints[0]}
    everything = records(runpod, f"?bucketSize={size}&lastN=60")
    assert abs(everything["metadata"]["totals"]["totalAmount"] - total) < Decimal("1e-9")
    assert records(runpod, "/endpoints?lastN=60")["records"] == []  # public endpoints are none of ours


def test_the_balance_falls_by_what_was_spent(runpod: LoopbackRunPod) -> None:
    query = {"query": "query { myself { clientBalance currentSpendPerHr spendLimit } }"}

    def myself() -> dict:
        return runpod.call("POST", "/graphql", query).json(parse_float=Decimal)["data"]["myself"]

    assert myself() == {"clientBalance": 100, "currentSpendPerHr": 0, "spendLimit": 80}
    endpoint = runpod.played()
    runpod.run(endpoint, 1)
    runpod.take(endpoint, runpod.worker(endpoint))
    assert myself()["currentSpendPerHr"] == Decimal("0.576")
    one_worker_life(runpod)
    runpod.call("DELETE", f"/v2/serverless/{endpoint}")
    assert myself()["clientBalance"] == 100 - Decimal(runpod.bill()["total_nanousd"]) / 10**9
    assert myself()["currentSpendPerHr"] == 0


def test_billing_shows_nothing_of_the_last_hour(runpod: LoopbackRunPod) -> None:
    one_worker_life(runpod)
    assert records(runpod, "/serverless?lastN=2")["records"] == []
    runpod.advance(HOUR + 10)
    assert len(records(runpod, "/serverless?lastN=2")["records"]) >= 1
    runpod.fault("billing_lag", lag_seconds=3 * 24 * HOUR)
    assert records(runpod, "/serverless?lastN=2")["records"] == []
    assert runpod.bill()["total_nanousd"] > 0  # it was spent all the same


def test_pods_are_billed_by_the_second_and_stopped_ones_for_their_disk(runpod: LoopbackRunPod) -> None:
    runpod.control("POST", "account", {"billing_lag_seconds": 0})
    body = {
        "name": "retrain-1",
        "image": "x:1",
        "gpu": {"id": "NVIDIA RTX A4000"},
        "disk": 30,
        "mounts": {"persistent": {"size": 50, "path": "/workspace"}},
    }
    pod = runpod.call("POST", "/v2/pods", body).json()["id"]
    runpod.advance(5 + HOUR)
    runpod.call("POST", f"/v2/pods/{pod}/action", {"action": "stop"})
    runpod.advance(24 * HOUR)
    runpod.call("DELETE", f"/v2/pods/{pod}")
    on, off = runpod.bill()["lifetimes"]
    assert 3600 <= on["seconds"] <= 3602
    assert 250_000_000 <= on["gpu_nanousd"] < 250_200_000
    assert (off["kind"], off["gpu_nanousd"]) == ("stopped-pod", 0)
    day_of_disk = 50 * 200_000_000 // 30
    assert day_of_disk <= off["disk_nanousd"] < day_of_disk * 1.01
    shown = records(runpod, "/pods?lastN=3")
    assert shown["metadata"]["totals"]["totalAmount"] == Decimal(runpod.bill()["total_nanousd"]) / 10**9
    assert {record["podId"] for record in shown["records"]} == {pod}


@pytest.mark.parametrize(
    "query",
    ["bucketSize=minute", "lastN=0", "lastN=2&startTime=2026-01-01T00:00:00Z", "startTime=yesterday",
     "startTime=2026-02-01T00:00:00Z&endTime=2026-01-01T00:00:00Z"],
)  # fmt: skip
def test_billing_refuses_a_window_that_is_none(runpod: LoopbackRunPod, query: str) -> None:
    answer = runpod.call("GET", f"/v2/billing/serverless?{query}")
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"].startswith("application/problem+json")


@pytest.mark.parametrize(
    ("size", "start", "following"),
    [
        ("hour", "2026-12-31T23:00", "2027-01-01T00:00"),
        ("day", "2026-12-31T00:00", "2027-01-01T00:00"),
        ("week", "2026-12-28T00:00", "2027-01-04T00:00"),
        ("month", "2026-12-01T00:00", "2027-01-01T00:00"),
        ("year", "2026-01-01T00:00", "2027-01-01T00:00"),
    ],
)
def test_buckets_follow_each_other(size: str, start: str, following: str) -> None:
    at = bucket_start(datetime(2026, 12, 31, 23, 59, tzinfo=UTC), size)
    assert at == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert next_bucket(at, size) == datetime.fromisoformat(following).replace(tzinfo=UTC)


def test_started_seconds_count_whole_and_shares_are_exact() -> None:
    life = Lifetime("worker", "ep", "w", "gpu", A4000_PER_SECOND * HOUR, 0, started_at=0.0)
    ledger = Ledger(now=lambda: 1000.0)
    ledger.open(life)
    ledger.close(life, 138.301)  # the record of the reference: 138,301 ms at $0.58 an hour
    assert (life.seconds(1000), life.gpu_nanousd(1000)) == (139, 22_240_000)
    shares = [ledger.between(start, start + 10, ("worker",), None).get("ep", (0, 0))[0] for start in range(0, 200, 10)]
    assert sum(shares) == 22_240_000

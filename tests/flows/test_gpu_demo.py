"""`make run-gpu-demo`: pasted texts are scored by the SDK's real worker behind the loopback RunPod, and cost there."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import samples
from product import Product, Visitor, eventually, number_of

from devstack import envfile, ports

CLOSE = 1e-3
LONG = samples.long_text(60_000)  # seconds of work for one worker on the CPU
METER = "SELECT sum(used)::int, sum(held)::int FROM billing_meter WHERE unit = 'checks'"
UNTIMED = "SELECT count(*) FROM gpujobs_gpurun WHERE status = 'succeeded' AND execution_ms IS NULL"
RUN_OF = "SELECT r.status FROM detector_submission s JOIN gpujobs_gpurun r ON r.id = s.run_id WHERE s.id = %s"


@pytest.fixture(scope="module")
def demo() -> Iterator[Product]:
    base = Path(tempfile.mkdtemp(prefix="inkcloak-gpu-demo-"))
    base.chmod(0o711)  # the servers' user passes through
    made = Product(base / "var", ports.free_port(), "--gpu-demo")
    try:
        made.start()
        yield made
    finally:
        made.end()
        shutil.rmtree(base, ignore_errors=True)


def director(demo: Product, method: str, path: str, body: Any = None) -> Any:
    """What the loopback RunPod answers at its director's door."""
    address = envfile.read(demo.var / "dev.env")["RUNPOD_LOOPBACK_URL"]
    return httpx.request(method, f"{address}/_control/{path}", json=body, trust_env=False).raise_for_status().json()


def test_a_pasted_text_wakes_a_worker_and_gets_its_verdict(demo: Product) -> None:
    assert director(demo, "GET", "state")["endpoints"]["demo"]["workers"]["running"] == 0
    visitor = Visitor(demo)
    assert visitor.check(samples.HUMAN).label == "human"
    assert visitor.check(samples.AI).label == "ai"
    (lifetime,) = director(demo, "GET", "bill")["lifetimes"]
    assert lifetime["gpu_nanousd"] > 0
    ((backend, status),) = demo.rows("SELECT DISTINCT backend, status FROM gpujobs_gpurun")
    assert (backend, status) == ("runpod", "succeeded")


def test_it_says_what_the_cpu_says(demo: Product, product: Product) -> None:
    there, here = (each.check_text(samples.MIXED) for each in (demo, product))
    assert there["verdict"] == here["verdict"]
    assert there["probability"] == pytest.approx(here["probability"], abs=CLOSE)
    assert there["ai_fraction"] == pytest.approx(here["ai_fraction"], abs=CLOSE)


def test_the_doctor_is_content(demo: Product) -> None:
    done = demo.manage("runpod_doctor", "--json")
    said = json.loads(done.stdout)
    assert {each["name"]: each["state"] for each in said["findings"]} == dict.fromkeys(
        ("key", "endpoint", "scaler", "settings", "workers", "balance", "breaker", "model"), "ok"
    ), done.stdout


def test_no_log_of_a_worker_has_a_text(demo: Product) -> None:
    logs = eventually(lambda: list((demo.var / "runpod" / "logs").glob("worker-*.log")))
    said = "".join(path.read_text(errors="replace") for path in logs) + demo.logs()
    assert "warm: model version" in said
    assert samples.HUMAN[40:80] not in said


@pytest.mark.parametrize("part", ["gpu", "redis", "postgres"])
def test_a_batch_survives_the_death_of(demo: Product, part: str) -> None:
    """kill -9 while a worker has it: one verdict, charged once, and every attempt is a row with its times."""
    visitor = Visitor(demo)
    visitor.check(samples.HUMAN + f" Before the {part}.")  # whoever was killed before is back at work
    ((used, held),) = demo.rows(METER)
    assert held == 0
    page = visitor.post(LONG + f" With the {part}.")
    number = number_of(page)
    eventually(lambda: demo.rows(RUN_OF, number) == [("running",)])
    demo.kill(part, meanwhile=lambda: (visitor.page(page), visitor.page("/")))
    assert visitor.verdict(page).label in ("human", "mixed", "ai")
    assert visitor.statuses <= {200, 503}
    assert demo.rows("SELECT count(*) FROM detector_verdict WHERE submission_id = %s", number) == [(1,)]
    assert demo.rows(METER) == [(used + 1, 0)]
    assert demo.rows("SELECT count(*) FROM gpujobs_gpurun WHERE status = 'succeeded' AND execution_ms IS NULL") == [
        (0,)
    ]


def test_a_text_outlives_the_death_of_its_runpod(demo: Product) -> None:
    """kill -9 takes queue and worker along, in mid-job; the server that follows has the same address and no job."""
    visitor = Visitor(demo)
    director(demo, "POST", "faults", {"fault": "done_dropped"})
    page = visitor.post(samples.AI + " Posted while all was well.")
    eventually(lambda: any(job["status"] == "IN_PROGRESS" for job in director(demo, "GET", "jobs")))
    demo.kill("runpod", meanwhile=lambda: visitor.page(page))
    assert visitor.verdict(page).label == "ai"
    assert visitor.check(samples.HUMAN + " Posted afterwards.").label == "human"
    assert visitor.statuses <= {200}

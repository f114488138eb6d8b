"""What the client of RunPod's data plane tries again, what it does not, and how long it waits in between."""

import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from gpujobs.backends import BackendError
from gpujobs.backends.runpod_http import MOST_BODY_BYTES, Job, RunpodHttp, backoff, cadence, job_of, retry_after
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

SECRET = "planted-secret-words"
NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


class Client(RunpodHttp):
    """Notes its pauses instead of sleeping."""

    def __init__(self, url: str, endpoint: str, key: str = "rpa_loopback", timeout: float = 5.0) -> None:
        self.pauses: list[float] = []
        super().__init__(f"{url}/v2", endpoint, key, timeout_seconds=timeout, sleep=self.pauses.append)


@pytest.fixture
def client(runpod: LoopbackRunPod) -> Client:
    return Client(runpod.url, runpod.played())


def numbered(n: int) -> dict[str, Any]:
    """A body that says which submission it is."""
    return {"input": {"texts": [SECRET], "attempt": n + 1}}


def refused(call: Callable[[], object]) -> BackendError:
    with pytest.raises(BackendError) as caught:
        call()
    assert SECRET not in repr(caught.value)
    return caught.value


def attempts(runpod: LoopbackRunPod, client: Client) -> list[int]:
    """Which submissions are in the queue, as a worker would get them."""
    endpoint = str(client._http.base_url).rstrip("/").rpartition("/")[2]
    worker = runpod.worker(endpoint)
    found = []
    while (answer := runpod.take(endpoint, worker)).status_code == 200:
        found.append(int(answer.json()["input"]["attempt"]))
    return found


# --- What is tried again ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["server_error", "bad_gateway"])
def test_it_repeats_a_doubtful_submit_under_the_next_attempt(
    runpod: LoopbackRunPod, client: Client, fault: str
) -> None:
    runpod.fault(fault, where={"op": "run"}, after=True)
    job, submissions = client.submit(numbered)
    assert (job.status, submissions, len(client.pauses)) == ("IN_QUEUE", 2, 1)
    assert sorted(attempts(runpod, client)) == [1, 2]  # both were accepted, and only we know of one


def test_it_repeats_a_submit_whose_answer_was_lost(runpod: LoopbackRunPod, client: Client) -> None:
    runpod.fault("dropped_answer", where={"op": "run"})
    assert client.submit(numbered)[1] == 2


def test_it_repeats_a_submit_that_is_not_answered_in_time(runpod: LoopbackRunPod) -> None:
    client = Client(runpod.url, runpod.played(), timeout=0.5)
    runpod.fault("slow_answer", where={"op": "run"}, delay=2)
    assert client.submit(numbered)[1] == 2


def test_it_hands_in_no_third_time(runpod: LoopbackRunPod, client: Client) -> None:
    runpod.fault("server_error", where={"op": "run"}, times=None)
    error = refused(lambda: client.submit(numbered))
    assert (error.code, error.permanent) == ("runpod_unavailable", False)
    assert error.usage is not None
    assert (error.usage.submissions, runpod.count("run")) == (2, 2)


def test_it_obeys_retry_after_and_repeats_the_same_attempt(runpod: LoopbackRunPod, client: Client) -> None:
    runpod.fault("rate_limited", where={"op": "run"}, times=2, retry_after=7)
    assert client.submit(numbered)[1] == 1
    assert client.pauses == [7, 7]
    assert attempts(runpod, client) == [1]


def test_it_waits_for_nobody_who_wants_too_much_time(runpod: LoopbackRunPod, client: Client) -> None:
    runpod.fault("rate_limited", where={"op": "run"}, times=None, retry_after=3600)
    error = refused(lambda: client.submit(numbered))
    assert (error.code, error.permanent, client.pauses) == ("runpod_busy", False, [])


def test_it_looks_again_whatever_happens(runpod: LoopbackRunPod, client: Client) -> None:
    job, _ = client.submit(numbered)
    for fault in ("server_error", "bad_gateway", "rate_limited"):
        runpod.fault(fault, where={"op": "status"})
    assert client.status(job.id).status == "IN_QUEUE"
    runpod.fault("server_error", where={"op": "status"}, times=None)
    assert refused(lambda: client.status(job.id)).code == "runpod_unavailable"


def test_it_says_when_nobody_is_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        client = Client(f"http://127.0.0.1:{free.getsockname()[1]}", "ep")
        error = refused(lambda: client.submit(numbered))
    assert (error.code, error.permanent, len(client.pauses)) == ("runpod_unreachable", False, 3)
    assert error.usage is not None
    assert error.usage.submissions == 0  # nothing was ever sent


# --- What is not --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code"),
    [("unauthorized", "runpod_unauthorized"), ("forbidden", "runpod_forbidden"),
     ("not_found", "runpod_endpoint_missing")],
)  # fmt: skip
def test_it_does_not_repeat_what_is_refused(runpod: LoopbackRunPod, client: Client, fault: str, code: str) -> None:
    runpod.fault(fault, where={"op": "run"})
    error = refused(lambda: client.submit(numbered))
    assert (error.code, error.permanent, client.pauses) == (code, True, [])


def test_it_is_told_of_a_wrong_key_and_of_a_wrong_endpoint(runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played()
    assert refused(Client(runpod.url, endpoint, key="wrong").health).code == "runpod_unauthorized"
    assert refused(Client(runpod.url, "nowhere").health).code == "runpod_endpoint_missing"


def test_it_sends_no_malformed_job_twice(runpod: LoopbackRunPod, client: Client) -> None:
    error = refused(lambda: client.submit(lambda _: {"input": {}, "policy": {"ttl": 1}}))
    assert (error.code, error.permanent, runpod.count("run")) == ("runpod_malformed", True, 1)


def test_it_sends_nothing_that_is_too_large(runpod: LoopbackRunPod, client: Client) -> None:
    error = refused(lambda: client.submit(lambda _: {"input": {"text": SECRET * (MOST_BODY_BYTES // 15)}}))
    assert (error.code, error.permanent, runpod.count("run")) == ("runpod_too_large", True, 0)


def test_it_tells_a_lost_job_from_a_lost_endpoint(runpod: LoopbackRunPod, client: Client) -> None:
    job, _ = client.submit(numbered)
    runpod.fault("early_404", forget=True)
    error = refused(lambda: client.status(job.id))
    assert (error.code, error.permanent, runpod.count("health")) == ("runpod_job_lost", False, 1)
    runpod.fault("not_found", where={"op": "status"})
    runpod.fault("not_found", where={"op": "health"})
    assert refused(lambda: client.status(job.id)).code == "runpod_endpoint_missing"


def test_it_cancels(client: Client) -> None:
    job, _ = client.submit(numbered)
    assert client.cancel(job.id).status == "CANCELLED"
    assert client.status(job.id).final


# --- Numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(None, 0), ("", 0), ("3", 3), (" 3 ", 3), ("-3", 0), ("soon", 0), ("Mon, 15 Jun 2026 12:00:09 GMT", 9),
     ("Mon, 15 Jun 2026 11:00:00 GMT", 0), ("Mon, 15 Jun 2026 12:00:09", 0)],
)  # fmt: skip
def test_it_understands_retry_after(value: str | None, seconds: float) -> None:
    assert retry_after(value, NOW) == seconds


def test_its_pauses_grow_and_scatter() -> None:
    for pauses, first, longest in ((backoff(), 0.25, 4.0), (cadence(), 0.5, 5.0)):
        found = [next(pauses) for _ in range(30)]
        assert first * 0.7 <= found[0] <= first * 1.3
        assert all(longest * 0.7 <= pause <= longest * 1.3 for pause in found[10:])
        assert len({round(pause, 6) for pause in found[10:]}) > 10


@pytest.mark.parametrize(
    ("data", "job"),
    [
        ({"id": "a-u1", "status": "IN_QUEUE"}, Job("a-u1", "IN_QUEUE")),
        ({"id": "a", "status": "COMPLETED", "delayTime": 824, "executionTime": 3391.4, "workerId": "w", "output": {}},
         Job("a", "COMPLETED", {}, delay_ms=824, execution_ms=3391, worker_id="w")),
        ({"id": "a", "status": "BUSY", "delayTime": -1, "executionTime": "x", "workerId": None}, Job("a", "BUSY")),
        ({}, Job("", "")),
    ],
)  # fmt: skip
def test_it_reads_a_job_whatever_is_missing(data: dict[str, Any], job: Job) -> None:
    assert job_of(data) == job


@pytest.mark.parametrize(
    ("status", "final"),
    [("COMPLETED", True), ("FAILED", True), ("CANCELLED", True), ("TIMED_OUT", True), ("RUNNING", False), ("?", False)],
)
def test_an_unknown_status_is_not_final(status: str, final: bool) -> None:
    assert Job("a", status).final is final


def test_it_takes_a_type_from_a_worker_s_error_and_no_message() -> None:
    error = f'{{"error_type": "<class \'ValueError\'>", "error_message": "{SECRET}"}}'
    job = job_of({"id": "a", "status": "FAILED", "error": error})
    assert (job.error_type, job.error) == ("ValueError", "")
    assert SECRET not in repr(job)
    assert [job_of({"error": given}).error for given in ("engine", {"a": 1}, SECRET)] == ["engine", "", ""]


def test_it_reads_health_with_anything_missing(client: Client, runpod: LoopbackRunPod) -> None:
    client.submit(numbered)
    health = client.health()
    assert (health.jobs["inQueue"], health.worker("running", "idle"), health.worker("no such state")) == (1, 0, 0)


def test_it_does_not_hang_on_a_server_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = Client(f"http://127.0.0.1:{silent.getsockname()[1]}", "ep", timeout=0.1)
        started = time.monotonic()
        assert refused(client.health).code == "runpod_unreachable"
        assert time.monotonic() - started < 5


@pytest.mark.parametrize("text", ["plain", "año 字 🙂", "half a character: \ud800"])
def test_it_sends_any_text_as_it_is(runpod: LoopbackRunPod, client: Client, text: str) -> None:
    client.submit(lambda _: {"input": {"text": text}})
    endpoint = str(client._http.base_url).rstrip("/").rpartition("/")[2]
    job = runpod.take(endpoint, runpod.worker(endpoint)).json()
    assert job["input"]["text"] == text


def test_it_keeps_the_key_out_of_what_it_shows(client: Client) -> None:
    assert "rpa_loopback" not in repr(client) + repr(vars(client))
    assert httpx.URL("http://x") != client._http.base_url

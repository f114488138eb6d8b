"""The loopback RunPod tells when a job has ended: what, how often, and how that goes wrong."""

import http.server
import json
import threading
from collections.abc import Iterator

import pytest

from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

OK = '{"output": {"ok": true}}'


class Receiver(http.server.ThreadingHTTPServer):
    """Writes down what it gets; answers 500 so often, then 200."""

    failures = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ReceiverTurn)
        self.got: list[dict] = []
        self.url = f"http://127.0.0.1:{self.server_port}/hook"


class ReceiverTurn(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.server.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(500 if len(self.server.got) <= self.server.failures else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def deliveries(runpod: LoopbackRunPod) -> list[int]:
    return [entry["status"] for entry in runpod.control("GET", "webhooks")]


def finished(runpod: LoopbackRunPod, endpoint: str, receiver: Receiver) -> str:
    job = runpod.run(endpoint, 1, webhook=receiver.url)
    worker = runpod.worker(endpoint)
    assert runpod.take(endpoint, worker).json()["id"] == job
    runpod.done(endpoint, worker, job, OK)
    return job


def test_it_delivers_what_status_would_say(runpod, endpoint, receiver) -> None:
    job = finished(runpod, endpoint, receiver)
    eventually(lambda: deliveries(runpod) == [200])
    assert receiver.got == [runpod.status(endpoint, job)]


def test_it_tries_three_times_ten_seconds_apart(runpod, endpoint, receiver) -> None:
    receiver.failures = 9
    finished(runpod, endpoint, receiver)
    for tries in (1, 2, 3):
        eventually(lambda tries=tries: deliveries(runpod) == [500] * tries)
        runpod.advance(10)
    runpod.advance(60)
    assert deliveries(runpod) == [500, 500, 500]


def test_faults_of_webhooks(runpod, endpoint, receiver) -> None:
    runpod.fault("webhook_missing")
    finished(runpod, endpoint, receiver)
    runpod.fault("webhook_duplicate")
    worker = runpod.worker(endpoint, "READY")
    for expected in (2, 3):
        job = runpod.run(endpoint, 1, webhook=receiver.url)
        runpod.take(endpoint, worker)
        if expected == 3:
            runpod.fault("webhook_slow", seconds_late=120)
        runpod.done(endpoint, worker, job, OK)
        if expected == 3:
            runpod.advance(119)
            assert len(receiver.got) == 2
            runpod.advance(1)
        eventually(lambda expected=expected: len(receiver.got) == expected)

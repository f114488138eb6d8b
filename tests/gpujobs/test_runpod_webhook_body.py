"""What a job carries so that RunPod can say when it has ended: an address with our signature, never the key."""

import http.server
import json
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import factories
import pytest
from django.urls import resolve

from gpujobs import backends
from gpujobs.backends import Accepted, BackendError, Order, runpod_hooks
from gpujobs.backends.runpod import RunpodBackend
from gpujobs.backends.runpod_http import RunpodHttp
from gpujobs.breaker import Breaker

KEY = "rpa_planted_key"
SITE = "https://inkcloak.example"
RUN = uuid.uuid4()
REQUEST = factories.request("planted words of a customer", run=str(RUN))
LATER = Order(wait=False)


class Listener(http.server.ThreadingHTTPServer):
    """In RunPod's place: writes down what is handed in; answers 502 so often, then takes it."""

    failures = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ListenerTurn)
        self.got: list[tuple[str, dict[str, Any]]] = []  # (last part of the path, body)
        self.url = f"http://127.0.0.1:{self.server_port}/v2"


class ListenerTurn(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        operation = urlsplit(self.path).path.rpartition("/")[2]
        self.server.got.append((operation, json.loads(body)))
        if len(self.server.got) <= self.server.failures:
            self.send_error(502)
            return
        ended = {"status": "FAILED", "error": "engine"} if operation == "runsync" else {"status": "IN_QUEUE"}
        answer = json.dumps({"id": "job-1-u1", **ended}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def backend(listener: Listener, site: str = SITE) -> RunpodBackend:
    breaker = Breaker("listener")
    breaker.succeeded()
    http_client = RunpodHttp(listener.url, "4m7x", KEY, timeout_seconds=5, sleep=lambda _seconds: None)
    return RunpodBackend(http_client, breaker, webhooks_at=site)


def hand_in(listener: Listener, site: str = SITE) -> dict[str, Any]:
    """The body of one job that nobody waits for."""
    assert isinstance(backend(listener, site).start(REQUEST, LATER), Accepted)
    operation, body = listener.got[-1]
    assert operation == "run"
    return body


def token_of(body: dict[str, Any]) -> str:
    return str(body["webhook"]).rpartition("/")[2]


def test_a_job_carries_the_address_of_its_run(listener: Listener) -> None:
    body = hand_in(listener)
    assert body["webhook"].startswith(f"{SITE}/hooks/runpod/{RUN}.")
    assert runpod_hooks.run_of(token_of(body)) == RUN
    assert body.keys() == {"input", "policy", "webhook"}


def test_the_address_leads_to_the_view(listener: Listener) -> None:
    found = resolve(urlsplit(hand_in(listener)["webhook"]).path)
    assert found.view_name == "detector:runpod_hook"
    assert runpod_hooks.run_of(found.kwargs["token"]) == RUN


def test_a_job_that_somebody_waits_for_carries_it_too(listener: Listener) -> None:
    with pytest.raises(BackendError, match="runpod_engine"):
        backend(listener).start(REQUEST)
    ((operation, body),) = listener.got
    assert operation == "runsync"
    assert runpod_hooks.run_of(token_of(body)) == RUN


def test_a_repeated_hand_over_carries_the_same_address(listener: Listener) -> None:
    listener.failures = 1
    hand_in(listener)
    (_, first), (_, second) = listener.got
    assert first["webhook"] == second["webhook"]
    assert (first["input"]["attempt"], second["input"]["attempt"]) == (1, 2)


def test_no_webhook_is_asked_for_without_an_address(listener: Listener) -> None:
    assert hand_in(listener, site="").keys() == {"input", "policy"}


def test_the_site_below_a_path_is_found(listener: Listener) -> None:
    """A slash too many makes no other address."""
    assert hand_in(listener, f"{SITE}/detector/")["webhook"].startswith(f"{SITE}/detector/hooks/runpod/{RUN}.")


def test_neither_key_nor_text_is_part_of_it(listener: Listener) -> None:
    webhook = hand_in(listener)["webhook"]
    assert KEY not in webhook
    assert "planted" not in webhook


def test_each_run_has_an_address_of_its_own(listener: Listener) -> None:
    first = hand_in(listener)["webhook"]
    other = replace(REQUEST, run_id=str(uuid.uuid4()))
    backend(listener).start(other, LATER)
    second = listener.got[-1][1]["webhook"]
    assert runpod_hooks.run_of(second.rpartition("/")[2]) == uuid.UUID(other.run_id)
    assert first != second


def test_the_setting_reaches_the_jobs(listener: Listener, settings: Any) -> None:
    settings.RUNPOD_BASE_URL, settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = listener.url, "4m7x", KEY
    settings.RUNPOD_WEBHOOK_URL = SITE
    Breaker("runpod").succeeded()
    backends.get("runpod").start(REQUEST, LATER)
    assert runpod_hooks.run_of(token_of(listener.got[-1][1])) == RUN

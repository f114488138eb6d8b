"""The client of RunPod's management: what it reads, what it tries again, and what it never says. Loopback RunPod."""

from collections.abc import Iterator
from typing import Any

import pytest

from gpujobs.providers.runpod_rest import RateWindow, RunpodError, RunpodRest, windows_of
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]

NANO = 1_000_000_000
BODY = {
    "name": "inkcloak",
    "type": "QUEUE",
    "image": "inkcloak/pod:1",
    "gpu": {"pools": ["AMPERE_16"]},
    "scaling": {"type": "QUEUE_DELAY", "queueDelay": 4},
}


class Client:
    """The client, and the pauses it made: they pass on the loopback RunPod's clock."""

    def __init__(self, account: LoopbackRunPod, **changes: Any) -> None:
        self.pauses: list[float] = []
        self.account = account
        given = {"rest": f"{account.url}/v2", "graphql": f"{account.url}/graphql", "key": account.key} | changes
        self.rest = RunpodRest(given["rest"], given["graphql"], given["key"], timeout_seconds=3, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.account.advance(seconds)


@pytest.fixture
def client(runpod: LoopbackRunPod) -> Iterator[Client]:
    made = Client(runpod)
    yield made
    made.rest.close()


def refused(client: Client, *call: Any) -> RunpodError:
    name, *values = call
    with pytest.raises(RunpodError) as caught:
        getattr(client.rest, name)(*values)
    assert client.account.key not in str(caught.value)
    return caught.value


def test_it_makes_changes_and_finds_an_endpoint(client: Client) -> None:
    made = client.rest.create_endpoint(BODY)
    assert (made.name, made.fields["workers"]) == ("inkcloak", {"min": 0, "max": 3, "idleTimeout": 10})
    changed = client.rest.change_endpoint(made.id, {"workers": {"max": 1}})
    assert changed.fields["workers"]["max"] == 1
    assert client.rest.endpoint(made.id) == changed
    assert client.rest.endpoints() == (changed,)


def test_it_makes_changes_and_finds_a_template(client: Client) -> None:
    made = client.rest.create_template({"name": "t", "image": "x:1", "serverless": True})
    client.rest.change_template(made.id, {"image": "x:2"})
    assert [(each.id, each.fields["image"]) for each in client.rest.templates()] == [(made.id, "x:2")]


def test_it_tells_workers_by_state(client: Client, runpod: LoopbackRunPod) -> None:
    endpoint = runpod.played(workers={"min": 1, "max": 2})
    runpod.worker(endpoint)
    (worker,) = client.rest.workers(endpoint)
    assert (worker.status, worker.stale, worker.gpu_type) == ("INITIALIZING", False, "NVIDIA RTX A4000")
    runpod.fault("throttled")
    throttled = runpod.played(workers={"min": 1, "max": 1})
    (worker,) = client.rest.workers(throttled)
    assert (worker.status, worker.uptime_seconds, worker.gpu_type) == ("THROTTLED", None, "")


def test_it_reads_the_balance_in_nano_dollars(client: Client, runpod: LoopbackRunPod) -> None:
    runpod.control("POST", "account", {"balance_usd": 12.345678901})
    found = client.rest.balance()
    assert abs(found.balance_nanousd - 12_345_678_901) <= 1  # the wire has floats
    assert (found.spend_nanousd_per_hour, found.spend_limit_nanousd) == (0, 80 * NANO)


@pytest.mark.parametrize(
    ("fault", "code", "status"), [("unauthorized", "unauthorized", 401), ("forbidden", "forbidden", 403)]
)
def test_it_does_not_insist_where_it_is_refused(client: Client, runpod: LoopbackRunPod, fault, code, status) -> None:
    runpod.fault(fault)
    found = refused(client, "endpoints")
    assert (found.code, found.status, found.permanent) == (code, status, True)
    assert (runpod.count("rest"), client.pauses) == (1, [])


def test_it_tells_a_wrong_key_by_every_door(runpod: LoopbackRunPod) -> None:
    client = Client(runpod, key="rpa_wrong")
    assert {refused(client, name).code for name in ("endpoints", "templates", "balance")} == {"unauthorized"}


def test_it_passes_on_what_is_wrong_with_a_field(client: Client) -> None:
    found = refused(client, "create_endpoint", BODY | {"timeout": "soon"})
    assert (found.code, found.permanent, found.doubtful) == ("invalid", True, False)
    assert "timeout: wrong type" in found.detail
    assert refused(client, "endpoint", "nowhere").code == "missing"
    assert refused(client, "create_endpoint", BODY | {"workers": {"min": 4}}).code == "refused"


@pytest.mark.parametrize("fault", ["server_error", "bad_gateway", "dropped_answer", "rate_limited"])
def test_it_reads_again_after_trouble(client: Client, runpod: LoopbackRunPod, fault: str) -> None:
    runpod.fault(fault, times=2)
    assert client.rest.endpoints() == ()
    assert (runpod.count("rest"), len(client.pauses)) == (3, 2)


def test_it_gives_up_at_last(client: Client, runpod: LoopbackRunPod) -> None:
    runpod.fault("bad_gateway", times=None)
    found = refused(client, "endpoints")
    assert (found.code, found.permanent, runpod.count("rest"), len(client.pauses)) == ("unavailable", False, 4, 3)


@pytest.mark.parametrize(
    ("fault", "values"), [("server_error", {"after": True}), ("bad_gateway", {"after": True}), ("dropped_answer", {})]
)
def test_it_creates_nothing_twice(client: Client, runpod: LoopbackRunPod, fault: str, values: dict) -> None:
    runpod.fault(fault, **values)
    found = refused(client, "create_endpoint", BODY)
    assert (found.doubtful, found.permanent) == (True, False)
    assert [each.name for each in client.rest.endpoints()] == ["inkcloak"]


def test_it_creates_again_what_surely_was_not_created(client: Client, runpod: LoopbackRunPod) -> None:
    runpod.fault("rate_limited", retry_after=7)
    client.rest.create_endpoint(BODY)
    assert client.pauses == [7.0]
    assert len(client.rest.endpoints()) == 1


def test_it_does_not_wait_an_hour(client: Client, runpod: LoopbackRunPod) -> None:
    runpod.fault("rate_limited", retry_after=3600)
    assert refused(client, "endpoints").code == "busy"
    assert client.pauses == []


def test_it_waits_for_an_empty_window_before_it_is_refused(client: Client, runpod: LoopbackRunPod) -> None:
    runpod.control("POST", "account", {"rest_per_minute": 2})
    for _ in range(3):
        client.rest.endpoints()
    assert len(client.pauses) == 1
    assert 1 < client.pauses[0] <= 61
    assert {entry["status"] for entry in runpod.control("GET", "requests?op=rest")} == {200}


def test_it_says_when_nobody_is_there(runpod: LoopbackRunPod) -> None:
    client = Client(runpod, rest="http://127.0.0.1:1/v2")
    found = refused(client, "create_endpoint", BODY)
    assert (found.code, found.doubtful, len(client.pauses)) == ("unreachable", False, 3)


def test_it_takes_no_page_of_a_proxy_for_an_answer(runpod: LoopbackRunPod) -> None:
    client = Client(runpod, rest=f"{runpod.url}/_control")
    runpod.image("*", ["true"])
    assert refused(client, "_rest", "GET", "/faults").code == "strange_answer"


@pytest.mark.parametrize(
    ("header", "windows"),
    [
        ("", ()),
        ("nonsense", ()),
        ('"minute";r=59;t=60', (RateWindow("minute", 59, 60),)),
        ('"a";r=0;t=1, "b";r=2;t=3', (RateWindow("a", 0, 1), RateWindow("b", 2, 3))),
        ("default; r=5; t=9", (RateWindow("default", 5, 9),)),
    ],
)
def test_it_reads_rate_windows(header: str, windows: tuple[RateWindow, ...]) -> None:
    assert windows_of(header) == windows

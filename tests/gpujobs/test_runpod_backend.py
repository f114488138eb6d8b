"""A batch at RunPod, whatever happens there. The server is the loopback RunPod; its workers are played by the test."""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpujobs import backends
from gpujobs.backends import Accepted, Answer, BackendError, Order, answers, runpod
from gpujobs.backends.runpod import Limits, RunpodBackend, policy_of, why_queued
from gpujobs.backends.runpod_http import Health, RunpodHttp, job_of
from gpujobs.breaker import FAILURES_IN_A_ROW, Breaker
from gpujobs.pod.contract import ContractError, ScoreRequest, ScoreResponse
from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.serve import LoopbackRunPod

SECRET = "planted-secret-words that nobody may find in a log"
REQUEST = factories.request(SECRET, "A second text.")
LATER = Order(wait=False)


class Played:
    """One endpoint with one worker, and a backend that uses it and sleeps as little as it can."""

    def __init__(self, account: LoopbackRunPod, **settings: Any) -> None:
        self.account = account
        at_once = {"type": "REQUEST_COUNT", "requestCount": 1}
        self.id = account.played(scaling=at_once, **settings)
        self.breaker = Breaker("played")
        self.breaker.succeeded()
        self.pauses: list[float] = []
        http = RunpodHttp(f"{account.url}/v2", self.id, account.key, timeout_seconds=5, sleep=self.pauses.append)
        self.backend = RunpodBackend(http, self.breaker, Limits(60, 30), sleep=self._nap)
        self._worker, self._lock = "", threading.Lock()

    def _nap(self, seconds: float) -> None:
        self.pauses.append(seconds)
        threading.Event().wait(0.01)

    def take(self) -> dict[str, Any]:
        """The next job, as the worker gets it."""
        with self._lock:  # once it took a job it is no new worker any more
            self._worker = self._worker or self.account.worker(self.id)
        answer = eventually(lambda: self._taken())
        assert answer is not None
        return answer

    def _taken(self) -> dict[str, Any] | None:
        answer = self.account.take(self.id, self._worker)
        return dict(answer.json()) if answer.status_code == 200 else None

    def done(self, job: dict[str, Any], body: str) -> None:
        assert self.account.done(self.id, self._worker, job["id"], body).status_code == 200

    @contextmanager
    def working(self, output: Callable[[ScoreRequest], Any] | None = None, **body: Any) -> Iterator[None]:
        """The worker answers one job beside the block: with scores, `output` of its request, or `body` as it is."""

        def work() -> None:
            job = self.take()
            asked = ScoreRequest.from_json(job["input"])
            self.done(job, json.dumps(body or {"output": (output or scored)(asked)}))

        thread = threading.Thread(target=work)
        thread.start()
        yield
        thread.join(20)
        assert not thread.is_alive()

    def handed_in(self, request: ScoreRequest = REQUEST) -> str:
        accepted = self.backend.start(request, LATER)
        assert isinstance(accepted, Accepted)
        return accepted.external_id

    def job(self) -> dict[str, Any]:
        """The only job there ever was, from inside."""
        (found,) = self.account.control("GET", "jobs")
        return dict(found)


def scored(request: ScoreRequest) -> dict[str, Any]:
    return factories.response(request, [factories.scores(text, 0.75) for text in request.texts]).to_json()


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackRunPod]:
    with LoopbackRunPod(tmp_path_factory.mktemp("runpod")) as server:
        server.control("POST", "account", {"worker_quota": 200})  # each test has an endpoint of its own
        yield server


@pytest.fixture
def played(account: LoopbackRunPod) -> Iterator[Played]:
    yield Played(account)
    account.clear_faults()


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """/runsync answers after its shortest wait, so that the rest is polling."""
    monkeypatch.setattr(runpod, "SYNC_WAIT_SECONDS", 1.0)


def refused(played: Played, request: ScoreRequest = REQUEST, order: Order = backends.AS_USUAL) -> BackendError:
    with pytest.raises(BackendError) as caught:
        played.backend.start(request, order)
    assert "planted" not in str(caught.value.__context__) + repr(caught.value)
    return caught.value


# --- When all is well ---------------------------------------------------------------------------------------


def test_it_waits_for_an_answer_in_one_request(played: Played) -> None:
    with played.working():
        answer = played.backend.start(REQUEST)
    assert isinstance(answer, Answer)
    assert answer.response.to_json() == scored(REQUEST)
    assert answer.usage is not None
    assert answer.usage.execution_ms is not None
    assert answer.usage.delay_ms is not None
    assert (answer.usage.worker_id, answer.usage.submissions) == (played._worker, 1)
    assert played.pauses == []


def test_it_looks_again_when_the_wait_was_too_short(played: Played, no_patience: None) -> None:
    def slowly(request: ScoreRequest) -> dict[str, Any]:
        eventually(lambda: len(played.pauses) > 2)
        return scored(request)

    played.account.fault("status_named", where={"endpoint": played.id}, status="BREWING")
    with played.working(slowly):
        answer = played.backend.start(REQUEST)
    assert isinstance(answer, Answer)
    assert played.pauses[0] < 0.7


def test_it_hands_in_and_asks_later(played: Played) -> None:
    job_id = played.handed_in()
    assert played.backend.poll(job_id) is None
    job = played.take()
    assert played.backend.poll(job_id) is None
    played.done(job, json.dumps({"output": scored(REQUEST)}))
    answer = played.backend.poll(job_id)
    assert answer is not None
    assert answer.response.to_json() == scored(REQUEST)
    assert played.backend.poll(job_id) == answer  # asking twice is harmless


def test_it_is_ready_without_waking_a_machine(played: Played) -> None:
    played.backend.warm("any version")
    assert played.account.workers(played.id) == []


def test_the_site_knows_it_by_its_name(played: Played, settings: Any) -> None:
    settings.RUNPOD_BASE_URL = f"{played.account.url}/v2"
    settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = played.id, played.account.key
    found = backends.get("runpod")
    found.warm("any version")
    assert (found.name, found.tier) == ("runpod", "gpu")


# --- Deadlines ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "execution", "ttl_ms", "execution_ms"),
    [
        (300, 60, 330_000, 60_000),
        (20, 60, 50_000, 20_000),
        (1, 60, 31_000, 5_000),
        (9e6, 9e6, 604_800_000, 604_800_000),
    ],
)
def test_its_timers_are_just_above_ours(seconds: float, execution: float, ttl_ms: int, execution_ms: int) -> None:
    policy = policy_of(seconds, execution, wake=True)
    assert policy == {"ttl": ttl_ms, "executionTimeout": execution_ms, "lowPriority": False}
    assert policy_of(seconds, execution, wake=False)["lowPriority"] is True


def test_it_cancels_what_it_gives_up(played: Played) -> None:
    error = refused(played, order=Order(seconds=0.5))
    assert (error.code, error.permanent) == ("runpod_cold_start", False)
    jobs = [job for job in played.account.control("GET", "jobs") if job["endpoint"] == played.id]
    assert [job["status"] for job in jobs] == ["CANCELLED"]


def test_it_says_why_nothing_came(account: LoopbackRunPod) -> None:
    error = refused(Played(account, workers={"min": 0, "max": 0}), order=Order(seconds=0.5))
    assert error.code == "runpod_no_worker"


@pytest.mark.parametrize(
    ("workers", "code"),
    [({}, "runpod_no_worker"), ({"unhealthy": 1}, "runpod_workers_unhealthy"), ({"throttled": 1}, "runpod_throttled"),
     ({"initializing": 1}, "runpod_cold_start"), ({"running": 1, "unhealthy": 1}, "runpod_deadline")],
)  # fmt: skip
def test_it_reads_the_reason_from_the_workers(workers: dict[str, int], code: str) -> None:
    assert why_queued(Health({}, workers)) == code


def test_it_knows_what_a_hung_batch_cost(played: Played, no_patience: None) -> None:
    thread = threading.Thread(target=played.take)
    thread.start()
    error = refused(played, order=Order(seconds=1.5))
    thread.join(20)
    assert error.code == "runpod_deadline"
    assert error.usage is not None
    assert error.usage.worker_id == played._worker
    assert error.usage.execution_ms is not None


# --- Submits and answers in doubt ---------------------------------------------------------------------------


def test_the_first_valid_answer_wins_when_a_submit_was_in_doubt(played: Played) -> None:
    played.account.fault("server_error", where={"op": "runsync", "endpoint": played.id}, after=True)
    with played.working(), played.working():  # both submissions are worked on
        answer = played.backend.start(REQUEST)
    assert isinstance(answer, Answer)
    assert answer.response.attempt == REQUEST.attempt
    assert answer.usage is not None
    assert answer.usage.submissions == 2


def test_it_tells_which_attempt_runpod_has(played: Played) -> None:
    played.account.fault("bad_gateway", where={"op": "run", "endpoint": played.id}, after=True)
    accepted = played.backend.start(REQUEST, LATER)
    assert isinstance(accepted, Accepted)
    assert accepted.attempt == REQUEST.attempt + 1
    inputs = {job["id"]: job["input"]["attempt"] for job in (played.take(), played.take())}
    assert sorted(inputs.values()) == [1, 2]
    assert inputs[accepted.external_id] == accepted.attempt


@pytest.mark.parametrize(("attempt", "ours"), [(0, False), (1, True), (2, True), (3, False)])
def test_an_answer_to_either_submission_settles_the_batch(attempt: int, ours: bool) -> None:
    late = replace(ScoreResponse.from_json(scored(REQUEST)), attempt=attempt)
    if ours:
        assert answers.settle(REQUEST, late) == ScoreResponse.from_json(scored(REQUEST))
    else:
        with pytest.raises(ContractError, match="another run"):
            answers.settle(REQUEST, late)


def test_a_second_execution_changes_nothing(played: Played) -> None:
    played.account.fault("run_twice", where={"endpoint": played.id})
    job_id = played.handed_in()
    first, second = played.take(), played.take()
    played.done(first, json.dumps({"output": scored(REQUEST)}))
    answer = played.backend.poll(job_id)
    played.done(second, json.dumps({"error": "engine"}))
    assert played.backend.poll(job_id) == answer


def test_it_waits_on_while_runpod_cannot_be_asked(played: Played) -> None:
    job_id = played.handed_in()
    played.account.fault("server_error", where={"op": "status", "endpoint": played.id}, times=None)
    assert played.backend.poll(job_id) is None


def test_it_gives_up_a_job_that_runpod_lost(played: Played) -> None:
    job_id = played.handed_in()
    played.account.fault("early_404", where={"endpoint": played.id}, forget=True)
    with pytest.raises(BackendError, match="runpod_job_lost") as caught:
        played.backend.poll(job_id)
    assert caught.value.permanent is False


def test_it_gives_up_a_result_that_was_dropped(played: Played, account: LoopbackRunPod) -> None:
    job_id = played.handed_in()
    played.account.fault("done_dropped", where={"endpoint": played.id})
    played.done(played.take(), json.dumps({"output": scored(REQUEST)}))
    assert played.backend.poll(job_id) is None
    account.advance(31)  # executionTimeout
    with pytest.raises(BackendError, match="runpod_timed_out") as caught:
        played.backend.poll(job_id)
    assert caught.value.usage is not None
    assert caught.value.usage.execution_ms is not None


def test_it_never_raises_when_it_cancels(played: Played) -> None:
    assert played.backend.cancel("no such job") is None
    job_id = played.handed_in()
    assert played.backend.cancel(job_id) is not None


# --- Bad answers --------------------------------------------------------------------------------------------


def bent(**changes: Any) -> Callable[[ScoreRequest], dict[str, Any]]:
    return lambda request: scored(request) | changes


def without_last_window(request: ScoreRequest) -> dict[str, Any]:
    output = scored(request)
    output["texts"][1]["windows"][-1]["end"] -= 1
    return output


def too_sure(request: ScoreRequest) -> dict[str, Any]:
    output = scored(request)
    output["texts"][0]["windows"][0]["probability"] = 1.01
    return output


def neither(request: ScoreRequest) -> dict[str, Any]:
    output = scored(request)
    output["texts"][0]["windows"] = []
    return output


@pytest.mark.parametrize(
    "output",
    [bent(texts=[]), bent(run_id="another"), bent(attempt=7), bent(contract_version=99), bent(execution_ms=-1),
     lambda _: None, lambda _: [SECRET], lambda _: {"text": SECRET}, without_last_window, too_sure, neither],
)  # fmt: skip
def test_it_takes_no_bad_answer(played: Played, output: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), played.working(output):
        error = refused(played)
    assert (error.code, error.permanent) == ("runpod_bad_answer", False)
    assert error.usage is not None
    assert "planted" not in caplog.text


def test_it_takes_no_number_that_is_none(played: Played) -> None:
    raw = json.dumps(scored(REQUEST)).replace("0.75", "NaN")
    played.account.fault("output_replaced", where={"endpoint": played.id}, raw=raw)
    with played.working():
        assert refused(played).code == "runpod_bad_answer"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
PATHS = st.sampled_from([("texts",), ("texts", 0), ("texts", 0, "windows"), ("texts", 0, "windows", 0), ("attempt",),
                         ("texts", 0, "tokens"), ("texts", 0, "windows", 0, "end"), ("execution_ms",), ()])  # fmt: skip


@given(path=PATHS, strange=JSON)
def test_it_survives_any_output(path: tuple[str | int, ...], strange: Any) -> None:
    output: Any = json.loads(json.dumps({"output": scored(REQUEST)}))
    *way, last = ("output", *path)
    inner = output
    for step in way:
        inner = inner[step]
    inner[last] = strange
    try:
        runpod._answer(job_of({"id": "a", "status": "COMPLETED", **output}), 1)
        code = ""
    except BackendError as error:
        code = error.code
    assert code in ("", "runpod_bad_answer")


def test_it_takes_no_answer_of_another_model(played: Played) -> None:
    with played.working(bent(model_version="an-older-one")):
        error = refused(played)
    assert (error.code, error.permanent) == ("runpod_other_model", False)


@pytest.mark.parametrize(
    ("error", "code", "permanent"),
    [(json.dumps({"error_type": "<class 'ValueError'>", "error_traceback": SECRET}), "runpod_failed", False),
     (SECRET, "runpod_failed", False), ("contract", "runpod_contract", True), ("engine", "runpod_engine", False)],
)  # fmt: skip
def test_it_ends_with_a_code_when_the_worker_fails(
    played: Played, error: str, code: str, permanent: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), played.working(error=error):
        found = refused(played)
    assert (found.code, found.permanent) == (code, permanent)
    assert found.usage is not None
    assert "planted" not in caplog.text


# --- The breaker --------------------------------------------------------------------------------------------


def test_a_refused_key_stops_all_asking(played: Played) -> None:
    played.account.fault("unauthorized", where={"op": "runsync", "endpoint": played.id})
    assert refused(played).code == "runpod_unauthorized"
    asked = played.account.count("runsync")
    error = refused(played)
    assert (error.code, error.permanent, played.account.count("runsync")) == ("runpod_breaker_open", False, asked)


def test_failures_in_a_row_stop_all_asking_and_an_answer_starts_it_again(played: Played) -> None:
    for _ in range(FAILURES_IN_A_ROW - 1):
        with played.working(error="engine"):
            refused(played)
    with played.working():
        played.backend.start(REQUEST)
    for _ in range(FAILURES_IN_A_ROW):
        with played.working(error="engine"):
            refused(played)
    assert refused(played).code == "runpod_breaker_open"


def test_a_request_that_is_at_fault_itself_stops_nobody(played: Played) -> None:
    for _ in range(FAILURES_IN_A_ROW):
        with played.working(error="contract"):
            refused(played, replace(REQUEST, run_id="r"))
    assert played.breaker.read().failures == 0

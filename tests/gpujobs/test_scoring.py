"""A batch at a backend: its answer is kept on the run, and whatever goes wrong ends the run by name."""

import logging
from dataclasses import replace
from datetime import timedelta

import factories
import pytest
from factories import NOW, ScriptedBackend

from gpujobs import backends, runs, scoring
from gpujobs.backends import Accepted, Answer, BackendError, Usage
from gpujobs.models import GpuRun, ModelVersion
from gpujobs.pod.contract import ContractError, ScoreRequest

SECRET = "planted-secret-words"


@pytest.fixture
def run(champion: ModelVersion) -> GpuRun:
    return runs.open_run(backend="local", model_version=champion, texts=1, now=NOW)


def score(run: GpuRun, *script) -> ScoreRequest:
    request = factories.request(SECRET, run=str(run.pk))
    scoring.start(run, request, ScriptedBackend(0.75, script))
    run.refresh_from_db()
    return request


def test_it_keeps_the_scores_and_no_text(run: GpuRun) -> None:
    request = score(run)
    assert (run.status, run.execution_ms, run.tokens) == ("succeeded", 7, len(SECRET) // 4)
    kept = scoring.response_of(run)
    assert kept.texts == (factories.scores(request.texts[0], 0.75),)
    assert SECRET not in str(run.result)


def test_it_waits_for_a_backend_that_only_accepted(run: GpuRun) -> None:
    score(run, lambda _request: Accepted("job-1"))
    assert (run.status, run.result) == ("running", None)


@pytest.mark.parametrize("permanent", [True, False])
def test_it_ends_with_the_backends_code(run: GpuRun, permanent: bool) -> None:
    score(run, BackendError("gpu_gone", permanent=permanent))
    assert (run.status, run.failure_code) == ("failed", "gpu_gone")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda answer: replace(answer, run_id="other"),
        lambda answer: replace(answer, model_version="other"),
        lambda answer: replace(answer, texts=()),
        lambda answer: replace(answer, texts=(replace(answer.texts[0], probability=float("nan")),)),
    ],
)
def test_it_takes_no_bad_answer(run: GpuRun, spoil, caplog: pytest.LogCaptureFixture) -> None:
    good = ScriptedBackend().answer
    with caplog.at_level(logging.DEBUG):
        score(run, lambda request: Answer(spoil(good(request).response)))
    assert (run.status, run.failure_code, run.result) == ("failed", "bad_answer", None)
    assert SECRET not in caplog.text


def test_it_drops_the_answer_of_a_run_that_was_taken_back(run: GpuRun) -> None:
    other = GpuRun.objects.get(pk=run.pk)

    def slow(request: ScoreRequest) -> Answer:
        runs.fail(other, "lease_expired", now=NOW)
        return ScriptedBackend().answer(request)

    score(run, slow)
    assert (run.status, run.result) == ("failed", None)


def test_it_reads_no_answer_of_another_contract(run: GpuRun) -> None:
    score(run)
    run.result["contract_version"] = 99
    with pytest.raises(ContractError, match="contract version"):
        scoring.response_of(run)


def test_it_knows_the_local_backend_and_no_other() -> None:
    local = backends.get("local")
    assert (local.name, local.tier) == ("local", "cpu")
    with pytest.raises(LookupError, match="unknown backend 'cloud'"):
        backends.get("cloud")


def test_the_local_backend_says_when_the_model_is_not_here(settings, tmp_path) -> None:
    settings.MODEL_DIR = tmp_path
    for ask in (
        lambda: backends.get("local").start(factories.request("A text.", version="nowhere")),
        lambda: backends.get("local").warm("nowhere"),
    ):
        with pytest.raises(BackendError) as refused:
            ask()
        assert (refused.value.code, refused.value.permanent) == ("local_lookuperror", True)


# --- A backend that works by itself -------------------------------------------------------------------------


@pytest.fixture
def accepted(run: GpuRun) -> GpuRun:
    score(run, lambda _request: Accepted("job-1", attempt=2))
    return run


def look(run: GpuRun, *told, now=NOW) -> ScriptedBackend:
    backend = ScriptedBackend()
    backend.polls.extend(told)
    scoring.look(run, backend, now=now)
    run.refresh_from_db()
    return backend


def answer(run: GpuRun, **changes) -> Answer:
    good = ScriptedBackend(0.75).answer(factories.request(SECRET, run=str(run.pk))).response
    usage = Usage(delay_ms=800, execution_ms=90, worker_id="w7", submissions=2)
    return Answer(replace(good, **{"attempt": 2} | changes), usage)


def test_it_keeps_where_the_batch_is(accepted: GpuRun) -> None:
    assert (accepted.status, accepted.external_id, accepted.attempt) == ("running", "job-1", 2)
    assert accepted.created_at < accepted.next_look_at < accepted.give_up_at < accepted.lease_expires_at


def test_it_keeps_a_later_answer_and_what_the_machine_did(accepted: GpuRun) -> None:
    look(accepted, answer(accepted))
    assert accepted.status == "succeeded"
    assert (accepted.delay_ms, accepted.execution_ms) == (800, 90)
    assert (accepted.worker_id, accepted.handed_in) == ("w7", 2)


@pytest.mark.parametrize("changes", [{"run_id": "other"}, {"model_version": "other"}, {"attempt": 3}, {"attempt": 0}])
def test_it_takes_no_answer_to_something_else(accepted: GpuRun, changes: dict) -> None:
    look(accepted, answer(accepted, **changes))
    assert (accepted.status, accepted.failure_code, accepted.result) == ("failed", "bad_answer", None)


def test_it_goes_on_waiting_until_its_time_is_over(accepted: GpuRun) -> None:
    early = look(accepted, None, now=accepted.give_up_at - timedelta(seconds=1))
    assert (accepted.status, early.cancelled) == ("running", [])
    late = look(accepted, None, now=accepted.give_up_at)
    assert (accepted.status, accepted.failure_code) == ("failed", "gave_up_waiting")
    assert late.cancelled == ["job-1"]
    assert (accepted.delay_ms, accepted.execution_ms, accepted.worker_id) == (40, 60, "w1")  # it is paid all the same


def test_it_keeps_what_a_failure_cost(accepted: GpuRun) -> None:
    usage = Usage(delay_ms=5, execution_ms=None, worker_id="w2")
    look(accepted, BackendError("runpod_failed", permanent=False, usage=usage))
    assert (accepted.status, accepted.failure_code) == ("failed", "runpod_failed")
    assert (accepted.delay_ms, accepted.execution_ms, accepted.worker_id) == (5, None, "w2")

"""The real handler in the unmodified SDK's worker, with the shipped model, behind the loopback RunPod."""

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from gpujobs.backends import Accepted, Answer, BackendError, Order
from gpujobs.backends.runpod import Limits, RunpodBackend
from gpujobs.backends.runpod_http import RunpodHttp
from gpujobs.breaker import Breaker
from gpujobs.pod import handler
from gpujobs.pod.contract import ScoreRequest, TextIn
from gpujobs.pod.score import Scorer
from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.serve import LoopbackRunPod

SECRET = "Planted words that no log may show"
IMAGE = "inkcloak/pod:test"
SCALING = {"type": "REQUEST_COUNT", "requestCount": 1}
LATER = Order(wait=False)


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer.load(handler.SHIPPED, threads=1)


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackRunPod]:
    with LoopbackRunPod(tmp_path_factory.mktemp("runpod")) as server:
        server.image(IMAGE, [sys.executable, "-m", "gpujobs.pod.handler"], {"INKCLOAK_ENGINE_THREADS": "1"})
        yield server


@pytest.fixture(scope="module")
def warm(account: LoopbackRunPod) -> str:
    """An endpoint whose one worker stays."""
    return account.endpoint(image=IMAGE, workers={"min": 1, "max": 1}, scaling=SCALING)


def backend_of(account: LoopbackRunPod, endpoint: str) -> RunpodBackend:
    breaker = Breaker("real-worker")
    breaker.succeeded()
    return RunpodBackend(RunpodHttp(f"{account.url}/v2", endpoint, account.key), breaker, Limits(60, 30))


def request(scorer: Scorer, *texts: str) -> ScoreRequest:
    return ScoreRequest("run-1", 1, scorer.model_version, tuple(TextIn(str(n), t, "en") for n, t in enumerate(texts)))


def logs(account: LoopbackRunPod) -> str:
    return "".join(path.read_text() for path in (Path(account._data) / "logs").iterdir())


def test_it_scores_as_the_same_model_here(account: LoopbackRunPod, warm: str, scorer: Scorer) -> None:
    texts = (f"{SECRET}, and then some more of them follow. {handler.PROBE}", handler.PROBE * 6, "Short.", " ")
    asked = request(scorer, *texts)
    answer = backend_of(account, warm).start(asked)
    assert isinstance(answer, Answer)
    for one, other in zip(answer.response.texts, scorer.score(asked).texts, strict=True):
        assert (one.id, one.error, one.tokens) == (other.id, other.error, other.tokens)
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert [w.end for w in one.windows] == [w.end for w in other.windows]
    assert answer.usage is not None
    assert answer.usage.worker_id == account.workers(warm)[0]["id"]
    assert "warm: model version" in logs(account)
    assert "Planted" not in logs(account)


def test_it_answers_many_jobs_at_once(account: LoopbackRunPod, warm: str, scorer: Scorer) -> None:
    backend = backend_of(account, warm)
    asked = [replace(request(scorer, f"{handler.PROBE} {n}"), run_id=f"run-{n}") for n in range(12)]
    with ThreadPoolExecutor(12) as pool:
        found = [each for each in pool.map(backend.start, asked) if isinstance(each, Answer)]
    assert [each.response.run_id for each in found] == [each.run_id for each in asked]
    assert {each.usage.worker_id for each in found if each.usage} == {account.workers(warm)[0]["id"]}


def test_it_names_its_model_to_who_wants_another(account: LoopbackRunPod, warm: str, scorer: Scorer) -> None:
    with pytest.raises(BackendError, match="runpod_other_model"):
        backend_of(account, warm).start(replace(request(scorer, handler.PROBE), model_version="another"))


def test_it_refuses_another_contract(account: LoopbackRunPod, warm: str, scorer: Scorer) -> None:
    given = request(scorer, SECRET).to_json() | {"contract_version": 99}
    seen = account.final(warm, account.run(warm, given))
    assert (seen["status"], seen["error"]) == ("FAILED", "contract")
    assert "Planted" not in json.dumps(seen) + logs(account)


def test_it_survives_a_worker_that_is_killed_at_work(account: LoopbackRunPod, scorer: Scorer) -> None:
    endpoint = account.endpoint(image=IMAGE, workers={"min": 0, "max": 1}, scaling=SCALING)
    account.fault("worker_crash", where={"endpoint": endpoint})
    backend = backend_of(account, endpoint)
    asked = request(scorer, *[handler.PROBE * 3] * 30)
    accepted = backend.start(asked, LATER)
    assert isinstance(accepted, Accepted)
    answer = eventually(lambda: backend.poll(accepted.external_id))
    assert answer is not None
    assert len(answer.response.texts) == 30
    (job,) = [job for job in account.control("GET", "jobs") if job["endpoint"] == endpoint]
    assert len(set(job["attempts"])) == 2


def test_a_changed_model_never_takes_a_job(account: LoopbackRunPod, scorer: Scorer, tmp_path: Path) -> None:
    for file in handler.SHIPPED.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer.json").write_text("{}")
    workers = {"min": 0, "max": 1}
    endpoint = account.endpoint(
        image=IMAGE, workers=workers, scaling=SCALING, env={"INKCLOAK_MODEL": str(tmp_path)},
        habits={"unhealthy_seconds": 3600},
    )  # fmt: skip
    job = account.run(endpoint, request(scorer, SECRET).to_json())
    failed = eventually(lambda: [each["failed_as"] for each in account.workers(endpoint) if each["failed_as"]])
    assert failed == ["fitness check the_model_scores failed"]
    assert account.status(endpoint, job)["status"] == "IN_QUEUE"

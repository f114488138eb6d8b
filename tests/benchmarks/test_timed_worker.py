"""The benchmark's worker is the real handler with waits of the measured times for its forward pass."""

import asyncio
import time
from typing import Any

import pytest

from benchmarks import timed_worker
from benchmarks.prose import texts
from gpujobs.backends import answers
from gpujobs.pod import handler
from gpujobs.pod.contract import ScoreRequest, ScoreResponse, TextIn


@pytest.fixture
def model() -> timed_worker.TimedModel:
    return timed_worker.TimedModel(handler.SHIPPED)


def job(version: str, count: int) -> ScoreRequest:
    some = texts(count, name="a test")
    return ScoreRequest("run", 1, version, tuple(TextIn(f"t{n}", text, "en") for n, text in enumerate(some)))


async def answered(model: timed_worker.TimedModel, *requests: ScoreRequest) -> list[dict[str, Any]]:
    worker = handler.Worker(model, timed_worker.LIMITS)
    return await asyncio.gather(*(worker.handle({"id": "j", "input": request.to_json()}) for request in requests))


def test_jobs_share_passes_of_eight_and_take_their_time(model: timed_worker.TimedModel) -> None:
    requests = [job(model.model_version, count) for count in (7, 10)]
    began = time.monotonic()
    found = asyncio.run(answered(model, *requests))
    taken = time.monotonic() - began
    assert taken >= 2 * timed_worker.TOGETHER_SECONDS + timed_worker.ALONE_SECONDS
    assert taken < 1
    for request, answer in zip(requests, found, strict=True):
        answers.check(request, ScoreResponse.from_json(answer))


def test_more_than_eight_at_once_is_a_mistake(model: timed_worker.TimedModel) -> None:
    with pytest.raises(ValueError, match="9 texts"):
        model.score(job(model.model_version, 9))

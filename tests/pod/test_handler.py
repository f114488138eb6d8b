"""One job in, one answer out: the contract kept, errors inside, nothing of a text in errors or logs."""

import asyncio
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpujobs.pod import handler, manifest
from gpujobs.pod.contract import CONTRACT_VERSION, ScoreRequest, ScoreResponse, TextIn, TextOut, WindowScore, match
from gpujobs.pod.handler import Worker

SECRET = "planted-secret-words"


class Numbers:
    """A model that scores a text with its length; `spoil` changes what it answers, or raises."""

    model, model_version = "numbers", "v1"
    manifest = {"languages": ["en"], "calibration_version": "1", "normaliser_version": "7"}

    def __init__(self, spoil: Callable[[TextOut], TextOut] = lambda out: out) -> None:
        self.spoil = spoil

    def score(self, request: ScoreRequest) -> ScoreResponse:
        outs = [
            self.spoil(TextOut(t.id, len(t.text), 0.5, (WindowScore(0, len(t.text), len(t.text), 0.5),), 1))
            for t in request.texts
        ]
        return ScoreResponse("", 0, self.model, self.model_version, "1", "7", tuple(outs), 0)


def request(*texts: str, version: str = "v1") -> ScoreRequest:
    return ScoreRequest("run-1", 2, version, tuple(TextIn(f"t{n}", text, "en") for n, text in enumerate(texts)))


def handled(model: handler.Model, given: Any) -> dict[str, Any]:
    return asyncio.run(Worker(model).handle({"id": "job-1", "input": given}))


def test_it_answers_a_request() -> None:
    asked = request("abc", "de")
    found = ScoreResponse.from_json(handled(Numbers(), asked.to_json()))
    match(asked, found)
    assert [(text.score, text.padding) for text in found.texts] == [(3, 0), (2, 0)]
    assert (found.model, found.calibration_version, found.normaliser_version) == ("numbers", "1", "7")


@pytest.mark.parametrize("given", [None, "text", {}, {"contract_version": CONTRACT_VERSION}, {"contract_version": 99},
                                   request(SECRET).to_json() | {"attempt": SECRET}])  # fmt: skip
def test_it_refuses_what_is_no_request(given: Any) -> None:
    assert handled(Numbers(), given) == {"error": "contract"}


def test_it_names_its_version_to_who_wants_another() -> None:
    found = ScoreResponse.from_json(handled(Numbers(), request("abc", version="v0").to_json()))
    assert (found.model_version, found.texts[0].error) == ("v1", "version")


def test_it_answers_in_finite_numbers_only() -> None:
    def spoil(out: TextOut) -> TextOut:
        if out.score != 3:
            return out
        return replace(out, windows=(replace(out.windows[0], score=math.nan),))

    output = handled(Numbers(spoil), request("abc", "de").to_json())
    json.dumps(output, allow_nan=False)
    assert [text["error"] for text in output["texts"]] == ["engine", ""]


def test_it_keeps_a_bad_text_to_itself_and_says_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    def spoil(out: TextOut) -> TextOut:
        if out.score == len(SECRET):
            raise RuntimeError(f"cannot score {SECRET}")
        return out

    output = handled(Numbers(spoil), request("abc", SECRET).to_json())
    assert [text["error"] for text in output["texts"]] == ["", "engine"]
    assert SECRET not in json.dumps(output) + "".join(capsys.readouterr())


def test_it_asks_to_be_replaced_when_its_engine_is_dead(capsys: pytest.CaptureFixture[str]) -> None:
    def dead(out: TextOut) -> TextOut:
        raise RuntimeError(SECRET)

    assert handled(Numbers(dead), request("abc").to_json()) == {"error": "engine", "refresh_worker": True}
    assert SECRET not in "".join(capsys.readouterr())


def test_it_warms_with_a_real_inference() -> None:
    Worker(Numbers()).warm()
    with pytest.raises(RuntimeError, match="does not score"):
        Worker(Numbers(lambda out: replace(out, score=math.inf))).warm()


def test_it_shares_passes_between_jobs_and_scores_them_as_alone() -> None:
    model = handler.load(handler.SHIPPED, threads=1)
    texts = [handler.PROBE, f"{handler.PROBE} {handler.PROBE}", "Short, but a sentence all the same."]

    async def jobs() -> list[dict[str, Any]]:
        worker = Worker(model)
        asked = [request(text, version=model.model_version).to_json() for text in texts]
        return await asyncio.gather(*(worker.handle({"input": each}) for each in asked))

    together = [ScoreResponse.from_json(output).texts[0] for output in asyncio.run(jobs())]
    alone = model.score(request(*texts, version=model.model_version)).texts
    for one, other in zip(together, alone, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert one.windows[-1].end == other.windows[-1].end


def test_its_passes_fit_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Numbers()
    gpu.manifest = Numbers.manifest | {"engine": {"kind": "torch"}}
    assert (handler.limits_of(Numbers()), handler.limits_of(gpu)) == (handler.CPU_LIMITS, handler.GPU_LIMITS)
    monkeypatch.setenv("INKCLOAK_BATCH_TEXTS", "8")
    assert handler.limits_of(gpu) == replace(handler.GPU_LIMITS, texts=8)
    monkeypatch.setenv("INKCLOAK_BATCH_TOKENS", "0")
    with pytest.raises(ValueError, match="below 1"):
        handler.limits_of(gpu)


def test_it_loads_no_changed_model(tmp_path: Path) -> None:
    for file in handler.SHIPPED.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(manifest.ManifestError, match=r"tokenizer\.json"):
        handler.load(tmp_path)

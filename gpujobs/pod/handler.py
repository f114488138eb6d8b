"""The serverless entry: RunPod's SDK hands jobs to `Worker.handle`, texts of all jobs share passes of one model.

    python -m gpujobs.pod.handler

Environment (what the image sets; nothing of it is secret):
    INKCLOAK_MODEL           model folder; the shipped one unless set
    INKCLOAK_ENGINE_THREADS  of a CPU model, default 2        INKCLOAK_CONCURRENCY   jobs at a time, default 8
    INKCLOAK_BATCH_TEXTS, INKCLOAK_BATCH_TOKENS               of one pass, instead of the limits below

A job's input is a ScoreRequest, its output a ScoreResponse: plain JSON, finite numbers, model version, and errors of
single texts inside. A job as a whole fails only with `contract` (not a request of ours) or `engine` (this process must
be replaced). No message of an exception is returned or logged: it could quote a text.
Imports nothing of the site. Extras: `cpu` or, for a torch model, `train`; and the package runpod, in `serve` only.
"""

import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from gpujobs.pod import manifest, openvino_engine
from gpujobs.pod.batcher import ENGINE_ERROR, Batcher, EngineDead, Limits
from gpujobs.pod.contract import ContractError, ScoreRequest, ScoreResponse, TextIn, TextOut
from gpujobs.pod.engine import BATCH_TOKENS
from gpujobs.pod.padding import Rule, with_padding
from gpujobs.pod.score import DEFAULT_THREADS, Scorer

SHIPPED = Path(__file__).parent / "shipped" / "inkcloak-small"
CONCURRENCY = 8  # constant: the SDK takes about as many jobs a second, and stalls whenever it changes
PROBE = (
    "The tide had gone out by the time we reached the harbour, and the boats lay on their sides in the mud. Nobody "
    "was about except a man with a bucket, who nodded at us as if we had been expected, and went on counting his eels."
)
# A GPU wants full passes; on CPUs larger ones bring no speed, and everybody who comes later waits for them.
GPU_LIMITS, CPU_LIMITS = Limits(texts=64, tokens=16_384), Limits(texts=16, tokens=4096)
QUIET_LEVELS = ("INFO", "WARN", "ERROR")  # the SDK's default, DEBUG, prints every output


class Model(Protocol):
    """What a worker needs of a model; score.Scorer is one."""

    manifest: dict[str, Any]

    @property
    def model(self) -> str: ...
    @property
    def model_version(self) -> str: ...
    def score(self, request: ScoreRequest) -> ScoreResponse: ...


class Worker:
    """One loaded model, shared by all jobs of this process."""

    def __init__(self, model: Model, limits: Limits | None = None) -> None:
        self._model = model
        probe = TextIn("probe", PROBE, str(model.manifest["languages"][0]))
        self._batcher = Batcher(self._score, probe, limits or limits_of(model))
        self._rule = rule_of(model)

    @property
    def model_version(self) -> str:
        return self._model.model_version

    def warm(self) -> None:
        """One real inference, so that the first customer does not pay for it. Raises RuntimeError if it brings none."""
        (found,) = self._score([self._batcher.probe])
        if found.error or not _is_finite(found):
            raise RuntimeError(f"the model does not score: {found.error or 'not finite'}")

    async def handle(self, job: dict[str, Any]) -> dict[str, Any]:
        """One job of RunPod's: its `input` is a ScoreRequest. Never raises but for a cancelled job."""
        try:
            data = job.get("input")
            request = ScoreRequest.from_json(data if isinstance(data, dict) else {})
        except ContractError:
            return {"error": "contract"}
        try:
            return await self._answer(request)
        except EngineDead as dead:
            say(f"the engine is dead: {dead}")
            return {"error": "engine", "refresh_worker": True}
        except Exception as error:  # noqa: BLE001 - the SDK would post and print its message, which may quote a text
            say(f"job failed: {type(error).__name__}")
            return {"error": "engine"}

    async def _answer(self, request: ScoreRequest) -> dict[str, Any]:
        if request.model_version == self._model.model_version:
            texts, busy_ms = await self._batcher.submit(request.texts)
        else:
            texts, busy_ms = [_failed(text, "version") for text in request.texts], 0
        facts = self._model.manifest
        response = ScoreResponse(
            run_id=request.run_id,
            attempt=request.attempt,
            model=self._model.model,
            model_version=self._model.model_version,
            calibration_version=str(facts["calibration_version"]),
            normaliser_version=str(facts["normaliser_version"]),
            texts=tuple(text if _is_finite(text) else _failed(text, ENGINE_ERROR) for text in texts),
            execution_ms=busy_ms,
        )
        return response.to_json()

    def _score(self, texts: Sequence[TextIn]) -> Sequence[TextOut]:
        answer = self._model.score(ScoreRequest("", 0, self._model.model_version, tuple(texts)))
        return with_padding(answer.texts, self._rule)


def _is_finite(text: TextOut) -> bool:
    numbers = [text.score, text.probability]
    for window in text.windows:
        numbers += [window.score, window.probability]
    return all(math.isfinite(number) for number in numbers)


def _failed(text: TextIn | TextOut, code: str) -> TextOut:
    return TextOut(text.id, 0.0, 0.0, (), 0, code)


def load(folder: Path, threads: int = DEFAULT_THREADS) -> Model:
    """The model in `folder`, its hashes checked: on a GPU (or wherever torch is) or on the CPU, as its manifest says.

    Raises manifest.ManifestError, and whatever the engine raises when it cannot load.
    """
    facts = manifest.read(folder)
    if facts["engine"].get("kind") == "torch":
        from gpujobs.pod import torch_engine

        torch_engine.check_driver()
    return Scorer.load(folder, threads=threads, verify=False)  # just verified


def limits_of(model: Model) -> Limits:
    """Of one pass of this model on its kind of machine, unless the environment says otherwise."""
    usual = GPU_LIMITS if model.manifest.get("engine", {}).get("kind") == "torch" else CPU_LIMITS
    texts, tokens = _number("INKCLOAK_BATCH_TEXTS", usual.texts), _number("INKCLOAK_BATCH_TOKENS", usual.tokens)
    return replace(usual, texts=texts, tokens=tokens)


def rule_of(model: Model) -> Rule:
    """How the engine of this model packs rows, on this machine."""
    kind = model.manifest.get("engine", {}).get("kind")
    if kind == "openvino" and openvino_engine.is_at_home():
        return Rule(openvino_engine.BATCH_TOKENS, openvino_engine.PADDING)
    if kind != "torch":
        return Rule(BATCH_TOKENS, 1)
    from gpujobs.pod import torch_engine

    torch = cast(Any, torch_engine).torch  # training modules alone import it
    cuda = os.environ.get("INKCLOAK_DEVICE") != "cpu" and torch.cuda.is_available()
    return Rule(torch_engine.BATCH_TOKENS["cuda" if cuda else "cpu"], torch_engine.ROUND_TOKENS if cuda else 1)


def serve(make: Callable[[], Model], *, limits: Limits | None = None, concurrency: int = CONCURRENCY) -> None:
    """Loads and warms the model, then takes jobs until the platform stops this process.

    A model that does not come up is told to the platform as a failed fitness check, and ends the process.
    """
    if os.environ.get("RUNPOD_LOG_LEVEL") not in QUIET_LEVELS:
        os.environ["RUNPOD_LOG_LEVEL"] = QUIET_LEVELS[0]
    import runpod  # type: ignore[import-untyped]

    worker, reason = _brought_up(make, limits)

    def the_model_scores() -> None:
        if reason:
            raise RuntimeError(reason)

    async def handler(job: dict[str, Any]) -> dict[str, Any]:
        return await worker.handle(job) if worker else {"error": "engine"}  # None: the check has ended the process

    runpod.serverless.register_fitness_check(the_model_scores)
    runpod.serverless.start({"handler": handler, "concurrency_modifier": lambda _current: concurrency})


def _brought_up(make: Callable[[], Model], limits: Limits | None) -> tuple[Worker | None, str]:
    try:
        worker = Worker(make(), limits)
        worker.warm()
    except Exception as error:  # noqa: BLE001 - no text has been here yet: the message may be told
        return None, f"{type(error).__name__}: {error}"
    say(f"warm: model version {worker.model_version}")
    return worker, ""


def say(line: str) -> None:
    """Into the worker's log."""
    print(line, file=sys.stderr, flush=True)


def _number(name: str, default: int) -> int:
    value = int(os.environ.get(name) or default)
    if value < 1:
        raise ValueError(f"{name} is below 1")
    return value


def main() -> None:
    folder = Path(os.environ.get("INKCLOAK_MODEL") or SHIPPED)
    threads = _number("INKCLOAK_ENGINE_THREADS", DEFAULT_THREADS)
    serve(lambda: load(folder, threads), concurrency=_number("INKCLOAK_CONCURRENCY", CONCURRENCY))


if __name__ == "__main__":
    main()

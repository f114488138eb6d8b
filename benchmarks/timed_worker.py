"""RunPod's SDK worker around the real handler, whose forward pass alone is a wait of the founder's measured times.

    python -m benchmarks.timed_worker          (environment: INKCLOAK_CONCURRENCY, as gpujobs.pod.handler)

Everything else is what ships: the SDK's loops, the handler, the batcher across jobs, the contract. The times were
measured with DeBERTa-v3-large on a 16 GB card: one text 83 ms, up to eight together 89 ms, never more than eight at
once. Scores come from a text's length, so that every label occurs.
"""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gpujobs.pod import handler, manifest
from gpujobs.pod.batcher import Limits
from gpujobs.pod.contract import ScoreRequest, ScoreResponse, TextIn, TextOut, WindowScore

MOST_TEXTS = 8  # of one forward pass
ALONE_SECONDS, TOGETHER_SECONDS = 0.083, 0.089
WINDOW_CHARACTERS = 1500  # about the 384 tokens of the shipped model's windows
LIMITS = Limits(texts=MOST_TEXTS, tokens=handler.GPU_LIMITS.tokens)


def pass_seconds(texts: int) -> float:
    """How long the card takes for so many texts at once. Raises ValueError for more than fit."""
    if not 1 <= texts <= MOST_TEXTS:
        raise ValueError(f"{texts} texts in one forward pass")
    return ALONE_SECONDS if texts == 1 else TOGETHER_SECONDS


class TimedModel:
    """A handler.Model that waits as long as the real one would calculate."""

    def __init__(self, folder: Path) -> None:
        self.manifest: dict[str, Any] = manifest.read(folder, verify=False)
        self.model, self.model_version = str(self.manifest["model"]), str(self.manifest["model_version"])

    def score(self, request: ScoreRequest) -> ScoreResponse:
        seconds = pass_seconds(len(request.texts))
        time.sleep(seconds)
        return ScoreResponse(
            run_id=request.run_id,
            attempt=request.attempt,
            model=self.model,
            model_version=self.model_version,
            calibration_version=str(self.manifest["calibration_version"]),
            normaliser_version=str(self.manifest["normaliser_version"]),
            texts=_answers(request.texts),
            execution_ms=round(seconds * 1000),
        )


def _answers(texts: Sequence[TextIn]) -> tuple[TextOut, ...]:
    return tuple(_answer(text) for text in texts)


def _answer(text: TextIn) -> TextOut:
    probability = (len(text.text) % 101) / 100
    windows = tuple(WindowScore(start, end, probability * 2 - 1, probability) for start, end in _windows(text.text))
    return TextOut(text.id, probability * 2 - 1, probability, windows, len(text.text) // 4)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    for start in range(0, len(text), WINDOW_CHARACTERS):
        yield start, min(start + WINDOW_CHARACTERS, len(text))


def main() -> None:
    folder = Path(os.environ.get("INKCLOAK_MODEL") or handler.SHIPPED)
    concurrency = int(os.environ.get("INKCLOAK_CONCURRENCY") or handler.CONCURRENCY)
    handler.serve(lambda: TimedModel(folder), limits=LIMITS, concurrency=concurrency)


if __name__ == "__main__":
    main()

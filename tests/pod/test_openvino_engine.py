"""The shipped encoder in bfloat16: near its fp32, and each row's logits its own to the last bit."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpujobs.pod import manifest, openvino_engine
from gpujobs.pod.engine import Engine, Logits
from gpujobs.pod.openvino_engine import PADDING, OpenVinoEngine, padded
from gpujobs.pod.score import load_engine

FOLDER = Path(manifest.__file__).parent / "shipped" / "inkcloak-small"
ENCODER = FOLDER / "encoder.onnx"
PAD, FIRST, LAST = 1, 0, 2
REPEATS = 100
MEAN_APART, MOST_APART = 0.05, 0.3  # of a logit; real texts differ by 0.007 on average, these rows are noise


def row(tokens: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [FIRST, *(rng.randrange(5, 31_000) for _ in range(tokens)), LAST]


ROWS = [row(tokens, seed) for seed, tokens in enumerate((1, 5, 29, 30, 31, 47, 62, 63, 94, 120, 190, 254))]


@pytest.fixture(scope="module")
def engine() -> OpenVinoEngine:
    return OpenVinoEngine(ENCODER, PAD, threads=2)


@pytest.fixture(scope="module")
def alone(engine: OpenVinoEngine) -> list[Logits]:
    return [engine.logits([each])[0] for each in ROWS]


def most_apart(found: Sequence[Logits], told: Sequence[Logits]) -> float:
    """Over documents and tokens."""
    pairs = zip(found, told, strict=True)
    return max(max(abs(a.document - b.document), np.abs(a.tokens - b.tokens).max()) for a, b in pairs)


def test_a_row_does_not_feel_the_others(engine: OpenVinoEngine, alone: list[Logits]) -> None:
    rng = random.Random(0)
    for _ in range(REPEATS):
        chosen = rng.sample(range(len(ROWS) - 3), rng.randint(2, 4))
        assert most_apart(engine.logits([ROWS[i] for i in chosen]), [alone[i] for i in chosen]) == 0


def test_it_gives_the_order_back_over_many_batches(engine: OpenVinoEngine, alone: list[Logits]) -> None:
    chosen = [*range(len(ROWS)), *reversed(range(len(ROWS)))]
    assert most_apart(engine.logits([ROWS[i] for i in chosen]), [alone[i] for i in chosen]) == 0
    assert engine.logits([]) == []


def test_threads_change_nothing(alone: list[Logits]) -> None:
    assert most_apart(OpenVinoEngine(ENCODER, PAD, threads=1).logits(ROWS), alone) == 0


def test_it_is_near_fp32(alone: list[Logits]) -> None:
    told = Engine(ENCODER, PAD, threads=2).logits(ROWS)
    off = [abs(a.document - b.document) for a, b in zip(alone, told, strict=True)]
    assert np.mean(off) < MEAN_APART
    assert max(off) < MOST_APART
    assert all(
        found.tokens is not None and len(found.tokens) == len(each) for found, each in zip(alone, ROWS, strict=True)
    )


@pytest.mark.parametrize(
    ("kind", "at_home", "made"),
    [
        ("openvino", True, OpenVinoEngine),
        ("openvino", False, Engine),
        ("onnxruntime", True, Engine),
    ],
)
def test_a_manifest_asks_for_it(kind: str, at_home: bool, made: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_engine, "is_at_home", lambda: at_home)
    facts = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))["engine"] | {"kind": kind}
    assert isinstance(load_engine(FOLDER, facts, threads=1), made)


def test_it_is_away_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_engine.importlib.util, "find_spec", lambda name: None)
    assert not openvino_engine.is_at_home()


@pytest.mark.parametrize(
    ("length", "found"), [(1, PADDING), (PADDING, PADDING), (PADDING + 1, 2 * PADDING), (256, 256)]
)
def test_rows_are_brought_to_a_multiple(length: int, found: int) -> None:
    assert padded(length) == found

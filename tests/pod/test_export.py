"""What is exported answers as the trained network does, for any batch and length."""

from pathlib import Path

import numpy as np
import pytest
import tiny
import torch
from onnx import helper, numpy_helper

from gpujobs.pod.bases import load_base
from gpujobs.pod.engine import Engine
from gpujobs.pod.export import export, quantise, quantise_storage
from gpujobs.pod.model import build, collate, merged
from gpujobs.pod.vocabulary import cut_vocabulary


@pytest.mark.parametrize(
    ("kind", "targets"), [("bert", ("query", "dense")), ("deberta", ("query_proj", "value_proj", "dense"))]
)
def test_it_exports_both_kinds_of_encoder(tmp_path: Path, kind: str, targets: tuple[str, ...]) -> None:
    recipe = tiny.recipe(tiny.base(tmp_path / "base", kind), targets=targets)
    detector, _ = build(recipe, [], tmp_path)
    torch.nn.init.normal_(detector.head.weight)
    torch.nn.init.normal_(detector.token_head.weight)
    for name, value in detector.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(value, std=0.1)
    whole = merged(detector)
    export(whole, tmp_path / "encoder.onnx")
    engine = Engine(tmp_path / "encoder.onnx", pad=0, threads=1)
    rows = [[2, *range(4, 4 + length), 3] for length in (1, 7, 19, 3)]
    with torch.no_grad():
        told = [whole(*collate([row], 0, torch.device("cpu"))) for row in rows]
    # The table of positions is large enough to be stored as int8.
    for found, (document, tokens) in zip(engine.logits(rows), told, strict=True):
        assert found.document == pytest.approx(float(document), abs=0.03)
        assert found.tokens == pytest.approx(tokens[0].numpy(), abs=0.15)


@pytest.mark.parametrize("axis", [0, 1])
def test_it_stores_matrices_within_half_a_step(axis: int) -> None:
    values = np.random.default_rng(1).normal(size=(40, 30)).astype(np.float32)
    small, scale = quantise(values, axis)
    restored = small * (scale[:, None] if axis == 0 else scale[None, :])
    step = scale[:, None] if axis == 0 else scale[None, :]
    assert (np.abs(restored - values) <= step / 2 + 1e-6).all()
    assert small.dtype == np.int8


def test_it_quantises_large_matrices_and_leaves_the_rest() -> None:
    rng = np.random.default_rng(2)
    tensors = {"big": (128, 64), "small": (4, 4), "bias": (8192,)}
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "big"], ["y"]), helper.make_node("Gather", ["small", "i"], ["z"])],
        "g",
        [],
        [],
        [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n) for n, s in tensors.items()],
    )
    model = helper.make_model(graph)
    quantise_storage(model)
    names = {tensor.name for tensor in model.graph.initializer}
    assert names == {"big.int8", "big.scale", "small", "bias"}
    assert model.graph.node[0].op_type == "DequantizeLinear"


def test_it_cuts_only_vocabularies_it_understands(tmp_path: Path) -> None:
    base = load_base(tiny.base(tmp_path / "base"), tmp_path)
    with pytest.raises(ValueError, match="Unigram"):
        cut_vocabulary(base.tokenizer, torch.zeros((40, 8)), ["a"], 1)


def test_it_knows_its_bases_by_name_only(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown base"):
        load_base("some-other-base", tmp_path)

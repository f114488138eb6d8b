"""An encoder that multiplies in integers answers nearly as before, and for each text on its own."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import tiny
import torch
from onnx import TensorProto, helper, numpy_helper
from transformers import BertConfig, BertModel

from gpujobs.pod.bases import load_base
from gpujobs.pod.export import SMALLEST_QUANTISED, export, quantise
from gpujobs.pod.model import Detector
from gpujobs.pod.quantise import (
    Extent,
    calibration_inputs,
    calibration_rows,
    factors,
    padded,
    quantise_tables,
    restored,
    static,
)

HIDDEN, LAYERS, WORDS = 64, 2, 100
PRODUCTS = 6 * LAYERS  # query, key, value, output and two of the feed-forward part
PARTS = [""] * 20 + ["val_dev"] * 4 + [""] * 20 + ["ood_report"] * 4
SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
RNG = np.random.default_rng(5)
INPUTS = [[2, *(int(i) for i in RNG.integers(4, WORDS, size=n)), 3] for n in (1, 7, 19, 30, 30, 52, 11, 60)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A random encoder as export.py writes it, and its quantised form."""
    torch.manual_seed(3)
    size = {"hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": 2, "intermediate_size": 128}
    encoder = BertModel(BertConfig(vocab_size=WORDS, **size), add_pooling_layer=False)
    detector = Detector(encoder, HIDDEN)
    for value in (detector.head.weight, detector.token_head.weight):
        torch.nn.init.normal_(value)
    with torch.no_grad():
        encoder.encoder.layer[0].attention.output.LayerNorm.weight[5] *= 60  # the outlier that real encoders have
    folder = tmp_path_factory.mktemp("quantise")
    export(detector, folder / "stored.onnx")
    assert static(folder / "stored.onnx", folder / "static.onnx", INPUTS, pad=0) == PRODUCTS
    return folder / "stored.onnx", folder / "static.onnx"


def run(path: Path, rows: list[list[int]], optimised: Path | None = None) -> list[tuple[float, np.ndarray]]:
    """(logit of the text, logits of its tokens) of each row, all in one batch."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    if "static" not in path.name:
        options.add_session_config_entry("session.disable_quant_qdq", "1")  # stored as int8, computed in fp32
    if optimised:
        options.optimized_model_filepath = str(optimised)
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    shape = len(rows), max(len(row) for row in rows)
    ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)] = row, 1
    logits, tokens = session.run(["logits", "tokens"], {"ids": ids, "mask": mask})
    return [(float(logits[i]), tokens[i, : len(row)]) for i, row in enumerate(rows)]


def test_it_answers_nearly_as_before(files: tuple[Path, Path]) -> None:
    before, after = (run(path, INPUTS) for path in files)
    spread = float(np.std(np.concatenate([tokens for _, tokens in before])))
    for (logit, tokens), (found, found_tokens) in zip(before, after, strict=True):
        assert found == pytest.approx(logit, abs=0.03 * spread)
        assert found_tokens == pytest.approx(tokens, abs=0.1 * spread)


def test_it_scores_a_text_alike_in_any_batch(files: tuple[Path, Path]) -> None:
    together = run(files[1], INPUTS)
    for row, (logit, tokens) in zip(INPUTS, together, strict=True):
        ((alone, alone_tokens),) = run(files[1], [row])
        assert alone == pytest.approx(logit, abs=1e-4)
        assert alone_tokens == pytest.approx(tokens, abs=1e-4)


def test_it_multiplies_in_integers(files: tuple[Path, Path], tmp_path: Path) -> None:
    run(files[1], INPUTS, tmp_path / "optimised.onnx")
    kinds = [node.op_type for node in onnx.load(str(tmp_path / "optimised.onnx")).graph.node]
    assert kinds.count("MatMulIntegerToFloat") == PRODUCTS
    assert "DequantizeLinear" not in kinds


def test_it_leaves_both_heads_and_nothing_large_in_fp32(files: tuple[Path, Path]) -> None:
    kept = [t for t in onnx.load(str(files[1])).graph.initializer if t.data_type == TensorProto.FLOAT]
    assert {(1, HIDDEN), (HIDDEN, 1)} <= {tuple(tensor.dims) for tensor in kept}
    assert all(np.prod(tensor.dims) < SMALLEST_QUANTISED for tensor in kept)


def test_it_refuses_to_quantise_twice(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="already"):
        static(files[1], tmp_path / "twice.onnx", INPUTS, pad=0)


def test_it_refuses_to_guess_ranges(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="without inputs"):
        static(files[0], tmp_path / "none.onnx", [], pad=0)


def test_it_restores_what_was_stored(files: tuple[Path, Path], tmp_path: Path) -> None:
    onnx.save(restored(onnx.load(str(files[0]))), str(tmp_path / "restored.onnx"))
    for (logit, _), (found, _) in zip(run(files[0], INPUTS), run(tmp_path / "restored.onnx", INPUTS), strict=True):
        assert found == pytest.approx(logit, abs=1e-5)


def test_it_divides_large_channels_and_keeps_the_product() -> None:
    high = np.ones(8, dtype=np.float32)
    high[3] = 100.0
    matrix = RNG.normal(size=(8, 5)).astype(np.float32)
    found = factors(Extent(-high / 2, high), [matrix])
    assert found[3] > 10 * np.delete(found, 3).max()
    assert np.log(found).mean() == pytest.approx(0, abs=1e-6)
    row = RNG.normal(size=8).astype(np.float32)
    assert (row / found) @ (matrix * found[:, None]) == pytest.approx(row @ matrix, rel=1e-4)


def test_it_looks_rows_up_before_it_restores_them() -> None:
    table = RNG.normal(size=(128, 64)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "at"], ["rows"])],
        "g",
        [helper.make_tensor_value_info("at", TensorProto.INT64, ["N"])],
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["N", 64])],
        [numpy_helper.from_array(table, "table")],
    )
    quantise_tables(graph)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    small, scale = quantise(table, 0)
    (found,) = session.run(["rows"], {"at": np.array([7, 0, 7])})
    assert np.array_equal(found, (small * scale[:, None])[[7, 0, 7]])
    assert [node.op_type for node in graph.node] == ["Gather", "Cast", "Gather", "Mul"]


def test_it_measures_on_training_texts_of_every_kind(tmp_path: Path) -> None:
    rows = [replace(tiny.row(i, part, i % 2), language="en" if i < 24 else "es") for i, part in enumerate(PARTS)]
    chosen = calibration_rows(rows, texts=8)
    assert Counter((row.language, row.label, row.part) for row in chosen) == {
        (language, label, ""): 2 for language in ("en", "es") for label in (0, 1)
    }
    assert calibration_rows(rows[::-1], texts=8) == chosen
    tokenizer = load_base(tiny.base(tmp_path), tmp_path).tokenizer
    inputs = calibration_inputs(chosen, tokenizer, (2, 3), window_tokens=34)
    assert all(row[0] == 2 and row[-1] == 3 and len(row) <= 34 for row in inputs)
    assert len(inputs) > len(chosen)


def test_it_leaves_a_tiny_model_in_fp32(tmp_path: Path) -> None:
    encoder = BertModel(BertConfig(vocab_size=WORDS, **SMALL), add_pooling_layer=False)
    export(Detector(encoder, 16), tmp_path / "tiny.onnx")
    assert static(tmp_path / "tiny.onnx", tmp_path / "same.onnx", INPUTS, pad=0) == 0
    assert "QuantizeLinear" not in [node.op_type for node in onnx.load(str(tmp_path / "same.onnx")).graph.node]


def test_it_pads_no_row_away() -> None:
    found = list(padded(INPUTS, pad=0))
    assert sorted(int(n) for _, mask in found for n in mask.sum(axis=1)) == sorted(len(row) for row in INPUTS)

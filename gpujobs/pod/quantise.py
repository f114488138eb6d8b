"""An exported encoder as one that multiplies in integers: 8-bit weights, 8-bit activations with ranges fixed before.

    python -m gpujobs.pod.quantise --run DIR [--corpora DIR]

rewrites `DIR/parts/encoder.onnx` of a finished training (package it afterwards); its activations are measured on
training texts of both classes and all languages. Ranges are fixed, so a score doesn't depend on the batch, as it would
with ranges taken from each batch. Only products with large matrices are quantised: heads, softmax, layer norms and the
products between activations stay fp32.

A few channels of a transformer are 20 to 100 times as large as the others and would leave these a few of the 256
steps. Each channel is therefore divided by a factor of its own before quantising, and its row of the matrix multiplied
by it. Source: SmoothQuant (Xiao et al. 2023), section 4, with its migration strength as `STRENGTH`.

May be imported by: train.py, benchmarks. Extra: `train`.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from gpujobs.pod.dataset import Row, as_read, corpora_folder, read_heldout, read_rows, with_parts
from gpujobs.pod.engine import batches
from gpujobs.pod.export import SMALLEST_QUANTISED, quantise
from gpujobs.pod.package import PARTS
from gpujobs.pod.score import SPECIAL_TOKENS
from gpujobs.pod.windows import cut

STRENGTH = 0.7  # 0: all of the difficulty stays in the activations, 1: all goes into the weights
INTEGER, FLOAT = "int8", "fp32"  # how the manifest's engine block names the arithmetic of large products
CALIBRATION_TEXTS = 300
CALIBRATION_TOKENS = 1024  # padded tokens in one run: every activation of it is in memory
STEPS = 255  # of an unsigned byte
SMALLEST_FACTOR = 1e-4  # of a channel that calibration never saw move

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Extent:
    """low, high: (K,) the least and greatest value of each channel over all real tokens."""

    low: Array
    high: Array


def static(source: Path, target: Path, inputs: Sequence[Sequence[int]], pad: int) -> int:
    """Writes `target`, which computes what `source` does with integer products. Returns how many: 0 in a tiny model.

    source: what export.py writes, or the same with fp32 matrices.  inputs: token ids with special tokens, to measure
    activations on.  Raises ValueError without inputs, and for a model that is quantised already.
    """
    if not inputs:
        raise ValueError("activations can't be measured without inputs")
    model = restored(onnx.load(str(source)))
    if any(node.op_type == "QuantizeLinear" for node in model.graph.node):
        raise ValueError(f"{source.name} is quantised already")
    number = sum(len(nodes) for nodes in _products(model.graph).values())
    quantise_products(model.graph, measure(model, inputs, pad))
    quantise_tables(model.graph)
    onnx.checker.check_model(model)
    target.write_bytes(model.SerializeToString())
    return number


def restored(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model with the matrices that export.py stored as int8 back in fp32."""
    graph = model.graph
    stored = {tensor.name: tensor for tensor in graph.initializer}
    nodes = []
    for node in graph.node:
        if node.op_type != "DequantizeLinear" or node.input[0] not in stored:
            nodes.append(node)
            continue
        small, scale = (numpy_helper.to_array(stored[name]) for name in node.input[:2])
        shape = [1] * small.ndim
        shape[next(a.i for a in node.attribute if a.name == "axis")] = -1
        values = small.astype(np.float32) * scale.reshape(shape)
        graph.initializer.append(numpy_helper.from_array(values, node.output[0]))
        for name in node.input[:2]:
            graph.initializer.remove(stored[name])
    _replace_nodes(graph, nodes)
    return model


def measure(model: onnx.ModelProto, inputs: Sequence[Sequence[int]], pad: int) -> dict[str, Extent]:
    """The extent of every activation that meets a large matrix, by its name, over the inputs' real tokens."""
    names = list(_products(model.graph))
    found: dict[str, Extent] = {}
    if not names:
        return found
    session = _with_outputs(model, names)
    for ids, mask in padded(inputs, pad):
        for name, values in zip(names, session.run(names, {"ids": ids, "mask": mask}), strict=True):
            # Padding's activations are noise. What isn't laid out by tokens (tables of positions) counts whole.
            rows = values[mask.astype(bool)] if values.shape[:2] == mask.shape else values.reshape(-1, values.shape[-1])
            low, high = rows.min(axis=0), rows.max(axis=0)
            before = found.get(name, Extent(low, high))
            found[name] = Extent(np.minimum(low, before.low), np.maximum(high, before.high))
    return found


def padded(inputs: Sequence[Sequence[int]], pad: int) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """ids and mask (B, T) of all inputs, in batches of bounded size."""
    order = sorted(inputs, key=len)
    for chosen in batches([len(row) for row in order], CALIBRATION_TOKENS):
        shape = len(chosen), len(order[chosen[-1]])
        ids, mask = np.full(shape, pad, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for i, at in enumerate(chosen):
            ids[i, : len(order[at])] = order[at]
            mask[i, : len(order[at])] = 1
        yield ids, mask


def quantise_products(graph: onnx.GraphProto, extents: dict[str, Extent]) -> None:
    """Puts a quantiser before each measured activation's products and turns their matrices into int8."""
    matrices = {tensor.name: tensor for tensor in graph.initializer}
    before: dict[str, list[onnx.NodeProto]] = {}  # name of a product's output -> what must stand before it
    for name, nodes in _products(graph).items():
        values = [numpy_helper.to_array(matrices[node.input[1]]) for node in nodes]
        factor = factors(extents[name], values)
        before[nodes[0].output[0]] = _quantiser(graph, name, extents[name], factor)
        for node, matrix in zip(nodes, values, strict=True):
            out = node.output[0]
            # A pair of dequantisers of its own for each product: only such a group becomes an integer product.
            pair = [_dequantiser(name, out), _weights(graph, out, matrix * factor[:, None])]
            before[out] = [*before.get(out, []), *pair]
            node.input[:] = [made.output[0] for made in pair]
    _replace_nodes(graph, [new for node in graph.node for new in (*before.get(node.output[0], []), node)])
    used = {name for node in graph.node for name in node.input}
    for name in matrices.keys() - used:
        graph.initializer.remove(matrices[name])


def factors(extent: Extent, matrices: Sequence[Array]) -> Array:
    """What each channel is divided by, (K,), with a geometric mean of 1.  matrices: (K, N) each."""
    active = np.maximum(np.maximum(-extent.low, extent.high), SMALLEST_FACTOR)
    weight = np.maximum(np.max([np.abs(matrix).max(axis=1) for matrix in matrices], axis=0), SMALLEST_FACTOR)
    found = active**STRENGTH / weight ** (1 - STRENGTH)
    return np.asarray(found / np.exp(np.log(found).mean()), dtype=np.float32)


def quantise_tables(graph: onnx.GraphProto) -> None:
    """Large tables of embeddings become int8 with a scale a row; the rows that a batch looks up become fp32 then.

    A dequantiser before the look-up would turn the whole table into fp32 at every run.
    """
    tables = {t.name: t for t in graph.initializer if t.data_type == TensorProto.FLOAT and len(t.dims) == 2}
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        table = tables.get(node.input[0]) if node.op_type == "Gather" else None
        if table is None or np.prod(table.dims) < SMALLEST_QUANTISED:
            nodes.append(node)
            continue
        name, (rows, out) = table.name, (node.input[1], node.output[0])
        small, scale = quantise(numpy_helper.to_array(table), 0)
        graph.initializer.remove(table)
        graph.initializer.append(numpy_helper.from_array(small, f"{name}.int8"))
        graph.initializer.append(numpy_helper.from_array(scale[:, None], f"{name}.scale"))
        nodes += [
            helper.make_node("Gather", [f"{name}.int8", rows], [f"{name}.rows"], axis=0),
            helper.make_node("Cast", [f"{name}.rows"], [f"{name}.values"], to=TensorProto.FLOAT),
            helper.make_node("Gather", [f"{name}.scale", rows], [f"{name}.scales"], axis=0),
            helper.make_node("Mul", [f"{name}.values", f"{name}.scales"], [out]),
        ]
    _replace_nodes(graph, nodes)


def _products(graph: onnx.GraphProto) -> dict[str, list[onnx.NodeProto]]:
    """Activation -> the products in which it meets a large constant matrix, in the graph's order."""
    large = {
        t.name
        for t in graph.initializer
        if t.data_type == TensorProto.FLOAT and len(t.dims) == 2 and np.prod(t.dims) >= SMALLEST_QUANTISED
    }
    found: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in large:
            found.setdefault(node.input[0], []).append(node)
    return found


def _with_outputs(model: onnx.ModelProto, names: Sequence[str]) -> onnxruntime.InferenceSession:
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    watched.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "watched.onnx"  # as a message it may pass the 2 GB that bytes may have
        onnx.save(watched, str(path))
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def _quantiser(graph: onnx.GraphProto, name: str, extent: Extent, factor: Array) -> list[onnx.NodeProto]:
    low, high = min(float((extent.low / factor).min()), 0.0), max(float((extent.high / factor).max()), 0.0)
    step = np.float32(max(high - low, 1e-8) / STEPS)
    zero = np.uint8(np.clip(round(-low / float(step)), 0, STEPS))
    for value, kind in ((np.float32(1) / factor, "even"), (np.asarray(step), "step"), (np.asarray(zero), "zero")):
        graph.initializer.append(numpy_helper.from_array(value, f"{name}.{kind}"))
    return [
        helper.make_node("Mul", [name, f"{name}.even"], [f"{name}.evened"]),
        helper.make_node("QuantizeLinear", [f"{name}.evened", f"{name}.step", f"{name}.zero"], [f"{name}.uint8"]),
    ]


def _dequantiser(name: str, product: str) -> onnx.NodeProto:
    inputs = [f"{name}.uint8", f"{name}.step", f"{name}.zero"]
    return helper.make_node("DequantizeLinear", inputs, [f"{product}.activations"])


def _weights(graph: onnx.GraphProto, product: str, matrix: Array) -> onnx.NodeProto:
    name = f"{product}.weights"
    small, scale = quantise(matrix, 1)
    zeros = np.zeros(len(scale), dtype=np.int8)
    for value, kind in ((small, "int8"), (scale, "scale"), (zeros, "zero")):
        graph.initializer.append(numpy_helper.from_array(value, f"{name}.{kind}"))
    inputs = [f"{name}.int8", f"{name}.scale", f"{name}.zero"]
    return helper.make_node("DequantizeLinear", inputs, [name], axis=1)


def _replace_nodes(graph: onnx.GraphProto, nodes: Sequence[onnx.NodeProto]) -> None:
    kept = list(nodes)
    del graph.node[:]
    graph.node.extend(kept)


def calibration_rows(rows: Sequence[Row], texts: int = CALIBRATION_TEXTS) -> list[Row]:
    """About `texts` training texts, as many of each language and class as there are, always the same ones."""
    training = sorted((row for row in rows if not row.part), key=lambda row: row.digest)
    kinds = sorted({(row.language, row.label) for row in training})
    by_kind = [[row for row in training if (row.language, row.label) == kind] for kind in kinds]
    return [row for of_kind in by_kind for row in of_kind[: max(1, texts // len(kinds))]]


def calibration_inputs(
    rows: Sequence[Row], tokenizer: Tokenizer, around: tuple[int, int], window_tokens: int
) -> list[list[int]]:
    """Token ids of all windows of the rows, whose text is as the model reads it.

    around: ids of the tokens before and after a window.  window_tokens: the most with both of them.
    """
    found: list[list[int]] = []
    encodings = tokenizer.encode_batch([row.text for row in rows], add_special_tokens=False)
    for row, encoding in zip(rows, encodings, strict=True):
        windows = cut(row.text, row.language, encoding.offsets, window_tokens - SPECIAL_TOKENS)
        found += [[around[0], *encoding.ids[w.first : w.last], around[1]] for w in windows]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--corpora")
    options = parser.parse_args()
    parts = options.run / PARTS
    facts = json.loads((parts / "facts.json").read_text(encoding="utf-8"))
    engine = facts["engine"]
    tokenizer = Tokenizer.from_file(str(parts / engine["tokenizer"]))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rows = as_read(calibration_rows(with_parts(read_rows(corpora_folder(options.corpora)), read_heldout())))
    inputs = calibration_inputs(rows, tokenizer, (engine["first_id"], engine["last_id"]), engine["window_tokens"])
    number = static(parts / engine["encoder"], parts / engine["encoder"], inputs, engine["pad_id"])
    engine["arithmetic"] = INTEGER if number else FLOAT
    (parts / "facts.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")
    print(f"{number} products of integers, activations measured on {len(inputs)} windows of {len(rows)} texts")


if __name__ == "__main__":
    main()

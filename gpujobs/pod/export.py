"""A trained detector as one ONNX file for CPUs: matrices stored as int8 with a scale a column, computed in
fp32.

Storage is quantised, arithmetic is not: a text's score can't depend on the other texts of its batch, as it
would with activations quantised a tensor at a time. May be imported by: packaging, train.py. Extra: `train`.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from gpujobs.pod.model import Detector

OPSET = 18
SMALLEST_QUANTISED = 4096  # values; smaller tensors stay as they are


def export(detector: Detector, path: Path) -> None:
    """Writes `path` (inputs ids and mask, (B, T) int64; outputs logits (B,) and tokens (B, T), float32).

    The detector must be merged.
    """
    detector.eval()
    example = torch.ones((2, 8), dtype=torch.int64)
    scratch = path.with_suffix(".fp32.onnx")
    torch.onnx.export(
        detector,
        (example, example),
        str(scratch),
        input_names=["ids", "mask"],
        output_names=["logits", "tokens"],
        dynamic_axes={
            "ids": {0: "B", 1: "T"},
            "mask": {0: "B", 1: "T"},
            "logits": {0: "B"},
            "tokens": {0: "B", 1: "T"},
        },
        opset_version=OPSET,
        dynamo=False,
    )
    model = onnx.load(str(scratch))
    scratch.unlink()
    quantise_storage(model)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())


def quantise_storage(model: onnx.ModelProto) -> None:
    """Turns the matrices of MatMul, Gemm and Gather nodes into int8 initialisers with a DequantizeLinear
    each.
    """
    graph = model.graph
    axes = _matrix_axes(graph)
    dequantisers = []
    for tensor in list(graph.initializer):
        values = numpy_helper.to_array(tensor)
        if tensor.name not in axes or values.size < SMALLEST_QUANTISED or values.dtype != np.float32:
            continue
        axis = axes[tensor.name]
        small, scale = quantise(values, axis)
        graph.initializer.remove(tensor)
        graph.initializer.append(numpy_helper.from_array(small, f"{tensor.name}.int8"))
        graph.initializer.append(numpy_helper.from_array(scale, f"{tensor.name}.scale"))
        inputs = [f"{tensor.name}.int8", f"{tensor.name}.scale"]
        dequantisers.append(helper.make_node("DequantizeLinear", inputs, [tensor.name], axis=axis))
    nodes = dequantisers + list(graph.node)
    del graph.node[:]
    graph.node.extend(nodes)


def quantise(values: npt.NDArray[np.float32], axis: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """int8 values and one fp32 scale for each index of `axis`, so that values ≈ int8 * scale."""
    others = tuple(a for a in range(values.ndim) if a != axis)
    scale = np.maximum(np.abs(values).max(axis=others), 1e-12) / 127
    shape = [1] * values.ndim
    shape[axis] = -1
    return np.round(values / scale.reshape(shape)).astype(np.int8), scale.astype(np.float32)


def _matrix_axes(graph: onnx.GraphProto) -> dict[str, int]:
    """Initialiser name -> the axis that gets scales of its own: output columns of a product, rows of a
    table.
    """
    axes: dict[str, int] = {}
    matrices = {t.name: len(t.dims) for t in graph.initializer if t.data_type == TensorProto.FLOAT}
    for node in graph.node:
        if node.op_type == "Gather" and matrices.get(node.input[0]) == 2:
            axes[node.input[0]] = 0
        elif node.op_type in ("MatMul", "Gemm") and matrices.get(node.input[1]) == 2:
            turned = any(a.name == "transB" and a.i for a in node.attribute)
            axes[node.input[1]] = 0 if turned else 1
    return axes

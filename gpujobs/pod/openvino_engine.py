"""The encoder in bfloat16 on processors that multiply it: the same file and the same face as engine.py, by OpenVINO.

A model asks for it by `"kind": "openvino"` in the engine block of its manifest. Without the package `openvino` or on a
processor without bfloat16, engine.py reads the same file in fp32: slower, and a logit may differ by some hundredths.
Rows are padded to multiples of 32: then every row is computed by the same steps in the same order whatever stands
beside it, and its score is its own to the last bit. With other lengths the kernels' remainders would depend on the
longest row of the batch.

May be imported by: score.py. Imports: numpy, engine.py; openvino only where it is asked for.
"""

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gpujobs.pod.engine import TOKENS, Logits, batches

PADDING = 32  # tokens
BATCH_TOKENS = 1024  # padded tokens in one run: OpenVINO is as fast on one row as on many


class OpenVinoEngine:
    """One loaded ONNX model, computed in bfloat16."""

    def __init__(self, path: Path, pad: int, threads: int) -> None:
        openvino = importlib.import_module("openvino")
        passes = importlib.import_module("openvino.passes")
        core = openvino.Core()
        network = core.read_model(str(path))
        # Stored matrices become fp32 once and are then rounded to bfloat16; left as int8 they would be multiplied by
        # rounded scales, which moves logits half as far again.
        folding = passes.Manager()
        folding.register_pass(passes.ConstantFolding())
        folding.run_passes(network)
        facts = {"INFERENCE_PRECISION_HINT": "bf16", "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
        model = core.compile_model(network, "CPU", facts)
        self._outputs = [name for output in model.outputs for name in output.names]
        self._request: Any = model.create_infer_request()
        self._pad = pad

    def logits(self, inputs: Sequence[Sequence[int]]) -> list[Logits]:
        """The logits of each row of token ids, in the order given."""
        order = sorted(range(len(inputs)), key=lambda i: len(inputs[i]))
        found: dict[int, Logits] = {}
        for chosen in batches([padded(len(inputs[i])) for i in order], BATCH_TOKENS):
            rows = [order[i] for i in chosen]
            found.update(zip(rows, self._run([inputs[i] for i in rows]), strict=True))
        return [found[i] for i in range(len(inputs))]

    def _run(self, rows: Sequence[Sequence[int]]) -> list[Logits]:
        shape = len(rows), padded(max(len(row) for row in rows))
        ids: npt.NDArray[np.int64] = np.full(shape, self._pad, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        answer = self._request.infer({"ids": ids, "mask": mask})
        # Its arrays are its own memory, and are written over by the next run.
        found = {name: np.array(answer[name], dtype=np.float32) for name in self._outputs}
        tokens = found.get(TOKENS)
        return [
            Logits(float(logit), None if tokens is None else tokens[i, : len(row)])
            for i, (logit, row) in enumerate(zip(found["logits"], rows, strict=True))
        ]


def padded(length: int) -> int:
    """The length that a row of so many tokens is brought to."""
    return -(-length // PADDING) * PADDING


def is_at_home() -> bool:
    """Whether OpenVINO is installed and this processor multiplies in bfloat16."""
    if importlib.util.find_spec("openvino") is None:
        return False
    core = importlib.import_module("openvino").Core()
    return "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")

"""Runs the exported encoder on a CPU: token ids to logits of text and tokens, in length-sorted batches of bounded size.

May be imported by: score.py. Imports: onnxruntime, numpy (extra `cpu`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

BATCH_TOKENS = 2048  # padded tokens in one run; more brings no speed on two cores and costs memory
TOKENS = "tokens"  # the output that models of before it lack


@dataclass(frozen=True, slots=True)
class Logits:
    """document: of the whole input.  tokens: (T,), special tokens included; None where the model has no such head."""

    document: float
    tokens: npt.NDArray[np.float32] | None


class Engine:
    """One loaded ONNX model."""

    def __init__(self, path: Path, pad: int, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Weights become fp32 once, at load: left in place they would be dequantised at every run, and
        # products with quantised activations would make a score depend on the batch.
        options.add_session_config_entry("session.disable_quant_qdq", "1")
        # Waiting threads that spin take the cores of the rest of the house.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._outputs = [output.name for output in self._session.get_outputs()]
        self._pad = pad

    def logits(self, inputs: Sequence[Sequence[int]]) -> list[Logits]:
        """The logits of each row of token ids, in the order given."""
        order = sorted(range(len(inputs)), key=lambda i: len(inputs[i]))
        found: dict[int, Logits] = {}
        for chosen in batches([len(inputs[i]) for i in order]):
            rows = [order[i] for i in chosen]
            found.update(zip(rows, self._run([inputs[i] for i in rows]), strict=True))
        return [found[i] for i in range(len(inputs))]

    def _run(self, rows: Sequence[Sequence[int]]) -> list[Logits]:
        shape = len(rows), max(len(row) for row in rows)
        ids = np.full(shape, self._pad, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        found = dict(zip(self._outputs, self._session.run(self._outputs, {"ids": ids, "mask": mask}), strict=True))
        tokens = found.get(TOKENS)
        return [
            Logits(float(logit), None if tokens is None else tokens[i, : len(row)])
            for i, (logit, row) in enumerate(zip(found["logits"], rows, strict=True))
        ]


def batches(lengths: Sequence[int], budget: int = BATCH_TOKENS) -> list[range]:
    """Cuts rows of ascending length into runs whose padded size stays within the budget (one row always
    fits).
    """
    found, start = [], 0
    for i, length in enumerate(lengths):
        if i > start and (i - start + 1) * length > budget:
            found.append(range(start, i))
            start = i
    if lengths:
        found.append(range(start, len(lengths)))
    return found

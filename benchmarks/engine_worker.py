"""One engine in a process of its own, so that its memory is its own: a line of JSON in, a line of JSON out.

    python -m benchmarks.engine_worker KIND MODEL.onnx THREADS

KIND: `onnxruntime`, `onnxruntime-fp32` (quantised files computed in fp32), `openvino-f32` or `openvino-bf16`. A request
names a file of padded batches, and where to write the logits. Imports nothing that needs a package of the house:
it also runs in a virtual environment that has only the engine.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.processes import peak_mb

Infer = Callable[[dict[str, npt.NDArray[np.int64]]], npt.NDArray[np.float32]]


def onnx_runtime(path: str, threads: int, *, fp32: bool) -> Infer:
    """As gpujobs.pod.engine opens it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if fp32:
        options.add_session_config_entry("session.disable_quant_qdq", "1")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(["logits"], feeds)[0]


def openvino(path: str, threads: int, precision: str) -> Infer:
    """precision: of what isn't quantised, `f32` or `bf16`."""
    openvino = importlib.import_module("openvino")  # not a dependency: only here where somebody wants to compare
    facts = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
    request = openvino.Core().compile_model(path, "CPU", facts).create_infer_request()
    return lambda feeds: request.infer(feeds)["logits"].copy()


def answer(infer: Infer, request: dict[str, Any]) -> dict[str, Any]:
    """Runs all batches of a file. wall_s and cpu_s: of the runs alone, cpu_s over all threads."""
    held = np.load(request["batches"])
    feeds = [{name: held[f"{name}{i}"] for name in ("ids", "mask")} for i in range(len(held.files) // 2)]
    wall, cpu = time.perf_counter(), time.process_time()
    logits = [infer(each) for each in feeds]
    found = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    np.save(request["logits"], np.concatenate(logits))
    return found | {"peak_mb": peak_mb()}


def main() -> None:
    kind, path, threads = sys.argv[1:]
    wall, cpu = time.perf_counter(), time.process_time()
    if kind.startswith("openvino"):
        infer = openvino(path, int(threads), kind.removeprefix("openvino-"))
    else:
        infer = onnx_runtime(path, int(threads), fp32=kind.endswith("-fp32"))
    loaded = {"load_s": time.perf_counter() - wall, "load_cpu_s": time.process_time() - cpu}
    print(json.dumps(loaded), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(infer, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

"""The files that `make bench-kinds` compares: one exported encoder in every form that an engine may want."""

import json
import subprocess
from pathlib import Path

import onnx

from gpujobs.pod.quantise import restored, static

HEADS, HIDDEN = 12, 384  # of multilingual-e5-small
NNCF_INPUTS = 100


def fused(source: Path, target: Path) -> None:
    """`source` with attention fused into one node each, as onnxruntime's own tool does it for a BERT.

    Its fused layer norms are left out: they were slower than the plain ones on CPUs.
    """
    from onnxruntime.transformers import optimizer
    from onnxruntime.transformers.fusion_options import FusionOptions

    options = FusionOptions("bert")
    options.use_multi_head_attention = True  # an `Attention` node keeps its matrices from being quantised
    options.enable_skip_layer_norm = options.enable_bias_skip_layer_norm = options.enable_embed_layer_norm = False
    made = optimizer.optimize_model(
        str(source), "bert", num_heads=HEADS, hidden_size=HIDDEN, optimization_options=options
    )
    made.save_model_to_file(str(target))


def dynamic(source: Path, target: Path) -> None:
    """`source` with ranges taken from each batch: only for comparison, since a score then depends on its batch."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        str(source), str(target), op_types_to_quantize=["MatMul"], per_channel=True, weight_type=QuantType.QInt8
    )


NNCF = """
import json, sys
import nncf, numpy as np, openvino
source, target, inputs = sys.argv[1:]
rows = json.load(open(inputs))
feed = lambda row: {"ids": np.array([row]), "mask": np.ones((1, len(row)), dtype=np.int64)}
model = openvino.Core().read_model(source)
made = nncf.quantize(model, nncf.Dataset(rows, feed), model_type=nncf.ModelType.TRANSFORMER, subset_size=len(rows))
openvino.save_model(made, target)
"""


def build(encoder: Path, folder: Path, inputs: list[list[int]], pad: int, other: str) -> None:
    """Writes every engine's file into `folder`, unless it is there already."""

    def missing(name: str) -> bool:
        return not (folder / name).exists()

    fp32 = folder / "fp32.onnx"
    if missing("fp32.onnx"):
        onnx.save(restored(onnx.load(str(encoder))), str(fp32))
    if missing("static.onnx"):
        static(encoder, folder / "static.onnx", inputs, pad)
    if missing("fused.onnx"):
        fused(fp32, folder / "fused.onnx")
    if missing("fused-static.onnx"):
        static(folder / "fused.onnx", folder / "fused-static.onnx", inputs, pad)
    if missing("dynamic.onnx"):
        dynamic(fp32, folder / "dynamic.onnx")
    if other and missing("nncf.xml"):
        (folder / "inputs.json").write_text(json.dumps(inputs[:: max(1, len(inputs) // NNCF_INPUTS)]), encoding="utf-8")
        files = [str(folder / name) for name in ("fp32.onnx", "nncf.xml", "inputs.json")]
        subprocess.run([other, "-c", NNCF, *files], check=True, stdout=subprocess.DEVNULL)

"""A shipped model folder -> a folder that transformers loads as a sequence classifier: the merged encoder and its
document head, read out of the ONNX file, so that a fresh clone has all it takes.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

from gpujobs.pod.quantise import restored

CLASS_FILE = Path(__file__).with_name("mean_bert.py")
CLASS = "MeanBertForSequenceClassification"  # its last two words are how Infinity knows a classifier
LABELS = ("human", "ai")  # the route serves two classes or more: the softmax of (0, logit) is our sigmoid
Arrays = dict[str, npt.NDArray[np.float32]]


def write(shipped: Path, target: Path) -> None:
    """Writes `target` anew."""
    facts = json.loads((shipped / "manifest.json").read_text(encoding="utf-8"))["engine"]
    model = restored(onnx.load(str(shipped / facts["encoder"])))
    arrays = weights(model.graph)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    save_file(arrays, target / "model.safetensors", metadata={"format": "pt"})
    _write_json(target / "config.json", config(model.graph, arrays, facts))
    _write_json(target / "tokenizer.json", _tokenizer(shipped / facts["tokenizer"], facts))
    special = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    special |= {"pad_token": "<pad>", "unk_token": "<unk>"}
    named = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": facts["window_tokens"]}
    _write_json(
        target / "tokenizer_config.json", named | special | {"model_input_names": ["input_ids", "attention_mask"]}
    )
    shutil.copy(CLASS_FILE, target)


def weights(graph: onnx.GraphProto) -> Arrays:
    """Every weight under the name that the class gives it. Biases, norms and tables keep their names in the file;
    matrices lost theirs, and are known by the node that multiplies by them.
    """
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    found: Arrays = {}
    for name, values in stored.items():
        if name.startswith("encoder."):
            found["bert." + name.removeprefix("encoder.")] = values
        elif name.startswith("head."):
            found[name] = np.concatenate([np.zeros_like(values), values])
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in stored and node.name.startswith("/encoder/"):
            module = node.name.removeprefix("/encoder/").removesuffix("/MatMul").replace("/", ".")
            found[f"bert.{module}.weight"] = stored[node.input[1]].T
    return {name: np.ascontiguousarray(values, dtype=np.float32) for name, values in found.items()}


def config(graph: onnx.GraphProto, arrays: Arrays, facts: dict[str, Any]) -> dict[str, Any]:
    """What BertConfig wants, out of the weights' shapes and the graph."""
    words, hidden = arrays["bert.embeddings.word_embeddings.weight"].shape
    inner = arrays["bert.encoder.layer.0.intermediate.dense.bias"].shape[0]
    norm = next(node for node in graph.node if node.op_type == "LayerNormalization")
    return {
        "model_type": "bert",
        "architectures": [CLASS],
        "auto_map": {"AutoModelForSequenceClassification": f"{CLASS_FILE.stem}.{CLASS}"},
        "vocab_size": words,
        "hidden_size": hidden,
        "num_hidden_layers": sum(name.endswith("intermediate.dense.bias") for name in arrays),
        "num_attention_heads": heads(graph, hidden),
        "intermediate_size": inner,
        "max_position_embeddings": arrays["bert.embeddings.position_embeddings.weight"].shape[0],
        "type_vocab_size": arrays["bert.embeddings.token_type_embeddings.weight"].shape[0],
        "layer_norm_eps": next(a.f for a in norm.attribute if a.name == "epsilon"),
        "pad_token_id": facts["pad_id"],
        "id2label": {str(number): label for number, label in enumerate(LABELS)},
        "label2id": {label: number for number, label in enumerate(LABELS)},
    }


def heads(graph: onnx.GraphProto, hidden: int) -> int:
    """How many attention heads: products are scaled by the root of a head's width, or by the root of that root on
    both sides.
    """
    constants = [numpy_helper.to_array(a.t) for n in graph.node if n.op_type == "Constant" for a in n.attribute]
    scales = {float(c) for c in constants if c.size == 1 and c.dtype == np.float32}
    for number in range(1, hidden + 1):
        width = hidden / number
        wanted = (width**0.5, width**-0.5, width**0.25, width**-0.25)
        if hidden % number == 0 and any(abs(s - w) < 1e-6 * w for s in scales for w in wanted if w != 1):
            return number
    raise ValueError("the file does not say how many attention heads there are")


def _tokenizer(path: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """The tokenizer's file with the two special tokens that the scorer puts around a window by itself."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    around = [("<s>", facts["first_id"]), ("</s>", facts["last_id"])]
    first, last = ({"SpecialToken": {"id": name, "type_id": 0}} for name, _ in around)
    found["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [first, {"Sequence": {"id": "A", "type_id": 0}}, last],
        "pair": [first, {"Sequence": {"id": "A", "type_id": 0}}, last, {"Sequence": {"id": "B", "type_id": 0}}, last],
        "special_tokens": {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in around},
    }
    return found


def _write_json(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values), encoding="utf-8")

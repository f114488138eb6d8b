"""Raw logits of held-out texts, kept in a file: another calibration needs no second pass of the encoder.

May be imported by: packaging. Imports: score and what it needs (extra `cpu`).
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from gpujobs.pod import manifest
from gpujobs.pod.dataset import Row
from gpujobs.pod.score import DEFAULT_THREADS, Raw, Reader, load_parts
from gpujobs.pod.windows import Window

# What raw logits come from: a model has those of its engine.
TORCH_FILES = ("adapter_config.json", "adapter_model.safetensors", "heads.safetensors")
SCORING_FILES = ("encoder.onnx", *TORCH_FILES, "tokenizer.json", "ngrams.npz")
READ_TOGETHER = 64  # texts scored between two movements of the progress bar
CODE = ("score.py", "engine.py", "openvino_engine.py", "windows.py", "segments.py", "ngrams.py")


def read_raws(parts: Path, engine_facts: dict[str, Any], rows: Sequence[Row], cache: Path) -> dict[str, Raw]:
    """Raw logits of every row, kept in `cache`, so that another calibration needs no second pass of the
    encoder.
    """
    found: dict[str, Raw] = {}
    stamp = _stamp([parts / name for name in SCORING_FILES], engine_facts)
    if cache.exists():
        for line in cache.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["of"] == stamp:
                found[record["id"]] = _raw(record)
    tokenizer, engine, ngrams = load_parts(parts, engine_facts, DEFAULT_THREADS)
    reader = Reader(tokenizer, engine, ngrams, engine_facts)
    left = sorted((row for row in rows if row.id not in found), key=lambda row: len(row.text))
    with (
        cache.open("a", encoding="utf-8") as file,
        tqdm(total=len(left), desc="scoring", mininterval=5) as bar,
    ):
        for start in range(0, len(left), READ_TOGETHER):
            chosen = left[start : start + READ_TOGETHER]
            for row, raw in zip(chosen, reader.read([(r.text, r.language) for r in chosen]), strict=True):
                found[row.id] = raw
                file.write(json.dumps({"of": stamp, "id": row.id, **_record(raw)}) + "\n")
            bar.update(len(chosen))
    return found


def _stamp(parts: Sequence[Path], engine_facts: dict[str, Any]) -> str:
    """Names what raw logits depend on: the parts, and the code that cuts texts and runs them."""
    code = Path(__file__).parent
    rules = [code / name for name in CODE]
    files = [*parts, *rules, *sorted((code / "shared").glob("*.py"))]
    hashes = [manifest.sha256(f) for f in files if f.exists()]
    return hashlib.sha256(json.dumps([hashes, engine_facts], sort_keys=True).encode()).hexdigest()[:16]


def _record(raw: Raw) -> dict[str, Any]:
    windows = [[w.start, w.end, w.first, w.last] for w in raw.windows]
    return {"w": windows, "e": raw.encoder, "n": raw.ngrams, "words": raw.words, "tokens": raw.tokens}


def _raw(record: dict[str, Any]) -> Raw:
    windows = tuple(Window(*w) for w in record["w"])
    return Raw(windows, tuple(record["e"]), tuple(record["n"]), tuple(record["words"]), record["tokens"])

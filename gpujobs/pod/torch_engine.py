"""Runs the trained network itself, base and LoRA adapter, on a GPU: token ids to logits, as engine.py does on a CPU.

A model folder for it holds, beside tokenizer and n-grams, `adapter_config.json`, `adapter_model.safetensors` and
`heads.safetensors`; the base is named by its manifest, because it is too large to be kept once a version:

    "engine": {"kind": "torch", "base": hub id or folder, "revision": commit, "base_files": {name: SHA-256}, …}

Adapters are merged at load. On CUDA weights and activations are bf16 (heads and pooling fp32), and attention goes
through the fused DeBERTa kernels of the package disentangled-flash where it is installed and agrees with the plain one
to `FUSED_TOLERANCE`; everywhere else it is plain fp32. Written by `save_parts` after a training.
May be imported by: score.py and handler.py (lazily), train.py. Extra: `train`.
"""

import ctypes
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from peft import PeftModel
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModel

from gpujobs.pod import manifest
from gpujobs.pod.engine import Logits, batches
from gpujobs.pod.model import Detector

HEADS = "heads.safetensors"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")  # of a base; it has one of them
BATCH_TOKENS = {"cuda": 32_768, "cpu": 2048}  # padded tokens in one run
ROUND_TOKENS = 32  # rows are padded to a multiple on CUDA: few shapes to choose and warm kernels for
FUSED_TOLERANCE = 1e-2  # of a logit
WARM_SHAPES = ((1, 64), (1, 256), (8, 256), (64, 128), (128, 256))  # rows, tokens: what real batches look like


class TorchEngine:
    """One loaded detector, merged. Use `TorchEngine.load`."""

    def __init__(self, detector: Detector, pad: int, longest: int, device: str, *, fuse: bool = True) -> None:
        """longest: tokens of the longest row that `logits` will be given."""
        self._detector = detector.eval().to(device)
        self._pad, self._longest, self._device = pad, longest, device
        self._step = ROUND_TOKENS if device == "cuda" else 1
        self._fused = False
        if device == "cuda":
            self._detector.encoder.to(torch.bfloat16)
            if fuse and importlib.util.find_spec("disentangled_flash"):
                from disentangled_flash import optimize_deberta  # type: ignore[import-untyped,import-not-found,unused-ignore]

                say(f"fused attention: {self.fuse(optimize_deberta) or 'in use'}")
            self._warm()

    @classmethod
    def load(cls, folder: Path, facts: Mapping[str, Any], device: str = "") -> "TorchEngine":
        """From a model folder and the `engine` block of its manifest.

        device: cuda, cpu, or as INKCLOAK_DEVICE says, or the best there is.

        Raises manifest.ManifestError when the base is not the one that was tuned, OSError when it is not here.
        """
        detector = load_detector(folder, facts)
        chosen = device or os.environ.get("INKCLOAK_DEVICE") or ("cuda" if torch.cuda.is_available() else "cpu")
        return cls(detector, int(facts["pad_id"]), int(facts["window_tokens"]), chosen)

    def logits(self, inputs: Sequence[Sequence[int]]) -> list[Logits]:
        """The logits of each row of token ids, in the order given."""
        order = sorted(range(len(inputs)), key=lambda i: len(inputs[i]))
        found: dict[int, Logits] = {}
        for chosen in batches([self._rounded(len(inputs[i])) for i in order], BATCH_TOKENS[self._device]):
            rows = [order[i] for i in chosen]
            found.update(zip(rows, self._run([inputs[i] for i in rows]), strict=True))
        return [found[i] for i in range(len(inputs))]

    @torch.inference_mode()
    def _run(self, rows: Sequence[Sequence[int]]) -> list[Logits]:
        longest = self._rounded(max(len(row) for row in rows))
        ids = torch.full((len(rows), longest), self._pad, dtype=torch.int64)
        lengths = torch.tensor([len(row) for row in rows])
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
        mask = (torch.arange(longest) < lengths[:, None]).to(torch.int64)
        document, tokens = self._forward(ids.to(self._device), mask.to(self._device))
        whole = tokens.cpu().numpy()
        return [
            Logits(logit, whole[i, : len(row)])
            for i, (logit, row) in enumerate(zip(document.tolist(), rows, strict=True))
        ]

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Detector.forward with an encoder of lower precision than pooling and heads.

        ids, mask: (B, T).  Returns (B,) and (B, T), float32.
        """
        if self._fused:
            self._detector.encoder.encoder.activate_shape(ids.shape[1])
        hidden = self._detector.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()  # (B, T, H)
        weights = mask.unsqueeze(-1).float()  # (B, T, 1)
        pooled = (hidden * weights).sum(1) / weights.sum(1)  # (B, H)
        return self._detector.head(pooled).squeeze(-1), self._detector.token_head(hidden).squeeze(-1)

    def _rounded(self, length: int) -> int:
        return -(-length // self._step) * self._step

    def fuse(self, optimise: Callable[..., nn.Module]) -> str:
        """Puts fused attention into the encoder. Answers why not, where it raises or gives other logits: then the plain
        one stays.

        optimise: disentangled_flash.optimize_deberta, which prepares each length that a batch may be padded to.
        """
        encoder = self._detector.encoder
        plain, step = encoder.encoder, self._step
        rows = self._made_up_rows()
        before = [found.document for found in self.logits(rows)]
        try:
            lengths = range(ROUND_TOKENS, self._longest + ROUND_TOKENS, ROUND_TOKENS)
            optimise(encoder, sequence_lengths=tuple(lengths))
            self._fused, self._step = True, ROUND_TOKENS
            after = [found.document for found in self.logits(rows)]
            apart = max(abs(a - b) for a, b in zip(before, after, strict=True))
            if apart <= FUSED_TOLERANCE:
                return ""
            reason = f"logits differ by {apart:.3g}"
        except Exception as error:  # noqa: BLE001 - kernels fail in many ways, and the plain path always works
            reason = type(error).__name__
        encoder.encoder, self._fused, self._step = plain, False, step
        return reason

    def _made_up_rows(self) -> list[list[int]]:
        """Rows of all lengths: nobody's text."""
        vocabulary = self._detector.encoder.get_input_embeddings().num_embeddings
        generator = torch.Generator().manual_seed(1)
        lengths = [max(1, self._longest * part // 8) for part in range(1, 9)]
        return [torch.randint(vocabulary, (length,), generator=generator).tolist() for length in lengths]

    def _warm(self) -> None:
        """CUDA loads and chooses kernels at the first use of a shape: before the first customer."""
        for count, length in WARM_SHAPES:
            self._run([[self._pad] * min(length, self._longest)] * count)
        torch.cuda.synchronize()


def load_detector(folder: Path, facts: Mapping[str, Any]) -> Detector:
    """Base, adapter merged into it, and heads, in fp32 on the CPU."""
    base = AutoModel.from_pretrained(base_folder(facts), dtype=torch.float32, attn_implementation="eager")
    encoder = PeftModel.from_pretrained(base, str(folder)).merge_and_unload()
    detector = Detector(encoder, encoder.config.hidden_size)
    state = load_file(folder / HEADS)
    for name, head in (("head", detector.head), ("token_head", detector.token_head)):
        head.load_state_dict({part: state[f"{name}.{part}"] for part in ("weight", "bias")})
    return detector.eval()


def base_folder(facts: Mapping[str, Any]) -> Path:
    """Where the base lies: a folder, or a hub snapshot (baked into the image). Raises ManifestError on other hashes."""
    name = str(facts["base"])
    folder = Path(name) if Path(name).is_dir() else Path(snapshot_download(name, revision=facts.get("revision")))
    for file, wanted in dict(facts.get("base_files") or {}).items():
        if manifest.sha256(folder / file) != wanted:
            raise manifest.ManifestError(f"the base's {file} is not the one that was tuned")
    return folder


def save_parts(detector: Detector, folder: Path, base: str) -> dict[str, Any]:
    """Writes what `load_detector` reads of a trained detector, whose adapters must not be merged yet.

    base: hub id or folder that it was tuned from.  Returns the manifest's lines about it: the base's commit, and the
    hash of its weights.
    """
    folder.mkdir(parents=True, exist_ok=True)
    detector.encoder.save_pretrained(str(folder), save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)  # peft's card; packaging writes ours
    heads = {"head": detector.head, "token_head": detector.token_head}
    state = {f"{name}.{part}": value for name, head in heads.items() for part, value in head.state_dict().items()}
    save_file({name: value.detach().cpu().contiguous() for name, value in state.items()}, folder / HEADS)
    revision = getattr(detector.encoder.config, "_commit_hash", None)
    lines = {"kind": "torch", "base": base, "revision": revision}
    files = {f.name: manifest.sha256(f) for f in sorted(base_folder(lines).glob("*")) if f.name in WEIGHTS}
    return {**lines, "base_files": files}


def check_driver() -> None:
    """Raises RuntimeError when this image's torch cannot work with the host's driver; nothing without a GPU wanted."""
    wanted = os.environ.get("INKCLOAK_DEVICE", "")
    if wanted == "cpu" or (not wanted and not torch.version.cuda):
        return
    problem = driver_problem(torch.version.cuda, driver_version())
    if not problem and not torch.cuda.is_available():
        problem = "no GPU answers"
    if problem and wanted == "cuda":
        raise RuntimeError(problem)
    if problem:
        say(f"on the CPU: {problem}")


def driver_problem(built_for: str | None, driver: int | None) -> str:
    """Why torch built for CUDA `built_for` ("12.8") can't use a driver of `driver` (12040 = 12.4); empty if it can.

    Within a major version any driver will do (CUDA's minor version compatibility, since 11).
    """
    if built_for is None:
        return "torch is built without CUDA"
    if driver is None:
        return "there is no NVIDIA driver"
    if driver // 1000 < int(built_for.split(".")[0]):
        return f"torch is built for CUDA {built_for}, the driver knows {driver // 1000}.{driver % 1000 // 10}"
    return ""


def driver_version() -> int | None:
    """The newest CUDA that the installed driver knows, as 1000 * major + 10 * minor; None without a driver."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    version = ctypes.c_int()
    return version.value if library.cuDriverGetVersion(ctypes.byref(version)) == 0 else None


def say(line: str) -> None:
    """Into the worker's log."""
    print(line, file=sys.stderr, flush=True)

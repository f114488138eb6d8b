"""Base and adapter by manifest: the served network is the trained one, and faster attention must earn its place."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tiny
import torch
from disentangled_flash import optimize_deberta
from torch import nn
from transformers.modeling_outputs import BaseModelOutput

from gpujobs.pod import handler, manifest, torch_engine
from gpujobs.pod.contract import ScoreRequest, TextIn
from gpujobs.pod.model import Detector, build, collate
from gpujobs.pod.torch_engine import TorchEngine, driver_problem, save_parts

TARGETS = ("query_proj", "key_proj", "value_proj", "dense")
ROWS = [[2, *range(4, 4 + n), 3] for n in (3, 17, 1, 9, 30)]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny.base(tmp_path_factory.mktemp("base"), kind="deberta")


@pytest.fixture(scope="module")
def trained(base: str, tmp_path_factory: pytest.TempPathFactory) -> Detector:
    """A detector whose adapters and heads are not what they start as."""
    torch.manual_seed(1)
    detector, _ = build(tiny.recipe(base, targets=TARGETS), [], tmp_path_factory.mktemp("cache"))
    with torch.no_grad():
        for name, value in detector.named_parameters():
            if "lora_B" in name or "head" in name:
                value.normal_(std=0.2)
    return detector.eval()


@pytest.fixture
def folder(base: str, trained: Detector, tmp_path: Path) -> Path:
    """A whole model folder: the shipped one's rules, and another engine."""
    facts = manifest.read(handler.SHIPPED, verify=False)
    network = save_parts(trained, tmp_path, base)
    (tmp_path / "tokenizer.json").write_bytes((Path(base) / "tokenizer.json").read_bytes())
    assert network["base_files"] == {"model.safetensors": manifest.sha256(Path(base) / "model.safetensors")}
    engine = {**network, "tokenizer": "tokenizer.json", "pad_id": 0, "first_id": 2, "last_id": 3, "window_tokens": 64}
    manifest.write(tmp_path, {**facts, "model": "tiny", "engine": engine})
    return tmp_path


def plain(trained: Detector) -> list[tuple[float, torch.Tensor]]:
    """What the trained network says, one row at a time, adapters unmerged."""
    with torch.inference_mode():
        found = [trained(*collate([row], 0, torch.device("cpu"))) for row in ROWS]
    return [(document.item(), tokens[0]) for document, tokens in found]


def loaded(folder: Path) -> TorchEngine:
    return TorchEngine.load(folder, manifest.read(folder)["engine"], "cpu")


def test_it_gives_the_logits_of_the_trained_network(trained: Detector, folder: Path) -> None:
    expected = plain(trained)
    found = loaded(folder).logits(ROWS)
    assert len({round(document, 3) for document, _ in expected}) == len(ROWS)  # adapters and heads do something
    for one, (document, tokens) in zip(found, expected, strict=True):
        assert one.document == pytest.approx(document, abs=1e-4)
        assert one.tokens == pytest.approx(tokens.numpy(), abs=1e-4)


def test_it_serves_as_any_other_model(folder: Path) -> None:
    model = handler.load(folder)
    words = " ".join(tiny.AI) + ". " + " ".join(tiny.HUMAN) + "."
    (text,) = model.score(ScoreRequest("run", 1, model.model_version, (TextIn("a", words, "en"),))).texts
    assert (text.error, text.windows[-1].end) == ("", len(words))


def test_it_ships_no_base(folder: Path) -> None:
    files = {"adapter_config.json", "adapter_model.safetensors", "heads.safetensors", "tokenizer.json"}
    assert set(manifest.read(folder)["files"]) == files


def test_it_refuses_another_base(folder: Path) -> None:
    facts = manifest.read(folder)["engine"] | {"base_files": {"model.safetensors": "0" * 64}}
    with pytest.raises(manifest.ManifestError, match="not the one that was tuned"):
        TorchEngine.load(folder, facts, "cpu")


class Wrapped(nn.Module):
    """Fused attention as a package would put it in, off by `off`."""

    def __init__(self, inner: nn.Module, off: float) -> None:
        super().__init__()
        self.inner, self.off, self.active = inner, off, 0

    def activate_shape(self, length: int) -> None:
        self.active = length

    def forward(self, *args: Any, **options: Any) -> Any:
        found = self.inner(*args, **options)
        *first, last = found.hidden_states
        assert last.shape[1] == self.active
        return BaseModelOutput(last_hidden_state=last + self.off, hidden_states=(*first, last + self.off))


@pytest.mark.parametrize(("off", "kept"), [(0.0, True), (1e-5, True), (0.5, False)])
def test_it_takes_fused_attention_that_agrees(folder: Path, off: float, kept: bool) -> None:
    engine = loaded(folder)
    before = engine.logits(ROWS)

    def optimise(encoder: Any, *, sequence_lengths: tuple[int, ...]) -> None:
        assert sequence_lengths == (32, 64)
        encoder.encoder = Wrapped(encoder.encoder, off)

    reason = engine.fuse(optimise)
    assert (reason == "") == kept
    assert isinstance(engine._detector.encoder.encoder, Wrapped) == kept
    for one, other in zip(engine.logits(ROWS), before, strict=True):
        assert one.document == pytest.approx(other.document, abs=torch_engine.FUSED_TOLERANCE)


def test_it_works_with_the_package_that_fuses(folder: Path) -> None:
    """Its formulas without its kernels, which need a GPU."""
    engine = loaded(folder)
    before = engine.logits(ROWS)
    assert engine.fuse(partial(optimize_deberta, backend="torch")) == ""
    assert type(engine._detector.encoder.encoder).__name__ == "DebertaV2OptimizedEncoder"
    for one, other in zip(engine.logits(ROWS), before, strict=True):
        assert one.document == pytest.approx(other.document, abs=1e-4)
        assert one.tokens == pytest.approx(other.tokens, abs=1e-4)


def test_it_survives_fused_attention_that_fails(folder: Path) -> None:
    engine = loaded(folder)

    def optimise(encoder: Any, **_options: Any) -> None:
        encoder.encoder = nn.Identity()
        raise RuntimeError("no kernel for this card")

    assert engine.fuse(optimise) == "RuntimeError"
    assert len(engine.logits(ROWS)) == len(ROWS)


@pytest.mark.parametrize(
    ("built", "driver", "problem"),
    [
        ("12.8", 12_040, ""),
        ("12.8", 13_000, ""),
        ("13.0", 12_090, "torch is built for CUDA 13.0, the driver knows 12.9"),
        ("12.8", 11_080, "torch is built for CUDA 12.8, the driver knows 11.8"),
        (None, 12_040, "torch is built without CUDA"),
        ("12.8", None, "there is no NVIDIA driver"),
    ],
)
def test_it_tells_a_driver_that_is_too_old(built: str | None, driver: int | None, problem: str) -> None:
    assert driver_problem(built, driver) == problem


def test_it_ends_a_gpu_worker_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INKCLOAK_DEVICE", "cpu")
    torch_engine.check_driver()
    monkeypatch.setenv("INKCLOAK_DEVICE", "cuda")
    monkeypatch.setattr(torch_engine, "driver_version", lambda: None)
    with pytest.raises(RuntimeError):
        torch_engine.check_driver()

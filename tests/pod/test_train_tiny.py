"""A whole training in seconds: from texts to a folder that serves, stopped and resumed, on both kinds of encoder."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import tiny
import torch

from gpujobs.pod import checkpoint
from gpujobs.pod.contract import ScoreRequest, TextIn
from gpujobs.pod.crops import CropSource
from gpujobs.pod.dataset import Row, data_hash
from gpujobs.pod.loop import Loop, Stopped, rate
from gpujobs.pod.model import build, trainable
from gpujobs.pod.recipe import Recipe, read_recipe
from gpujobs.pod.score import Scorer
from gpujobs.pod.train import encode, special_ids, train

RECIPES = Path(__file__).parents[2] / "gpujobs" / "pod" / "recipes"


def loop_of(recipe: Recipe, rows: list[Row], out: Path) -> Loop:
    torch.manual_seed(recipe.training.seed)
    detector, base = build(recipe, [], out)
    specials = special_ids(base.tokenizer)
    around = specials["first_id"], specials["last_id"]
    source = CropSource(rows, recipe.data, recipe.training, lambda texts: encode(base.tokenizer, texts), around)
    out.mkdir(exist_ok=True)
    return Loop(detector, source, recipe, data_hash(rows), out, specials["unknown"], specials["pad_id"])


@pytest.mark.parametrize(
    ("kind", "engine", "targets"),
    [("bert", "onnxruntime", ("query", "value")), ("deberta", "torch", ("query_proj", "value_proj"))],
)
def test_it_trains_packages_and_serves(tmp_path: Path, kind: str, engine: str, targets: tuple[str, ...]) -> None:
    base, rows = tiny.base(tmp_path / "base", kind), tiny.rows()
    recipe = tiny.recipe(base, steps=60, engine=engine, targets=targets)
    version = train(recipe, rows, tmp_path / "run", resume=False, bases=tmp_path)
    scorer = Scorer.load(tmp_path / "run" / "model")
    assert scorer.model_version == version
    assert scorer.manifest["engine"]["kind"] == engine
    figures = json.loads((tmp_path / "run" / "model" / "metrics.json").read_text())
    assert figures["model"]["en out-of-domain"]["overall"]["auroc"] > 0.9
    assert figures["baseline"]["en out-of-domain"]["n"] == figures["model"]["en out-of-domain"]["overall"]["n"]
    chosen = [r for r in rows if r.part == "ood_report"]
    texts = tuple(TextIn(r.id, r.text, "en") for r in chosen)
    answer = scorer.score(ScoreRequest("run", 1, version, texts))
    told = [t.probability for t in answer.texts]
    mean = {label: sum(p for p, r in zip(told, chosen, strict=True) if r.label == label) for label in (0, 1)}
    assert mean[1] > mean[0]


@pytest.mark.parametrize("average", [0.9, 0.0])
def test_it_resumes_to_the_same_weights(tmp_path: Path, average: float) -> None:
    plain = tiny.recipe(tiny.base(tmp_path / "base"), steps=12, look=5)
    recipe = Recipe(plain.model, plain.data, replace(plain.training, average_decay=average), plain.ngrams)
    rows = [r for r in tiny.rows(training=30) if not r.part]
    whole = loop_of(recipe, rows, tmp_path / "whole")
    whole.run()
    stopped = loop_of(recipe, rows, tmp_path / "parts")
    with pytest.raises(Stopped):
        stopped.run(lambda _detector, step: os.kill(os.getpid(), signal.SIGTERM) or {} if step == 5 else {})
    resumed = loop_of(recipe, rows, tmp_path / "parts")
    resumed.resume()
    resumed.run()
    for name, value in trainable(whole.detector).items():
        assert torch.equal(value, trainable(resumed.detector)[name]), name


def test_it_gives_signals_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    loop_of(tiny.recipe(tiny.base(tmp_path / "base"), steps=1), tiny.rows(training=8), tmp_path / "run").run()
    assert signal.getsignal(signal.SIGTERM) is before


def test_it_refuses_a_checkpoint_of_another_recipe_or_other_data(tmp_path: Path) -> None:
    recipe, rows = tiny.recipe(tiny.base(tmp_path / "base"), steps=2), tiny.rows(training=20)
    loop_of(recipe, rows, tmp_path / "run").run()
    with pytest.raises(ValueError, match="another recipe"):
        loop_of(tiny.recipe(recipe.model.base, steps=3), rows, tmp_path / "run").resume()
    with pytest.raises(ValueError, match="other data"):
        loop_of(recipe, rows[:-1], tmp_path / "run").resume()
    with pytest.raises(FileNotFoundError):
        checkpoint.load(tmp_path, recipe.digest, "x")


def test_it_runs_the_large_recipe_on_a_small_deberta(tmp_path: Path) -> None:
    large = read_recipe(RECIPES / "deberta-v3-large.toml")
    small = tiny.recipe(tiny.base(tmp_path / "base", "deberta"), steps=2, targets=large.model.lora_targets)
    training = replace(small.training, gradient_checkpointing=large.training.gradient_checkpointing)
    rows = [r for r in tiny.rows(training=20) if not r.part]
    loop = loop_of(Recipe(small.model, small.data, training, small.ngrams), rows, tmp_path / "run")
    before = {name: value.clone() for name, value in trainable(loop.detector).items()}
    loop.run()
    changed = [name for name, value in trainable(loop.detector).items() if not torch.equal(value, before[name])]
    assert any("query_proj" in name for name in changed)
    assert "head.weight" in changed


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.toml")), ids=lambda path: path.stem)
def test_it_reads_every_recipe(path: Path) -> None:
    recipe = read_recipe(path)
    assert recipe.digest == read_recipe(path).digest
    assert "restricted" not in recipe.data.files


def test_it_warms_up_and_cools_down() -> None:
    rates = [rate(step, 10, 100) for step in range(100)]
    assert rates[0] == 0.1
    assert max(rates) == rates[9] == 1.0
    assert rates[-1] < 0.05

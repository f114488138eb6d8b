"""Trains a detector by a recipe, from corpora to a model folder.

    python -m gpujobs.pod.train --recipe gpujobs/pod/recipes/inkcloak-small.toml [--out DIR] [--corpora DIR]
    [--resume]

Reads top to bottom like a recipe. SIGTERM or Ctrl-C writes a checkpoint and ends with status 75 (try again);
`--resume` goes on from it to the result that an uninterrupted run would have had. Metrics are lines of JSON
in `metrics.jsonl` of the output folder; the finished model folder is its `model/`. Extra: `train`.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Waiting OpenMP threads that spin starve each other as soon as anything else wants the cores. Read at import
# of torch.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
from tokenizers import Tokenizer

from gpujobs.pod import torch_engine
from gpujobs.pod.crops import CropSource
from gpujobs.pod.dataset import (
    Row,
    cached_as_read,
    corpora_folder,
    data_hash,
    read_heldout,
    read_rows,
    with_parts,
)
from gpujobs.pod.export import export
from gpujobs.pod.genres import genre
from gpujobs.pod.linear import baseline_scores, counts_by_source, fit_genres, fit_ngrams
from gpujobs.pod.loop import Loop, Stopped
from gpujobs.pod.model import Detector, build, collate, device_of, merged, special_id, truncate
from gpujobs.pod.package import PARTS, package
from gpujobs.pod.recipe import Recipe, read_recipe
from gpujobs.pod.shared.metrics import auroc, tpr_at_fpr

VAR = Path(__file__).resolve().parents[2] / "var"
TRY_AGAIN = 75  # EX_TEMPFAIL
EVALUATION_BATCH = 32
EVALUATION_TOKENS = 192


def train(recipe: Recipe, rows: Sequence[Row], out: Path, *, resume: bool, bases: Path) -> str:
    """Everything from rows to a model folder at `out`/model. Returns its version. Raises loop.Stopped."""
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(recipe.training.threads)
    torch.manual_seed(recipe.training.seed)

    # 1. Texts: what isn't held out trains; development halves are looked at on the way.
    training = [row for row in rows if not row.part]
    held_out = [row for row in rows if row.part and row.part != "excluded"]
    development = [row for row in held_out if row.part.endswith("_dev")]
    listed = data_hash(training)

    # 2. Network: base, vocabulary, adapters, head.
    detector, base = build(recipe, [row.text for row in training], bases)
    detector.to("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer = base.tokenizer
    tokenizer.no_padding()
    tokenizer.no_truncation()
    specials = special_ids(tokenizer)

    # 3. Steps over balanced random crops.
    around = specials["first_id"], specials["last_id"]
    source = CropSource(training, recipe.data, recipe.training, lambda texts: encode(tokenizer, texts), around)
    loop = Loop(detector, source, recipe, listed, out, specials["unknown"], specials["pad_id"])
    if resume:
        loop.resume()
    hours = loop.run(lambda d, _: look(d, tokenizer, development, specials["pad_id"]))
    loop.log(
        {
            "done": True,
            "cpu_hours": round(hours, 3),
            **look(detector, tokenizer, development, specials["pad_id"]),
        }
    )

    # 4. Parts: network, tokenizer, n-grams, and what the manifest will say of them.
    parts = out / PARTS
    parts.mkdir(exist_ok=True)
    network = save_network(detector, recipe, parts)
    tokenizer.save(str(parts / "tokenizer.json"), pretty=False)
    if recipe.ngrams.bits:
        fit_ngrams(training, recipe.ngrams, recipe.training.seed).save(parts / "ngrams.npz")
    several = len({genre(row.domain) for row in training}) > 1
    if several:
        fit_genres(training, recipe.training.seed).save(parts / "genres.npz")
    baseline = baseline_scores(training, held_out)
    facts: dict[str, Any] = {
        "model": recipe.model.name,
        "base": base.origin,
        "recipe": recipe.to_json(),
        "data": {
            "sha256": listed,
            "texts": len(training),
            "files": list(recipe.data.files),
            "sources": counts_by_source(training),
        },
        "engine": {
            **network,
            "tokenizer": "tokenizer.json",
            "ngrams": "ngrams.npz" if recipe.ngrams.bits else None,
            "genres": "genres.npz" if several else None,
            "window_tokens": recipe.model.window_tokens,
            **{name: specials[name] for name in ("pad_id", "first_id", "last_id")},
        },
        "training": {"cpu_hours": round(hours, 3), "steps": recipe.training.steps},
        "baseline": {row.id: round(s, 4) for row, s in zip(held_out, baseline, strict=True)},
    }
    (parts / "facts.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")

    # 5. Calibration, thresholds, figures, model card, manifest.
    return package(out, out / "model", held_out)


def save_network(detector: Detector, recipe: Recipe, parts: Path) -> dict[str, Any]:
    """Writes the trained network as its engine reads it. Returns its lines of the manifest's `engine`."""
    if recipe.model.engine == "torch":
        return torch_engine.save_parts(detector, parts, recipe.model.base)
    export(merged(detector).to("cpu"), parts / "encoder.onnx")
    return {"kind": recipe.model.engine, "encoder": "encoder.onnx"}


def encode(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    """Token ids without special tokens."""
    return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]


def special_ids(tokenizer: Tokenizer) -> dict[str, int]:
    """Ids of padding, unknown, and the tokens before and after a text."""
    around = tokenizer.encode("a").ids
    return {
        "pad_id": special_id(tokenizer, "<pad>", "[PAD]"),
        "unknown": special_id(tokenizer, "<unk>", "[UNK]"),
        "first_id": around[0],
        "last_id": around[-1],
    }


def look(detector: Detector, tokenizer: Tokenizer, rows: Sequence[Row], pad: int) -> dict[str, Any]:
    """AUROC and TPR at FPR 1 % of the encoder alone on the beginnings of English development texts, by
    part.
    """
    figures: dict[str, Any] = {}
    for part in ("val_dev", "ood_dev"):
        chosen = [row for row in rows if row.part == part and row.language == "en"]
        labels = [row.label for row in chosen]
        if len(set(labels)) < 2:
            continue
        scores = logits(detector, [encode_one(tokenizer, row.text) for row in chosen], pad)
        figures[f"{part}_auroc"] = round(auroc(scores, labels), 4)
        if labels.count(0) >= 100:
            figures[f"{part}_tpr_at_fpr_1"] = round(tpr_at_fpr(scores, labels, 0.01).tpr, 4)
    return figures


def encode_one(tokenizer: Tokenizer, text: str) -> list[int]:
    return truncate(list(tokenizer.encode(text).ids), EVALUATION_TOKENS)


def logits(detector: Detector, ids: Sequence[list[int]], pad: int) -> list[float]:
    """Logits of token ids, in their order, under bf16 autocast (a look on the way, not the shipped
    figures).
    """
    detector.eval()
    device = device_of(detector)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    found = np.zeros(len(ids))
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16):
        for start in range(0, len(order), EVALUATION_BATCH):
            chosen = order[start : start + EVALUATION_BATCH]
            logits, _ = detector(*collate([ids[i] for i in chosen], pad, device))
            found[chosen] = logits.float().cpu().numpy()
    return [float(value) for value in found]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="default: var/train/RECIPE")
    parser.add_argument(
        "--corpora", help="folder of the .jsonl.zst files; default: $INKCLOAK_CORPORA, ../shared/corpora"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --out")
    options = parser.parse_args()
    recipe = read_recipe(options.recipe)
    out = options.out or VAR / "train" / options.recipe.stem
    rows = with_parts(read_rows(corpora_folder(options.corpora), recipe.data.files), read_heldout())
    try:
        version = train(recipe, cached_as_read(rows, out / "cache"), out, resume=options.resume, bases=VAR / "bases")
    except Stopped:
        print(f"stopped; go on with --resume (checkpoint in {out})", file=sys.stderr)
        return TRY_AGAIN
    print(f"model {version} in {out / 'model'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

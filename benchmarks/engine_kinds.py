"""`make bench-kinds`: which engine should run the packaged encoder on a CPU? The same token ids through each.

    ARGS="--texts 120 --judged 1500 --rounds 5 --threads 2 --parts DIR --openvino PYTHON"

Speed over texts of development halves with the corpus's mix of lengths, in length-sorted batches as the engine makes
them, engines taking turns, medians over the rounds. Beside it what quantising costs: logits against fp32 arithmetic,
and AUROC and TPR of the encoder alone by source. `--openvino` names a Python that has openvino and nncf (neither is a
dependency of the product); without it these engines are left out. Where other work shares the cores, compare
`per_core`, texts by second of processor time: wall time is then the neighbours'.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from benchmarks.engine_files import build
from gpujobs.pod.dataset import REPOSITORY, Row, as_read, corpora_folder, read_heldout, read_rows, with_parts
from gpujobs.pod.engine import batches
from gpujobs.pod.quantise import calibration_inputs, calibration_rows
from gpujobs.pod.score import SPECIAL_TOKENS
from gpujobs.pod.shared.metrics import auroc, tpr_at_fpr
from gpujobs.pod.windows import Window, cut, join

SHIPPED = REPOSITORY / "gpujobs" / "pod" / "shipped" / "inkcloak-small"
ALONE = 24  # windows that are also run one by one, to see whether a batch changes a score
SMALLEST_GROUP = 30  # texts of a source and class in the table by source
FPR = 0.01
REDRAWS = 500
Logits = npt.NDArray[np.float64]


@dataclass
class Engine:
    """One candidate: a kind of engine_worker over a file, and what was measured of it."""

    name: str
    kind: str
    path: Path
    multiple: int = 1  # rows are padded to a multiple of it; OpenVINO's sums depend on the length otherwise
    python: str = sys.executable
    process: subprocess.Popen[str] | None = None
    facts: dict[str, float] = field(default_factory=dict)
    rounds: list[dict[str, float]] = field(default_factory=list)
    logits: Logits = field(default_factory=lambda: np.zeros(0))

    def start(self, threads: int) -> None:
        command = [self.python, "-m", "benchmarks.engine_worker", self.kind, str(self.path), str(threads)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=REPOSITORY)
        self.facts = self._line()

    def run(self, inputs: Sequence[Sequence[int]], groups: Sequence[Sequence[int]], pad: int) -> dict[str, float]:
        """Runs the rows in the given groups; leaves the logits, in the rows' order, in `logits`."""
        assert self.process is not None
        assert self.process.stdin is not None
        with tempfile.TemporaryDirectory() as folder:
            request = {"batches": f"{folder}/in.npz", "logits": f"{folder}/out.npy"}
            np.savez(request["batches"], allow_pickle=False, **_padded(inputs, groups, pad, self.multiple))
            print(json.dumps(request), file=self.process.stdin, flush=True)
            found = self._line()
            values = np.load(request["logits"])
        self.logits = np.zeros(len(inputs))
        self.logits[[i for group in groups for i in group]] = values
        return found

    def _line(self) -> dict[str, float]:
        assert self.process is not None
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name}: the engine ended")
        found: dict[str, float] = json.loads(line)
        return found


@dataclass(frozen=True)
class Text:
    """A development text as token ids of its windows."""

    row: Row
    windows: list[Window]
    inputs: list[list[int]]


def _padded(
    inputs: Sequence[Sequence[int]], groups: Sequence[Sequence[int]], pad: int, multiple: int
) -> dict[str, npt.NDArray[np.int64]]:
    found: dict[str, npt.NDArray[np.int64]] = {}
    for number, group in enumerate(groups):
        longest = max(len(inputs[i]) for i in group)
        shape = len(group), -(-longest // multiple) * multiple
        ids, mask = np.full(shape, pad, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for at, i in enumerate(group):
            ids[at, : len(inputs[i])], mask[at, : len(inputs[i])] = inputs[i], 1
        found |= {f"ids{number}": ids, f"mask{number}": mask}
    return found


def sorted_groups(inputs: Sequence[Sequence[int]]) -> list[list[int]]:
    """Batches as gpujobs.pod.engine makes them."""
    order = sorted(range(len(inputs)), key=lambda i: len(inputs[i]))
    return [[order[i] for i in chosen] for chosen in batches([len(inputs[i]) for i in order])]


def material(rows: Sequence[Row], tokenizer: Tokenizer, facts: dict[str, Any], judged: int) -> list[Text]:
    """English development texts in the order of their hashes, so that any number of them is a fair draw."""
    rows = [row for row in rows if row.part in ("val_dev", "ood_dev") and row.language == "en"]
    read = as_read(sorted(rows, key=lambda row: row.digest)[:judged])
    encodings = tokenizer.encode_batch([row.text for row in read], add_special_tokens=False)
    found = []
    for row, encoding in zip(read, encodings, strict=True):
        windows = cut(row.text, row.language, encoding.offsets, facts["window_tokens"] - SPECIAL_TOKENS)
        ids = encoding.ids
        inputs = [[facts["first_id"], *ids[w.first : w.last], facts["last_id"]] for w in windows]
        found.append(Text(row, windows, inputs))
    return found


def candidates(encoder: Path, folder: Path, other: str) -> list[Engine]:
    """Every engine. The first is fp32 arithmetic over the stored matrices: what the others are held to."""
    ours = [
        Engine("stored int8, fp32", "onnxruntime-fp32", encoder),
        Engine("fused fp32", "onnxruntime", folder / "fused.onnx"),
        Engine("static int8", "onnxruntime", folder / "static.onnx"),
        Engine("static int8 in fp32", "onnxruntime-fp32", folder / "static.onnx"),
        Engine("fused static int8", "onnxruntime", folder / "fused-static.onnx"),
        Engine("dynamic int8", "onnxruntime", folder / "dynamic.onnx"),
    ]
    theirs = (
        ("OpenVINO fp32", "openvino-f32", "fp32.onnx"),
        ("OpenVINO bf16", "openvino-bf16", "fp32.onnx"),
        ("OpenVINO static int8", "openvino-f32", "static.onnx"),
        ("OpenVINO static int8, bf16", "openvino-bf16", "static.onnx"),
        ("OpenVINO NNCF int8", "openvino-f32", "nncf.xml"),
    )
    made = [Engine(name, kind, folder / file, multiple=32, python=other) for name, kind, file in theirs]
    return ours + (made if other else [])


def joined(texts: Sequence[Text], logits: Logits) -> Logits:
    """One logit a text from those of its windows, as the scorer joins them."""
    values = iter(logits)
    return np.array([join([float(next(values)) for _ in text.windows], text.windows) for text in texts])


def judge(texts: Sequence[Text], logits: Logits, truth: Logits) -> dict[str, Any]:
    """AUROC and TPR in all and by source (a source's texts at the one threshold), and what was lost against `truth`."""
    scores, labels = joined(texts, logits), np.array([text.row.label for text in texts])
    point = tpr_at_fpr(scores, labels, FPR)
    found: dict[str, Any] = {"auroc": round(auroc(scores, labels), 4), "tpr_at_fpr_1": round(point.tpr, 4)}
    found["tpr_change_95"] = _change(scores, joined(texts, truth), labels)
    sources = sorted({(text.row.source, text.row.label) for text in texts})
    for source, label in sources:
        of = np.array([(text.row.source, text.row.label) == (source, label) for text in texts])
        if of.sum() >= SMALLEST_GROUP:
            kind = "caught" if label else "flagged"
            found.setdefault(kind, {})[source] = round(float((scores[of] >= point.threshold).mean()), 4)
    return found


def _change(scores: Logits, truth: Logits, labels: npt.NDArray[np.int64]) -> list[float]:
    """95 % interval of the change in TPR at FPR 1 % against `truth`, over redrawn texts (the same for both)."""
    rng, changes = np.random.default_rng(0), []
    for _ in range(REDRAWS):
        drawn = rng.integers(0, len(labels), len(labels))
        mine, theirs = (tpr_at_fpr(of[drawn], labels[drawn], FPR).tpr for of in (scores, truth))
        changes.append(mine - theirs)
    return [round(float(value), 4) for value in np.percentile(changes, [2.5, 97.5])]


def measure(engines: Sequence[Engine], texts: Sequence[Text], options: argparse.Namespace, pad: int) -> None:
    """Loads every engine, then lets them take turns."""
    timed = [row for text in texts[: options.texts] for row in text.inputs]
    for engine in engines:
        engine.start(options.threads)
        engine.run(timed[:8], sorted_groups(timed[:8]), pad)
    for number in range(options.rounds):
        for engine in engines:
            engine.rounds.append(engine.run(timed, sorted_groups(timed), pad))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)


def figures(engines: Sequence[Engine], texts: Sequence[Text], options: argparse.Namespace, pad: int) -> dict[str, Any]:
    """What each engine's rounds say, then its logits of all judged texts."""
    judged = [row for text in texts for row in text.inputs]
    some = [row for text in texts[: options.texts] for row in text.inputs][:ALONE]
    found: dict[str, Any] = {}
    truth: Logits | None = None
    for engine in engines:
        wall, cpu = (statistics.median(r[key] for r in engine.rounds) for key in ("wall_s", "cpu_s"))
        engine.run(some, [[i] for i in range(len(some))], pad)
        alone = engine.logits
        engine.run(some, [list(range(len(some)))], pad)
        apart = float(np.abs(alone - engine.logits).max())
        engine.run(judged, sorted_groups(judged), pad)
        truth = engine.logits if truth is None else truth
        if options.files:
            np.save(options.files / f"{engine.name}.npy", engine.logits)
        off = np.abs(engine.logits - truth)
        found[engine.name] = {
            "texts_per_s": round(options.texts / wall, 1),
            "per_core": round(options.texts / cpu, 1),
            "peak_mb": round(max(r["peak_mb"] for r in engine.rounds)),
            "load_s": round(engine.facts["load_s"], 2),
            "load_cpu_s": round(engine.facts["load_cpu_s"], 2),
            "file_mb": round(_size(engine.path) / 1e6, 1),
            "batch_changes_logit_by": float(f"{apart:.2g}"),
            "logit_off_mean": round(float(off.mean()), 4),
            "logit_off_max": round(float(off.max()), 4),
            **judge(texts, engine.logits, truth),
        }
        print(engine.name, json.dumps(found[engine.name]), file=sys.stderr, flush=True)
    return found


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.stem}.*"))


def main() -> None:
    options = _options()
    named = options.parts / "facts.json"
    named = named if named.exists() else options.parts / "manifest.json"
    facts = json.loads(named.read_text(encoding="utf-8"))["engine"]
    tokenizer = Tokenizer.from_file(str(options.parts / facts["tokenizer"]))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rows = with_parts(read_rows(corpora_folder(options.corpora)), read_heldout())
    around = facts["first_id"], facts["last_id"]
    inputs = calibration_inputs(as_read(calibration_rows(rows)), tokenizer, around, facts["window_tokens"])
    texts = material(rows, tokenizer, facts, options.judged)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.files or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        encoder = options.parts / facts["encoder"]
        build(encoder, folder, inputs, facts["pad_id"], options.openvino)
        engines = candidates(encoder, folder, options.openvino)
        if options.only:
            engines = [engines[0], *(e for e in engines[1:] if e.name in options.only)]
        measure(engines, texts, options, facts["pad_id"])
        found = figures(engines, texts, options, facts["pad_id"])
    _print(found, texts, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("--texts", 120), ("--judged", 1500), ("--rounds", 5), ("--threads", 2)):
        parser.add_argument(name, type=int, default=number)
    parser.add_argument("--parts", type=Path, default=SHIPPED, help="folder with encoder.onnx as export.py stores it")
    parser.add_argument("--files", type=Path, help="keep the built files here, and use those that are there")
    parser.add_argument("--only", action="append", help="a name in the table; the first engine always runs")
    parser.add_argument("--openvino", default=os.environ.get("OPENVINO_PYTHON", ""))
    parser.add_argument("--corpora")
    return parser.parse_args()


def _print(found: dict[str, Any], texts: Sequence[Text], options: argparse.Namespace) -> None:
    words = statistics.mean(len(text.row.text.split()) for text in texts[: options.texts])
    print(
        f"{options.texts} texts of {words:.0f} words on average, {options.threads} threads, {len(texts)} texts judged"
    )
    columns = ("texts_per_s", "per_core", "peak_mb", "load_s", "logit_off_max", "batch_changes_logit_by", "auroc")
    print(f"  {'':28}", *(f"{key:>{max(9, len(key))}}" for key in columns))
    for name, of in found.items():
        print(f"  {name:28}", *(f"{of[key]:>{max(9, len(key))}}" for key in columns))
    print(json.dumps({"bench": "kinds", "figures": found, "rounds": options.rounds, "threads": options.threads}))


if __name__ == "__main__":
    main()

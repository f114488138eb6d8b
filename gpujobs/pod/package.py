"""From trained parts to an immutable model folder: mix, calibration, thresholds, rate card, figures, card,
manifest.

    python -m gpujobs.pod.package --run DIR --out FOLDER [--corpora DIR]

`--run` is the output folder of train.py, with its `parts/`. Development halves decide, report halves are
reported. May be imported by: train.py. Extra: `train` and `cpu`.
"""

import argparse
import importlib.metadata
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpujobs.pod import card, evaluate, manifest
from gpujobs.pod.borders import fit_rule
from gpujobs.pod.calibration import Calibration, Mix, fit_calibration, fit_mix
from gpujobs.pod.contract import WindowScore
from gpujobs.pod.dataset import Row, cached_as_read, corpora_folder, read_heldout, read_rows, with_parts
from gpujobs.pod.genre_model import GenreModel
from gpujobs.pod.genres import genre
from gpujobs.pod.mixed import documents
from gpujobs.pod.raws import SCORING_FILES, read_raws
from gpujobs.pod.score import DEFAULT_THREADS, Raw, Reader, load_genres, load_parts
from gpujobs.pod.shared.decision import Thresholds, decide
from gpujobs.pod.shared.metrics import wilson
from gpujobs.pod.shared.normalise import NORMALISER_VERSION
from gpujobs.pod.thresholds import CAPS, LOWEST, Scored, choose, flagged
from gpujobs.pod.windows import join

PARTS = "parts"  # encoder.onnx, tokenizer.json, ngrams.npz and facts.json of a finished training
SHIPPED_FILES = (*SCORING_FILES, "genres.npz")
DEFAULT_MAX_FPR = 0.01
MIN_WORDS = 50
BANDS = ((50, 99), (100, 199), (200, 100_000))  # words; lengths with thresholds of their own
PACKAGE_IDS = "pk-"  # ids of the corpus that is rebuilt from packages
# Human development texts behind a band's thresholds. With fewer a single odd text decides: on 350 the strictest cap
# of long texts caught 20 % of AI texts, where the threshold of all lengths catches 60 %.
SMALLEST_BAND = 1000
WORD_RANGES = ((50, 100_000), (50, 99), (100, 199), (200, 399), (400, 100_000))
MIXED_TEXTS = 400  # spliced development documents on which changes of writer are learnt
FEWEST_AI_TEXTS = 500  # development texts from which a language gets a calibration of its own
SMALLEST_CARD_GROUP = 50  # human texts behind a line of the rate card
LIBRARIES = ("numpy", "onnx", "onnxruntime", "openvino", "peft", "scikit-learn", "tokenizers", "torch", "transformers")


def package(run: Path, out: Path, rows: Sequence[Row]) -> str:
    """Writes the model folder `out` from `run`/parts and the held-out rows. Returns the model version.

    Raises ValueError when no language has enough human development texts to show the default cap.
    """
    languages = measured_languages(rows)
    parts = run / PARTS
    facts = json.loads((parts / "facts.json").read_text(encoding="utf-8"))
    facts["engine"]["segments"] = _segments(parts, facts, rows)
    raws = read_raws(parts, facts["engine"], rows, run / "raws.jsonl")
    pairs = [(row, raws[row.id]) for row in rows if row.id in raws]
    development = [(row, raw) for row, raw in pairs if row.part.endswith("_dev")]
    mix = _fit_mix(development)
    calibrations = {language: _fit_language(development, mix, language) for language in languages}
    scored = {
        row.id: score(row, raw, mix, calibrations[row.language]) for row, raw in pairs if row.language in calibrations
    }
    tables = {language: _thresholds(development, scored, language) for language in languages}
    rated = [row for row, _ in pairs if row.id in scored]
    figures = _figures(rated, scored, tables, facts)
    _fill(out, parts, figures, facts)
    whole = {
        "model": facts["model"],
        "normaliser_version": NORMALISER_VERSION,
        "calibration_version": "1",
        "engine": facts["engine"],
        "calibration": {
            "mix": {"encoder": mix.encoder, "ngrams": mix.ngrams},
            "languages": {language: c.to_json() for language, c in calibrations.items()},
        },
        "base": facts["base"],
        "recipe": facts["recipe"],
        "data": facts["data"],
        "libraries": dict(_libraries()),
        "licence": "Apache-2.0; base weights " + str(facts["base"]["licence"]),
        "min_words": MIN_WORDS,
        "languages": list(languages),
        "thresholds": tables,
        "default_max_fpr": DEFAULT_MAX_FPR,
        "rate_card": _rate_card(rated, scored, tables, load_genres(parts, facts["engine"])),
    }
    return manifest.write(out, whole)


def measured_languages(rows: Sequence[Row]) -> list[str]:
    """Languages whose development halves have both classes, and human texts enough to show the default cap."""
    found = Counter((row.language, row.label) for row in rows if row.part.endswith("_dev"))
    languages = sorted({row.language for row in rows})
    carried = [s for s in languages if found[s, 0] * DEFAULT_MAX_FPR >= 1 and found[s, 1]]
    if not carried:
        raise ValueError("no language has enough human development texts for the default cap")
    return carried


def _segments(parts: Path, facts: dict[str, Any], rows: Sequence[Row]) -> dict[str, Any] | None:
    """The rule that finds changes of writer, fitted on development texts; None without a trained token head."""
    if not facts["recipe"]["training"]["token_loss"]:
        return None
    engine_facts = {**facts["engine"], "segments": None}
    reader = Reader(*load_parts(parts, engine_facts, DEFAULT_THREADS), engine_facts)
    development = [row for row in rows if row.part.endswith("_dev")]
    mixed = documents(development, MIXED_TEXTS, facts["recipe"]["training"]["seed"])
    pure = sorted(development, key=lambda row: row.digest)[: 2 * MIXED_TEXTS]
    return asdict(fit_rule(reader, mixed, pure)) if mixed else None


def score(row: Row, raw: Raw, mix: Mix, calibrate: Calibration) -> Scored:
    """What the scorer would answer for this row, by the same functions."""
    scores = [mix(e, n) for e, n in zip(raw.encoder, raw.ngrams, strict=True)]
    windows = tuple(
        WindowScore(w.start, w.end, s, calibrate(s, words))
        for w, s, words in zip(raw.windows, scores, raw.words, strict=True)
    )
    probability = calibrate(join(scores, raw.windows), sum(raw.words))
    return Scored(row.label, probability, windows, _groups(row))


def _groups(row: Row) -> tuple[str, ...]:
    """Where a cap must hold. Passages of packages are half of the human texts and easy ones (manuals, rules of games):
    pooled with the others they would let more of these be flagged, so they count in their source and genre alone.
    """
    own = f"source {row.source}", f"genre {genre(row.domain)}"
    return own if row.id.startswith(PACKAGE_IDS) else ("all", f"part {row.part}", *own)


def _fit_mix(pairs: Sequence[tuple[Row, Raw]]) -> Mix:
    encoder = [join(raw.encoder, raw.windows) for _, raw in pairs]
    ngrams = [join(raw.ngrams, raw.windows) for _, raw in pairs]
    return fit_mix(encoder, ngrams, [row.label for row, _ in pairs], _weights([row for row, _ in pairs]))


def _fit_language(pairs: Sequence[tuple[Row, Raw]], mix: Mix, language: str) -> Calibration:
    """On documents, and on the windows of documents that have several: shorter texts of the same writers.

    A language with few AI texts shares the calibration of all: its own few sources separate too well to be true, and
    would make probabilities near certain that aren't.
    """
    own = [(row, raw) for row, raw in pairs if row.language == language]
    if sum(row.label for row, _ in own) >= FEWEST_AI_TEXTS:
        pairs = own
    rows, scores, words = [], [], []
    for row, raw in pairs:
        single = [mix(e, n) for e, n in zip(raw.encoder, raw.ngrams, strict=True)]
        rows.append(row)
        scores.append(join(single, raw.windows))
        words.append(sum(raw.words))
        if len(single) > 1:
            rows += [row] * len(single)
            scores += single
            words += list(raw.words)
    return fit_calibration(scores, words, [row.label for row in rows], _weights(rows))


def _weights(rows: Sequence[Row]) -> np.ndarray:
    """Both classes weigh the same, and so do in-domain and out-of-domain within a class."""
    keys = [(row.label, row.part[:3]) for row in rows]
    counts = {key: keys.count(key) for key in set(keys)}
    weights = np.array([1.0 / counts[key] for key in keys])
    for label in (0, 1):
        of_label = np.array([row.label == label for row in rows])
        if of_label.any():
            weights[of_label] /= weights[of_label].sum()
    return weights * len(rows) / 2


def _libraries() -> Iterator[tuple[str, str]]:
    """Name and version of those that are here; OpenVINO is not on every machine."""
    for name in LIBRARIES:
        with suppress(importlib.metadata.PackageNotFoundError):
            yield name, importlib.metadata.version(name)


def _thresholds(
    pairs: Sequence[tuple[Row, Raw]], scored: dict[str, Scored], language: str
) -> dict[str, dict[str, Any]]:
    """cap -> thresholds of the language, what they gave on development texts, and those of each length band."""
    texts = [(sum(raw.words), scored[row.id]) for row, raw in pairs if row.language == language]
    table: dict[str, dict[str, Any]] = {}
    for cap in CAPS:
        if sum(not t.label for _, t in texts) * cap < 1:
            continue  # too few human texts to show that this cap holds
        whole = _entry([t for _, t in texts], cap)
        bands = []
        for low, high in BANDS:
            of_band = [t for words, t in texts if low <= words <= high]
            if sum("all" in t.groups for t in of_band if not t.label) >= SMALLEST_BAND:
                bands.append({"words": [low, high], **_entry(of_band, cap)})
        table[str(cap)] = {**whole, "bands": bands}
    return table


def _entry(texts: Sequence[Scored], cap: float) -> dict[str, float | int]:
    chosen = choose(texts, cap, lowest=LOWEST[cap])
    hits = flagged(texts, chosen)
    human = [hit for hit, t in zip(hits, texts, strict=True) if not t.label]
    ai = [hit for hit, t in zip(hits, texts, strict=True) if t.label]
    return {
        "document": chosen.document,
        "window": chosen.window,
        "human_n": len(human),
        "human_k": sum(human),
        "fpr": round(sum(human) / len(human), 5),
        "tpr": round(sum(ai) / len(ai), 5) if ai else 0.0,
    }


def _judged(row: Row, scored: Scored, tables: dict[str, Any], cap: float = DEFAULT_MAX_FPR) -> dict[str, Any]:
    words = len(row.text.split())
    thresholds = Thresholds.of(tables[row.language][str(cap)], words)
    verdict = decide(scored.probability, scored.windows, thresholds).label
    return {
        "label": row.label,
        "probability": scored.probability,
        "verdict": verdict if words >= MIN_WORDS else evaluate.NO_VERDICT,
        "words": words,
        "source": row.source,
        "generator": row.generator,
        "domain": row.domain,
        "genre": genre(row.domain),
        "attack": row.attack,
        "length": next(f"{low}+" for low, high in WORD_RANGES[:0:-1] if words >= low) if words >= MIN_WORDS else "-",
    }


def _figures(
    rows: Sequence[Row], scored: dict[str, Scored], tables: dict[str, Any], facts: dict[str, Any]
) -> dict[str, Any]:
    """Figures on the report halves, in-domain and out-of-domain apart, the baseline's beside the model's."""
    figures: dict[str, Any] = {"baseline": {}, "model": {}, "training": facts["training"]}
    for language in tables:
        for part in ("val", "ood"):
            chosen = [r for r in rows if r.part == f"{part}_report" and r.language == language]
            judged = [_judged(r, scored[r.id], tables) for r in chosen]
            key = f"{language} {'in-domain' if part == 'val' else 'out-of-domain'}"
            figures["model"][key] = evaluate.report(judged, ("source", "genre", "attack", "length", "generator"))
            figures["baseline"][key] = card.baseline_figures(chosen, facts["baseline"])
    return figures


def _rate_card(
    rows: Sequence[Row], scored: dict[str, Scored], tables: dict[str, Any], genres: GenreModel | None
) -> list[dict[str, Any]]:
    """Human texts of the report halves that were flagged, by cap, language, guessed genre and length."""
    lines: list[dict[str, Any]] = []
    human = [r for r in rows if not r.label and r.part.endswith("_report")]
    guesses = {r.id: genres.guess(r.text) if genres else "-" for r in human}
    for language, table in tables.items():
        for cap in table:
            judged = [
                (guesses[r.id], _judged(r, scored[r.id], tables, float(cap))) for r in human if r.language == language
            ]
            mine = [(name, j) for name, j in judged if j["verdict"] != evaluate.NO_VERDICT]
            lines += [
                {"language": language, "max_fpr": float(cap), **line}
                for name in ["any", *sorted({name for name, _ in mine} - {"-"})]
                for line in _card_lines([j for of, j in mine if name in ("any", of)], name)
            ]
    return lines


def _card_lines(judged: Sequence[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    for low, high in WORD_RANGES:
        group = [j for j in judged if low <= j["words"] <= high]
        if len(group) >= SMALLEST_CARD_GROUP:
            k = sum(j["verdict"] != "human" for j in group)
            bounds = [round(b, 5) for b in wilson(k, len(group))]
            yield {"genre": name, "words": [low, high], "k": k, "n": len(group), "low": bounds[0], "high": bounds[1]}


def _fill(out: Path, parts: Path, figures: dict[str, Any], facts: dict[str, Any]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name in SHIPPED_FILES:
        if (parts / name).exists():
            shutil.copyfile(parts / name, out / name)
    (out / "metrics.json").write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (out / "README.md").write_text(card.model_card(facts, figures), encoding="utf-8")
    (out / "LICENSE").write_text(card.LICENCE_TEXT, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--corpora")
    options = parser.parse_args()
    rows = with_parts(read_rows(corpora_folder(options.corpora)), read_heldout())
    held_out = cached_as_read([r for r in rows if r.part and r.part != "excluded"], options.run / "cache")
    print(package(options.run, options.out, held_out))


if __name__ == "__main__":
    main()

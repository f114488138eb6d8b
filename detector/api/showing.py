"""JSON that only the API has: prices, batches, models. Verdicts are detector.presenting's."""

from typing import Any

from billing.quota import Balance
from detector import intake, verdicts
from detector.batches import Progress
from detector.intake import Ready
from detector.models import Batch
from detector.presenting import left
from gpujobs.models import ModelVersion


def quote(ready: Ready, *, cached: bool, balance: Balance) -> dict[str, Any]:
    """The price of a text that was read and not stored."""
    words = 0 if cached else ready.words
    return {
        "object": "quote",
        "sufficient": not ready.found.reason,
        "reason": ready.found.reason or None,
        "cached": cached,
        "language": ready.found.language,
        "words": ready.found.reading.words,
        "characters": len(ready.text),
        "words_to_charge": words,
        "affordable": words <= balance.left,
        "balance": left(balance),
    }


def batch(batch: Batch, progress: Progress) -> dict[str, Any]:
    """How far a batch is."""
    return {
        "id": str(batch.pk),
        "object": "batch",
        "live": True,
        "status": "running" if batch.finished_at is None else "finished",
        "created_at": batch.created_at,
        "finished_at": batch.finished_at,
        "texts": batch.texts,
        "refused": batch.refused,
        "in_flight": progress.in_flight,
        "done": progress.done,
        "failed": progress.failed,
    }


def batch_quote(items: list[dict[str, Any]], *, words: int, balance: Balance) -> dict[str, Any]:
    """The price of a batch. words: of all its texts together."""
    return {
        "object": "batch_quote",
        "words_to_charge": words,
        "affordable": words <= balance.left,
        "balance": left(balance),
        "items": items,
    }


def model(version: ModelVersion, *, tiers: list[str], default: bool) -> dict[str, Any]:
    """What a caller must know of a version before calling it."""
    manifest = version.manifest
    return {
        "version": version.pk,
        "name": version.name,
        "default": default,
        "tiers": tiers,
        "languages": sorted(manifest["languages"]),
        "max_fprs": {
            language: [float(cap) for cap in verdicts.caps(manifest, language)]
            for language in sorted(manifest["thresholds"])
        },
        "default_max_fpr": manifest["default_max_fpr"],
        "min_words": manifest["min_words"],
        "max_characters": intake.MAX_CHARACTERS,
        "normaliser_version": manifest["normaliser_version"],
        "calibration_version": manifest["calibration_version"],
        "flip_rate": manifest.get("flip_rate"),
        "released_at": version.created_at,
    }

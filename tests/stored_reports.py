"""A stored report of a model version as the evaluation writes it, its numbers made up and no two the same by chance."""

import json
from pathlib import Path
from typing import Any

KEYS = ("en out-of-domain", "en in-domain", "es out-of-domain", "es in-domain")
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 331 245"><style>.line{stroke:#0b5394}</style>'
    '<rect width="331" height="245" fill="#fff"/><path class="line" d="M40 200L120 90L300 40" fill="none"/></svg>'
)
DRAWINGS = ("roc", "reliability", "length", "attacks", "human_groups", "mixed")


def figures(human_k: int = 4, human_n: int = 902, ai_k: int = 1745, ai_n: int = 1928, **more: Any) -> dict[str, Any]:
    """What gpujobs.pod.evaluate.summarise answers."""
    known = {
        "n": human_n + ai_n,
        "auroc": 0.98137 if human_n and ai_n else None,
        "tpr_at_fpr_1": 0.88213 if human_n and ai_n else None,
        "tpr_at_fpr_5": 0.95671 if human_n and ai_n else None,
        "fpr": round(human_k / human_n, 5) if human_n else None,
        "tpr": round(ai_k / ai_n, 5) if ai_n else None,
        "fpr_interval": [0.00173, 0.01135] if human_n else None,
        "tpr_interval": [0.89104, 0.91747] if ai_n else None,
        "human_n": human_n,
        "human_k": human_k,
        "ai_n": ai_n,
        "ai_k": ai_k,
        "insufficient": 0.01234,
        "ece": 0.04127,
        "brier": 0.05219,
    }
    return known | more


def groups() -> dict[str, Any]:
    """One key's `by`."""
    return {
        "source": {
            "Customer reviews (Hu and Liu, via nltk_data)": figures(3, 279, 0, 0),
            "EQ-Bench Judgemark test set": figures(0, 0, 401, 460),
        },
        "genre": {"essay": figures(1, 35, 240, 252), "review": figures(3, 312, 101, 152), "saga": figures(0, 21, 9, 9)},
        "length": {
            "under 50": figures(0, 0, 0, 0, n=12, insufficient=1.0),
            "50-99": figures(2, 165, 290, 385),
            "100-199": figures(1, 513, 905, 1005),
            "400+": figures(1, 224, 510, 538),
        },
        "generator": {
            "human": figures(4, 902, 0, 0),
            "gpt-4o": figures(0, 0, 91, 96),
            "davinci-002": figures(0, 0, 84, 175),
        },
        "attack": {"none": figures(4, 902, 1390, 1433), "humanizer": figures(0, 0, 31, 95)},
    }


def bins() -> list[dict[str, Any]]:
    return [
        {
            "low": low / 10,
            "high": (low + 1) / 10,
            "n": 300 + low,
            "predicted": low / 10 + 0.031,
            "observed": low / 10 + 0.047,
        }
        for low in range(10)
    ]


def limits(scale: float = 1.0) -> list[dict[str, Any]]:
    rates = ((0.005, 0.00211, 0.81234), (0.01, 0.00447, 0.88561), (0.05, 0.03319, 0.96012))
    return [
        {
            "max_fpr": cap,
            "fpr": round(fpr * scale, 5),
            "fpr_interval": [0.00101, 0.01012],
            "human_n": 1308,
            "human_k": 6,
            "tpr": tpr,
            "tpr_interval": [0.80123, 0.97012],
            "ai_n": 2596,
            "ai_k": 2299,
        }
        for cap, fpr, tpr in rates
    ]


def report(version: str = "test-version-1", **changes: Any) -> dict[str, Any]:
    """The whole report; `changes` replace sections."""
    whole: dict[str, Any] = {
        "format": 1,
        "model": "inkcloak-test",
        "model_version": version,
        "calibration_version": "7",
        "normaliser_version": "3",
        "made": "2026-11-30",
        "default_max_fpr": 0.01,
        "min_words": 50,
        "sample": None,
        "data": {
            "split_sha256": "5e" * 32,
            "texts": 4550,
            "files": {"open": {"texts": 17192}, "wide": {"texts": 21001}},
            "missing": ["packages"],
        },
        "headline": {key: figures() for key in KEYS},
        "long": {key: figures(auroc=0.99217) for key in KEYS},
        "baseline": {
            key: {"n": 2830, "auroc": 0.91342, "tpr_at_fpr_1": 0.59492, "tpr_at_fpr_5": 0.7313} for key in KEYS
        },
        "by": {key: groups() for key in KEYS},
        "caps": {"en": limits(), "es": limits(0.5)},
        "roc": {
            key: [
                {"fpr": x, "tpr": y}
                for x, y in ((0.00123, 0.7), (0.0049, 0.8111), (0.0098, 0.8821), (0.0497, 0.9567), (1, 1))
            ]
            for key in KEYS
        },
        "reliability": {key: bins() for key in KEYS},
        "attacks": [
            {
                "attack": "homoglyph",
                "n": 300,
                "tpr_clean": 0.93,
                "tpr": 0.91667,
                "loss_points": 1.33333,
                "human_n": 300,
                "human_k": 2,
            },
            {
                "attack": "misspelling",
                "n": 300,
                "tpr_clean": 0.93,
                "tpr": 0.83,
                "loss_points": 10.0,
                "human_n": 300,
                "human_k": 1,
            },
        ],
        "form": [
            {"transform": "smart_quotes", "n": 66, "changed": 0, "human_to_ai": 0},
            {"transform": "markdown", "n": 67, "changed": 2, "human_to_ai": 1},
        ],
        "mixed": {
            "n": 400,
            "ai_fraction_mae": 0.13712,
            "ai_fraction_mae_of_a_constant": 0.16012,
            "by_cap": [
                {"max_fpr": 0.01, "n": 400, "flagged": 240, "mae": 0.13712},
                {"max_fpr": 0.05, "n": 400, "flagged": 320, "mae": 0.11011},
            ],
            "by_share": [
                {"low": 0.1, "high": 0.25, "n": 101, "mae": 0.09876, "human": 60, "mixed": 35, "ai": 6},
                {"low": 0.25, "high": 0.5, "n": 151, "mae": 0.14321, "human": 51, "mixed": 80, "ai": 20},
            ],
            "borders": 910,
            "borders_without_prediction": 77,
            "border_median_words": 9.5,
            "border_within_sentence": 0.61538,
            "pure_human_mixed": {"n": 800, "k": 3},
        },
        "writers": [
            {
                "group": "native essays",
                "language": "en",
                "source": "OUTFOX",
                "halves": "report",
                "human_n": 110,
                "human_k": 1,
                "fpr": 0.00909,
                "fpr_interval": [0.0016, 0.0497],
            },
            {
                "group": "learner essays",
                "language": "es",
                "source": "COWS-L2H",
                "halves": "both",
                "human_n": 60,
                "human_k": 0,
                "fpr": 0.0,
                "fpr_interval": [0.0, 0.0602],
            },
        ],
        "unseen_people": [{"source": "PHYLIP", "language": "en", "n": 77, "k": 1, "interval": [0.0023, 0.07]}],
        "canon": {
            "n": 1203,
            "k": 1,
            "interval": [0.00015, 0.0047],
            "by_source": {"Bible, King James": {"n": 700, "k": 1}, "Constitutions": {"n": 503, "k": 0}},
        },
        "human_groups": [
            {
                "language": "en",
                "field": "genre",
                "value": "review",
                "n": 312,
                "k": 3,
                "fpr": 0.00962,
                "interval": [0.0033, 0.0279],
                "holds": False,
            },
            {
                "language": "en",
                "field": "length",
                "value": "100-199",
                "n": 513,
                "k": 1,
                "fpr": 0.00195,
                "interval": [0.0003, 0.011],
                "holds": True,
            },
        ],
        "invariance": {"repeats": 100, "texts": 20, "max_difference": 2.4e-07},
        "speed": {"texts": 200, "texts_per_s": 41.26, "words_mean": 248.7, "cpu": "amx_bf16 avx512f", "threads": 2},
        "leave_one_out": {
            "sources": [
                {
                    "left_out": "OUTFOX",
                    "n": 207,
                    "auroc": 0.95432,
                    "tpr_at_fpr_1": 0.71234,
                    "baseline_of": "hashed n-grams",
                }
            ],
            "generators": [
                {
                    "left_out": "gpt-4o",
                    "n": 160,
                    "auroc": 0.96789,
                    "tpr_at_fpr_1": 0.80001,
                    "baseline_of": "hashed n-grams",
                }
            ],
        },
    }
    return whole | changes


def store(folder: Path, found: dict[str, Any], drawings: tuple[str, ...] = DRAWINGS) -> Path:
    """Writes it where the product looks for it below REPORTS_FOLDER; the report's own folder."""
    place = folder / found["model_version"]
    place.mkdir(parents=True, exist_ok=True)
    (place / "report.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name in drawings:
        (place / f"{name}.svg").write_text(DRAWING, encoding="utf-8")
    return place

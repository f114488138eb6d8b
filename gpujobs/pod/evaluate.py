"""What a set of scored texts says: the figures of the product's `evaluate` command and of the model card.
Pure.

A row is a mapping with `label` (1 or "ai", 0 or "human"), `probability` (None where there is no verdict),
`verdict` (human, mixed, ai or insufficient), and any fields to slice by. Rates are of the texts that got a
verdict; the share that got none is `insufficient`. Flagged means that the verdict is not `human`.
May be imported by: the site's evaluate command, packaging. Imports: shared.metrics.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpujobs.pod.shared.metrics import auroc, brier, ece, tpr_at_fpr, wilson

NO_VERDICT = "insufficient"
DIGITS = 5

Row = Mapping[str, Any]


def summarise(rows: Iterable[Row]) -> dict[str, Any]:
    """All figures over the rows; None where a class is missing or too small for the figure to mean anything.

    Keys: n, auroc, tpr_at_fpr_1, tpr_at_fpr_5 (threshold on these rows), fpr, tpr (the verdicts'),
    fpr_interval, tpr_interval (Wilson, 95 %), human_n, human_k, ai_n, ai_k, insufficient, ece, brier.
    """
    every = list(rows)
    scored = [row for row in every if row["verdict"] != NO_VERDICT and row["probability"] is not None]
    labels = [_is_ai(row) for row in scored]
    probabilities = [float(row["probability"]) for row in scored]
    flagged = [row["verdict"] != "human" for row in scored]
    human = [f for f, y in zip(flagged, labels, strict=True) if not y]
    ai = [f for f, y in zip(flagged, labels, strict=True) if y]
    return {
        "n": len(every),
        "auroc": _round(auroc(probabilities, labels)) if human and ai else None,
        "tpr_at_fpr_1": _tpr(probabilities, labels, 0.01),
        "tpr_at_fpr_5": _tpr(probabilities, labels, 0.05),
        "fpr": _share(sum(human), len(human)),
        "tpr": _share(sum(ai), len(ai)),
        "fpr_interval": _interval(sum(human), len(human)),
        "tpr_interval": _interval(sum(ai), len(ai)),
        "human_n": len(human),
        "human_k": sum(human),
        "ai_n": len(ai),
        "ai_k": sum(ai),
        "insufficient": _share(len(every) - len(scored), len(every)),
        "ece": _round(ece(probabilities, labels)) if scored else None,
        "brier": _round(brier(probabilities, labels)) if scored else None,
    }


def by_slice(rows: Sequence[Row], fields: Iterable[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """field -> value -> figures; rows without the field count under `-`."""
    return {field: {value: summarise(group) for value, group in _groups(rows, field)} for field in fields}


def report(rows: Sequence[Row], fields: Iterable[str] = ()) -> dict[str, Any]:
    """The evaluate command's object, less its speed: `overall`, and `by` field and value."""
    return {"overall": summarise(rows), "by": by_slice(rows, fields)}


def _groups(rows: Sequence[Row], field: str) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[str(row.get(field, "-"))].append(row)
    return sorted(found.items())


def _is_ai(row: Row) -> int:
    label = row["label"]
    if label not in (0, 1, "human", "ai"):
        raise ValueError(f"label {label!r} is neither human nor ai")
    return int(label in (1, "ai"))


def _tpr(probabilities: list[float], labels: list[int], max_fpr: float) -> float | None:
    try:
        return _round(tpr_at_fpr(probabilities, labels, max_fpr).tpr)
    except ValueError:
        return None


def _share(k: int, n: int) -> float | None:
    return _round(k / n) if n else None


def _interval(k: int, n: int) -> list[float] | None:
    return [_round(bound) for bound in wilson(k, n)] if n else None


def _round(value: float) -> float:
    return round(value, DIGITS)

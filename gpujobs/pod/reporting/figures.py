"""Rates of scored rows by group, the curves behind them, and what human writers have to fear.

A record is one text of the report: the mapping that evaluate.summarise takes, with fields to group by. Pure but for
`records`. May be imported by: the report's command. Imports: evaluate, shared.metrics, judge, material.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gpujobs.pod import evaluate
from gpujobs.pod.dataset import Row
from gpujobs.pod.evaluate import NO_VERDICT
from gpujobs.pod.genres import genre
from gpujobs.pod.reporting.judge import Judge, Judged
from gpujobs.pod.reporting.material import key_of
from gpujobs.pod.shared.metrics import tpr_at_fpr, wilson

Record = dict[str, Any]

LONG_WORDS = 100
LENGTHS = (("50-99", 50, 99), ("100-199", 100, 199), ("200-399", 200, 399), ("400+", 400, 10**9))  # words as read
TOO_SHORT = "under 50"
FIELDS = ("source", "genre", "length", "generator", "attack")
HUMAN_FIELDS = ("genre", "length", "source")
SMALLEST_HUMAN_GROUP = 200
HIGHEST_UPPER_END = 2.0  # caps that the interval of a group may reach
ROC_POINTS = 120
LOWEST_FPR = 0.001
BINS = 10
DIGITS = 5

# group -> language, source (its beginning), domains (its beginning)
WRITERS = (
    ("native essays", "en", "OUTFOX", "student-essay"),
    ("native essays", "en", "L2R", "essay"),
    ("native essays", "en", "MASC", "masc-essays"),
    ("learner essays", "es", "COWS-L2H", "learner-essay"),
    ("native news", "es", "Spanish Fake News", "news"),
)
ENOUGH_WRITERS = 100  # texts of the report half; below, the development half is counted as well


def records(rows: Sequence[Row], judged: Sequence[Judged]) -> list[Record]:
    """Rows with what the product says of them."""
    return [_record(row, found) for row, found in zip(rows, judged, strict=True)]


def _record(row: Row, found: Judged) -> Record:
    words = found.reading.words
    return {
        "id": row.id,
        "key": key_of(row) if row.part else "-",
        "part": row.part,
        "language": row.language,
        "label": row.label,
        "probability": found.answer.probability,
        "verdict": found.verdict.label,
        "words": words,
        "source": row.source,
        "domain": row.domain,
        "genre": genre(row.domain),
        "generator": row.generator,
        "attack": row.attack,
        "length": length_of(words),
        "judged": found,
    }


def length_of(words: int) -> str:
    """The name of a text's range of words."""
    return next((name for name, low, high in LENGTHS if low <= words <= high), TOO_SHORT)


def headline(found: Sequence[Record], keys: Iterable[str], least_words: int = 0) -> dict[str, Any]:
    """key -> figures over its texts of `least_words` and more."""
    return {
        key: evaluate.summarise([r for r in found if r["key"] == key and r["words"] >= least_words]) for key in keys
    }


def by(found: Sequence[Record], keys: Iterable[str]) -> dict[str, Any]:
    """key -> field -> value -> figures; lengths in their own order."""
    order = {name: place for place, name in enumerate([TOO_SHORT, *(name for name, _, _ in LENGTHS)])}
    answer: dict[str, Any] = {}
    for key in keys:
        fields = evaluate.by_slice([r for r in found if r["key"] == key], FIELDS)
        lengths = sorted(fields["length"].items(), key=lambda item: order[item[0]])
        answer[key] = {**fields, "length": dict(lengths)}
    return answer


def caps(found: Sequence[Record], judge: Judge, languages: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """language -> one line a cap: the verdicts' rates at the product's thresholds for it."""
    answer: dict[str, list[dict[str, Any]]] = {}
    names = ("fpr", "fpr_interval", "human_n", "human_k", "tpr", "tpr_interval", "ai_n", "ai_k")
    for language in languages:
        mine = [r for r in found if r["language"] == language]
        answer[language] = []
        for cap in sorted(map(float, judge.manifest["thresholds"][language])):
            verdicts = [judge.decide(r["judged"].answer, r["words"], language, cap).label for r in mine]
            total = evaluate.summarise([{**r, "verdict": v} for r, v in zip(mine, verdicts, strict=True)])
            answer[language].append({"max_fpr": cap, **{name: total[name] for name in names}})
    return answer


def roc(found: Sequence[Record], keys: Iterable[str]) -> dict[str, list[dict[str, float]]]:
    """key -> share of AI texts caught at each share of human texts flagged, dense where few are; empty without both."""
    grid = np.geomspace(LOWEST_FPR, 1.0, ROC_POINTS)
    answer: dict[str, list[dict[str, float]]] = {}
    for key in keys:
        scored = _scored([r for r in found if r["key"] == key])
        labels = [r["label"] for r in scored]
        human = labels.count(0)
        usable = [x for x in grid if human * x >= 1] if human and human < len(labels) else []
        probabilities = [r["probability"] for r in scored]
        answer[key] = [
            {"fpr": _round(x), "tpr": _round(tpr_at_fpr(probabilities, labels, float(x)).tpr)} for x in usable
        ]
    return answer


def reliability(found: Sequence[Record], keys: Iterable[str]) -> dict[str, list[dict[str, float]]]:
    """key -> bins of equal width: the mean probability in each, and the share of its texts that are AI."""
    answer: dict[str, list[dict[str, float]]] = {}
    for key in keys:
        bins: dict[int, list[Record]] = defaultdict(list)
        for record in _scored([r for r in found if r["key"] == key]):
            bins[min(BINS - 1, int(record["probability"] * BINS))].append(record)
        answer[key] = [
            {
                "low": place / BINS,
                "high": (place + 1) / BINS,
                "n": len(inside),
                "predicted": _round(float(np.mean([r["probability"] for r in inside]))),
                "observed": _round(float(np.mean([r["label"] for r in inside]))),
            }
            for place, inside in sorted(bins.items())
        ]
    return answer


def human_groups(found: Sequence[Record], cap: float) -> list[dict[str, Any]]:
    """Every genre, length and source of a language with enough human texts, and whether the promise holds there."""
    groups: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in _scored(found):
        if not record["label"]:
            for field in HUMAN_FIELDS:
                groups[record["language"], field, record[field]].append(record)
    lines = []
    for (language, field, value), group in sorted(groups.items()):
        if len(group) >= SMALLEST_HUMAN_GROUP:
            rate = counted(group)
            fpr, upper = rate["k"] / rate["n"], rate["interval"][1]
            holds = fpr <= cap and upper <= HIGHEST_UPPER_END * cap
            line = {"language": language, "field": field, "value": value, "fpr": _round(fpr), "holds": holds}
            lines.append({**line, **rate})
    return lines


def writer_rows(rows: Iterable[Row]) -> list[Row]:
    """The human rows that `writers` compares."""
    return [r for r in rows if not r.label and any(_by(w, r.language, r.source, r.domain) for w in WRITERS)]


def _by(writers: tuple[str, str, str, str], language: str, source: str, domain: str) -> bool:
    return writers[1] == language and source.startswith(writers[2]) and writers[3] in (domain, genre(domain))


def writers(found: Sequence[Record]) -> list[dict[str, Any]]:
    """FPR of people whose writing is easily taken for a machine's, beside others'. found: held-out human rows.

    halves: `report`, or `both` where that half has too few texts (then thresholds were chosen with some of them).
    """
    lines = []
    for each in WRITERS:
        group, language, _, _ = each
        mine = [r for r in _scored(found) if _by(each, r["language"], r["source"], r["domain"])]
        report = [r for r in mine if r["part"].endswith("_report")]
        chosen, halves = (report, "report") if len(report) >= ENOUGH_WRITERS else (mine, "both")
        if chosen:
            rate = counted(chosen)
            line = {"group": group, "language": language, "source": chosen[0]["source"], "halves": halves}
            rates = {"human_n": rate["n"], "human_k": rate["k"], "fpr": _round(rate["k"] / rate["n"])}
            lines.append({**line, **rates, "fpr_interval": rate["interval"]})
    return lines


def unseen_people(found: Sequence[Record]) -> list[dict[str, Any]]:
    """Human texts of each source from packages that is held out, both halves."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in _scored(found):
        groups[record["source"], record["language"]].append(record)
    return [
        {"source": source, "language": language, **counted(group)}
        for (source, language), group in sorted(groups.items())
    ]


def canon(found: Sequence[Record]) -> dict[str, Any]:
    """How much of the public-domain canon isn't called human."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in _scored(found):
        groups[record["source"]].append(record)
    sources = {source: {name: counted(group)[name] for name in ("n", "k")} for source, group in sorted(groups.items())}
    return {**counted(_scored(found)), "by_source": sources}


def counted(group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """n texts, k of them flagged, Wilson's interval at 95 %."""
    n, k = len(group), sum(r["verdict"] != "human" for r in group)
    return {"n": n, "k": k, "interval": [_round(bound) for bound in wilson(k, n)]}


def _scored(found: Iterable[Record]) -> list[Record]:
    return [r for r in found if r["verdict"] != NO_VERDICT and r["probability"] is not None]


def _round(value: float) -> float:
    return round(float(value), DIGITS)

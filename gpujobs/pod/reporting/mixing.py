"""Documents by two writers: how far the predicted borders and the predicted AI share are from the true ones.

May be imported by: the report's command. Imports: mixed, judge, figures' records, shared.sentences.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from gpujobs.pod.dataset import Row
from gpujobs.pod.evaluate import NO_VERDICT
from gpujobs.pod.mixed import MIN_PURE_WORDS, Mixed, documents
from gpujobs.pod.reporting.figures import Record
from gpujobs.pod.reporting.judge import Judge, Judged
from gpujobs.pod.shared.prose import read
from gpujobs.pod.shared.sentences import sentence_spans

DOCUMENTS = 300
SEED = 20261130
SHARES = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0))  # of characters by the AI
DIGITS = 5


@dataclass(frozen=True, slots=True)
class Border:
    """A true change of writer. distance: words to the nearest predicted one, infinite where none was predicted.
    sentence: words of the sentence that begins there.
    """

    distance: float
    sentence: int

    @property
    def found(self) -> bool:
        return self.distance <= self.sentence


def mixed(judge: Judge, rows: Sequence[Row], human: Sequence[Record], most: int | None) -> dict[str, Any] | None:
    """The report's `mixed`. rows: of the report halves.  human: their records, for `mixed` said of one writer's text.

    None where no document could be made of the rows.
    """
    count = DOCUMENTS if most is None else min(most, DOCUMENTS)
    prose = [replace(row, text=read(row.text).text) for row in rows]
    made = documents([row for row in prose if row.text], count, SEED)
    judged = judge.judge([(m.text, m.language) for m in made], "mixed")
    pairs = [(m, j) for m, j in zip(made, judged, strict=True) if j.verdict.label != NO_VERDICT]
    if not pairs:
        return None
    found = [border for m, j in pairs for border in borders(m, j)]
    pure = [r for r in human if not r["label"] and r["words"] >= MIN_PURE_WORDS and r["verdict"] != NO_VERDICT]
    middle = median(border.distance for border in found)
    return {
        "n": len(pairs),
        "ai_fraction_mae": _error(pairs),
        "ai_fraction_mae_of_a_constant": _error_of_a_constant(pairs),
        "by_share": _by_share(pairs),
        "by_cap": _by_cap(judge, pairs),
        "borders": len(found),
        "borders_without_prediction": sum(math.isinf(border.distance) for border in found),
        "border_median_words": middle if math.isfinite(middle) else None,
        "border_within_sentence": round(sum(border.found for border in found) / len(found), DIGITS),
        "pure_human_mixed": {"n": len(pure), "k": sum(r["verdict"] == "mixed" for r in pure)},
    }


def borders(document: Mixed, judged: Judged) -> list[Border]:
    """Every true border of a document, in the words of what was read."""
    text, starts = judged.reading.text, judged.reading.starts
    flagged, windows = judged.verdict.flagged, judged.answer.windows
    predicted = [
        words_before(text, w.start)
        for w, now, last in zip(windows[1:], flagged[1:], flagged[:-1], strict=True)
        if now != last
    ]
    sentences = sentence_spans(text, document.language)
    found = []
    for start, _ in document.spans[1:]:
        at = min(bisect_left(starts, start), len(text) - 1)
        place = words_before(text, at)
        distance = min((abs(place - other) for other in predicted), default=math.inf)
        sentence = next((text[a:b] for a, b in sentences if a <= at < b), "")
        found.append(Border(distance, len(sentence.split())))
    return found


def words_before(text: str, at: int) -> int:
    """How many words begin before position `at`."""
    return len(text[:at].split())


def _error(pairs: Sequence[tuple[Mixed, Judged]]) -> float:
    """Mean distance of the predicted and the true share of characters by the AI."""
    return round(sum(abs(j.verdict.ai_fraction - m.ai_share) for m, j in pairs) / len(pairs), DIGITS)


def _error_of_a_constant(pairs: Sequence[tuple[Mixed, Judged]]) -> float:
    """Of whoever reads nothing and always names the middle share: what an error has to be held against."""
    shares = [m.ai_share for m, _ in pairs]
    middle = median(shares)
    return round(sum(abs(share - middle) for share in shares) / len(shares), DIGITS)


def _by_cap(judge: Judge, pairs: Sequence[tuple[Mixed, Judged]]) -> list[dict[str, Any]]:
    """What a looser limit on false flags finds, for the caps that every language here has."""
    tables = judge.manifest["thresholds"]
    caps = set.intersection(*(set(tables[m.language]) for m, _ in pairs))
    lines = []
    for cap in sorted(map(float, caps)):
        again = [(m, replace(j, verdict=judge.decide(j.answer, j.reading.words, m.language, cap))) for m, j in pairs]
        flagged = sum(j.called_ai for _, j in again)
        lines.append({"max_fpr": cap, "n": len(again), "flagged": flagged, "mae": _error(again)})
    return lines


def _by_share(pairs: Sequence[tuple[Mixed, Judged]]) -> list[dict[str, Any]]:
    lines = []
    for low, high in SHARES:
        inside = [(m, j) for m, j in pairs if low <= m.ai_share < high]
        if inside:
            verdicts = Counter(j.verdict.label for _, j in inside)
            line = {"low": low, "high": high, "n": len(inside), "mae": _error(inside)}
            lines.append({**line, **{name: verdicts[name] for name in ("human", "mixed", "ai")}})
    return lines

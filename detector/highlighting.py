"""A text cut into runs to render: every character exactly once, in order. Pure; offsets are code points.

runs()        segments and left-out ranges -> runs
ai_share()    what share of the scored characters the runs mark: by construction the verdict's `ai_fraction`
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from detector.ranges import outside

Mark = Literal["ai", "human", "left_out", "plain"]


@dataclass(frozen=True, slots=True)
class Run:
    """text[start:end] under one mark.

    mark: `ai` and `human` are scored segments (with `probability` and `number`, counted from 1), `left_out` was not
    scored (`kind` says why), `plain` is what lies between: white space and characters that were cleaned away.
    """

    mark: Mark
    start: int
    end: int
    text: str
    probability: float | None = None
    kind: str = ""
    number: int = 0

    @property
    def scored(self) -> bool:
        return self.mark in ("ai", "human")


@dataclass(frozen=True, slots=True)
class _Piece:
    mark: Mark
    start: int
    end: int
    probability: float | None = None
    kind: str = ""


def runs(text: str, segments: Iterable[Mapping[str, Any]], left_out: Iterable[Mapping[str, Any]]) -> list[Run]:
    """segments, left_out: as in Verdict, each in order. Where both claim a character the segment has it: the page
    then shows what the number counts."""
    scored = [_Piece("ai" if s["label"] == "ai" else "human", s["start"], s["end"], s["probability"]) for s in segments]
    taken = [(piece.start, piece.end) for piece in scored]
    gaps = [
        _Piece("left_out", start, end, kind=part["kind"])
        for part in left_out
        for start, end in outside(part["start"], part["end"], taken)
    ]
    found: list[Run] = []
    at = number = 0
    for piece in sorted([*scored, *gaps], key=lambda p: (p.start, p.end)):
        start, end = max(piece.start, at), min(piece.end, len(text))
        if start >= end:
            continue
        if start > at:
            found.append(Run("plain", at, start, text[at:start]))
        number += piece.probability is not None
        label = number if piece.probability is not None else 0
        found.append(Run(piece.mark, start, end, text[start:end], piece.probability, piece.kind, label))
        at = end
    if at < len(text):
        found.append(Run("plain", at, len(text), text[at:]))
    return found


def ai_share(found: Sequence[Run]) -> float:
    """Characters marked AI over characters scored; 0 when nothing was scored."""
    scored = sum(run.end - run.start for run in found if run.scored)
    marked = sum(run.end - run.start for run in found if run.mark == "ai")
    return marked / scored if scored else 0.0

"""What disguises cost and what formatting changes: each transform is applied to the corpus's own text, which is then
read like any text.

May be imported by: the report's command. Imports: attacks, judge, material.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpujobs.pod.attacks import ATTACKS, TRANSFORMS_OF_FORM, Attack
from gpujobs.pod.dataset import Row
from gpujobs.pod.reporting.judge import Judge, Judged
from gpujobs.pod.reporting.material import by_hash, seed_of
from gpujobs.pod.reporting.spelling import spelling_correction

ATTACKED_TEXTS = 300  # of each class
FORM_TEXTS = 1000  # each in one transform
FORM = {**TRANSFORMS_OF_FORM, "spelling_correction": spelling_correction}  # what people do to their own texts
DIGITS = 5
POINTS = 100  # of a share


def attack_rows(long: Sequence[Row], most: int | None) -> list[Row]:
    """The texts to attack, by hash. long: English report rows of 100 words and more."""
    count = ATTACKED_TEXTS if most is None else min(most, ATTACKED_TEXTS)
    return [row for label in (1, 0) for row in by_hash([r for r in long if r.label == label], count, "attacks")]


def attacks(judge: Judge, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One line an attack: the share of AI texts caught before and after it, and the human texts it makes AI.

    An attacked text that is left with too few words to judge counts as not caught.
    """
    clean = judge.judge([(row.text, row.language) for row in rows], "clean")
    return [{"attack": name, **_cost(judge, name, rows, clean)} for name in ATTACKS]


def _cost(judge: Judge, name: str, rows: Sequence[Row], clean: Sequence[Judged]) -> dict[str, Any]:
    after = judge.judge([(changed(ATTACKS[name], name, row), row.language) for row in rows], name)
    ai = [(c.called_ai, a.called_ai) for row, c, a in zip(rows, clean, after, strict=True) if row.label]
    human = [a.called_ai for row, a in zip(rows, after, strict=True) if not row.label]
    before, now = _mean([c for c, _ in ai]), _mean([a for _, a in ai])
    loss = None if before is None or now is None else round(POINTS * (before - now), DIGITS)
    rates = {"n": len(ai), "tpr_clean": before, "tpr": now, "loss_points": loss}
    return {**rates, "human_n": len(human), "human_k": sum(human)}


def form(judge: Judge, human: Sequence[Row], most: int | None) -> list[dict[str, Any]]:
    """One line a transform: verdicts on human texts that it changes, and those among them from human to AI or mixed.

    human: rows that get a verdict as they are. Each is transformed once, the transforms taking turns.
    """
    rows = by_hash(human, FORM_TEXTS if most is None else min(most, FORM_TEXTS), "form")
    names = list(FORM)
    turns = [names[place % len(names)] for place in range(len(rows))]
    before = judge.judge([(row.text, row.language) for row in rows], "form, before")
    texts = [(changed(FORM[name], name, row), row.language) for name, row in zip(turns, rows, strict=True)]
    after = judge.judge(texts, "form, after")
    lines = []
    for name in names:
        pairs = [(b, a) for turn, b, a in zip(turns, before, after, strict=True) if turn == name]
        moved = sum(b.verdict.label != a.verdict.label for b, a in pairs)
        to_ai = sum(not b.called_ai and a.called_ai for b, a in pairs)
        lines.append({"transform": name, "n": len(pairs), "changed": moved, "human_to_ai": to_ai})
    return lines


def changed(attack: Attack, name: str, row: Row) -> str:
    """The row's text after the attack, drawn the same in every run."""
    return attack(row.text, np.random.default_rng(seed_of(name, row.id)), row.language)


def _mean(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), DIGITS) if values else None

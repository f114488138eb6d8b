"""Which waiting texts share a batch: pure, so that the rule can be read and tested alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class Limits:
    """What one batch may hold. Characters stand for tokens (about four to one), which cost time and memory."""

    characters: int
    texts: int


# A batch of the CPU takes a few seconds on two cores, so nobody waits long behind it. A GPU's worker takes few jobs a
# second, so a job is most of a second of its work: eight forward passes of eight. More would leave workers idle at a
# bulk job's end, where one still has a whole job and the others none (`make bench-dispatch`).
CPU = Limits(characters=60_000, texts=32)
GPU = Limits(characters=250_000, texts=64)
# How many texts go together after so many failed runs. Eight to a batch and then one: three tries find the text that
# breaks runs, without one run for each text that was beside it.
TEXTS_AFTER_FAILURES = (None, 8, 1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """One queued text. lane: a batch has one.  attempts: how often it was part of a run that failed."""

    id: object
    model_version: str
    characters: int
    attempts: int
    lane: int = 0


W = TypeVar("W", bound=Waiting)


def pack(waiting: Sequence[W], limits: Limits = CPU) -> list[W]:
    """The next batch out of `waiting` (most urgent first): the first text and those that may go with it.

    One lane, one model version and one number of failures a batch, up to the limits; a text longer than the limit goes
    alone. Lanes don't mix, so that a pasted text never waits for the work of a bulk text in its own batch.
    """
    if not waiting:
        return []
    first = waiting[0]
    most = TEXTS_AFTER_FAILURES[min(first.attempts, len(TEXTS_AFTER_FAILURES) - 1)] or limits.texts
    batch: list[W] = []
    characters = 0
    for text in waiting:
        if (text.lane, text.model_version, text.attempts) != (first.lane, first.model_version, first.attempts):
            continue
        if batch and characters + text.characters > limits.characters:
            break
        batch.append(text)
        characters += text.characters
        if len(batch) >= most:
            break
    return batch

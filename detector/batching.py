"""Which waiting texts share a batch: pure, so that the rule can be read and tested alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

BATCH_MAX_CHARACTERS = 60_000  # about 15,000 tokens: a few seconds on two cores, so nobody waits long behind it
BATCH_MAX_TEXTS = 32


@dataclass(frozen=True, slots=True)
class Waiting:
    """One queued text. attempts: how often it was part of a run that failed."""

    id: object
    model_version: str
    characters: int
    attempts: int


W = TypeVar("W", bound=Waiting)


def pack(waiting: Sequence[W]) -> list[W]:
    """The next batch out of `waiting` (oldest first): the oldest text and those that may go with it.

    One model version a batch, up to the character and text limits; a text longer than the limit goes alone. A text
    whose run failed before goes alone too: if it is what breaks runs, it takes no other down again.
    """
    if not waiting:
        return []
    first = waiting[0]
    if first.attempts:
        return [first]
    batch: list[W] = []
    characters = 0
    for text in waiting:
        if text.model_version != first.model_version or text.attempts:
            continue
        if batch and characters + text.characters > BATCH_MAX_CHARACTERS:
            break
        batch.append(text)
        characters += text.characters
        if len(batch) == BATCH_MAX_TEXTS:
            break
    return batch

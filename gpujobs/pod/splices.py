"""Mixed documents: sentences of a human and of an AI text in turn, with the writer of every piece known.

What the token head is trained on, and what borders and AI shares are measured on. Pure. May be imported by: training,
packaging, evaluation. Imports: numpy, shared.sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpujobs.pod.shared.sentences import sentence_spans

TURNS = (2, 3, 4)  # pieces of a document; a text is continued, edited in the middle, or both
SMALLEST_PIECE_WORDS = 12  # a piece goes on past a sentence's end until it has as many


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole sentences by one writer: label 1 for AI, 0 for human."""

    text: str
    label: int


@dataclass(frozen=True, slots=True)
class Plan:
    """words: of the whole.  ai_share: of these words, wished.  turns: pieces.  first: label of the first piece."""

    words: int
    ai_share: float
    turns: int
    first: int


def draw_plan(words: int, shares: tuple[float, float], rng: np.random.Generator) -> Plan:
    """A random plan with an AI share evenly from `shares`."""
    turns = TURNS[int(rng.integers(len(TURNS)))]
    return Plan(words, float(rng.uniform(*shares)), turns, int(rng.integers(2)))


def splice(human: str, ai: str, language: str, plan: Plan, rng: np.random.Generator) -> list[Piece]:
    """The pieces, each going on where its writer's last one ended. A text that runs out ends the document."""
    sentences = [_sentences(human, language), _sentences(ai, language)]
    labels = [(plan.first + turn) % 2 for turn in range(plan.turns)]
    wanted = _sizes(plan, labels, rng)
    pieces: list[Piece] = []
    for label, words in zip(labels, wanted, strict=True):
        text = _take(sentences[label], words)
        if not text:
            break
        pieces.append(Piece(text, label))
    return pieces


def joined(pieces: Sequence[Piece]) -> tuple[str, list[tuple[int, int]]]:
    """The document, pieces joined by one space, and each piece's [start, end) in code points."""
    spans, at = [], 0
    for piece in pieces:
        spans.append((at, at + len(piece.text)))
        at += len(piece.text) + 1
    return " ".join(piece.text for piece in pieces), spans


def _sentences(text: str, language: str) -> list[str]:
    found = [" ".join(text[start:end].split()) for start, end in sentence_spans(text, language)]
    return [sentence for sentence in found if sentence][::-1]  # taken from the end


def _sizes(plan: Plan, labels: Sequence[int], rng: np.random.Generator) -> list[float]:
    """Words of each piece: each writer's share cut at random among that writer's pieces."""
    weights = rng.uniform(0.5, 1.5, size=len(labels))
    totals = {1: plan.words * plan.ai_share, 0: plan.words * (1 - plan.ai_share)}
    sums = {label: sum(w for w, of in zip(weights, labels, strict=True) if of == label) for label in (0, 1)}
    return [totals[label] * float(weight) / float(sums[label]) for weight, label in zip(weights, labels, strict=True)]


def _take(sentences: list[str], words: float) -> str:
    """Sentences off the end of the list until `words` are reached, to the nearest sentence end."""
    taken: list[str] = []
    count = 0
    while sentences:
        following = len(sentences[-1].split())
        if count >= SMALLEST_PIECE_WORDS and count + following / 2 > words:
            break
        taken.append(sentences.pop())
        count += following
    return " ".join(taken) if count >= SMALLEST_PIECE_WORDS else ""

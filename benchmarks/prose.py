"""Texts for benchmarks: sentences of real prose in orders of their own, lengths mixed, no two alike."""

import random
import re
from collections.abc import Iterator

from tests import samples

# Words of a text: spread as in the validation corpus (median 130, mean 170).
WORDS_MEDIAN, WORDS_SPREAD = 130.0, 0.7
FEWEST_WORDS, MOST_WORDS = 60, 900
PARAGRAPH_SENTENCES = 4

SENTENCES = re.split(r"(?<=[.!?]) ", f"{samples.HUMAN} {samples.AI}")


def texts(count: int, *, name: str) -> Iterator[str]:
    """`count` texts, the same in every run; texts of two names differ."""
    rng = random.Random(name)
    for number in range(count):
        words = rng.lognormvariate(0.0, WORDS_SPREAD) * WORDS_MEDIAN
        wanted = min(max(int(words), FEWEST_WORDS), MOST_WORDS)
        yield _text(f"This is piece number {number + 1} of the {name} collection.", wanted, rng)


def _text(opening: str, wanted_words: int, rng: random.Random) -> str:
    sentences, words = [opening], len(opening.split())
    while words < wanted_words:
        sentences.append(rng.choice(SENTENCES))
        words += len(sentences[-1].split())
    paragraphs = [sentences[at : at + PARAGRAPH_SENTENCES] for at in range(0, len(sentences), PARAGRAPH_SENTENCES)]
    return "\n\n".join(" ".join(paragraph) for paragraph in paragraphs)

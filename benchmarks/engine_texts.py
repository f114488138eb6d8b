"""Texts for `make bench-engine`: as long as those of the validation corpus, out of prose that the repository holds.

The corpora aren't in the repository, so their lengths are: a table of quantiles. The words are those of
gpujobs/pod/corpus/written, one text after another until the wanted number is reached. Each is by one kind of writer,
as most real texts are, so that few of them are read a second time.
"""

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpujobs.pod.dataset import SERIES_FOLDER
from gpujobs.pod.shared import language as languages
from gpujobs.pod.shared import prose

# Words of a text at every 5th percentile of the 3,372 rows whose part is `val_dev` or `val_report`, 2026-11-30.
WORDS = (50, 58, 68, 80, 93, 104, 118, 133, 149, 161, 172, 185, 199, 220, 243, 265, 295, 331, 379, 470, 997)
SPANISH_SHARE = 0.16  # of the same rows
LEAST_WORDS = 55  # the product gives no verdict on fewer than 50, and the reader may leave some out


@dataclass(frozen=True, slots=True)
class Text:
    """A text as a customer would hand it in, the prose that is read of it, and its language."""

    text: str
    prose: str
    language: str


def texts(number: int, seed: int) -> list[Text]:
    """The same lengths in the same order for every seed, other words."""
    shares = (np.arange(number) + 0.5) / number
    lengths = np.interp(shares, np.linspace(0, 1, len(WORDS)), WORDS).round().astype(int).tolist()
    random.Random(0).shuffle(lengths)
    every = round(1 / SPANISH_SHARE)
    pools = {language: _pool(language, random.Random(seed)) for language in ("en", "es")}
    return [_text(pools, "es" if i % every == 0 else "en", length) for i, length in enumerate(lengths)]


def _text(pools: dict[str, Iterator[str]], language: str, words: int) -> Text:
    while True:
        found = _joined(pools[language], max(words, LEAST_WORDS))
        reading = prose.read(found)
        if reading.words >= LEAST_WORDS - 5 and languages.detect(reading.text).language == language:
            return Text(found, reading.text, language)


def _joined(pool: Iterator[str], words: int) -> str:
    parts: list[str] = []
    left = words
    while left > 0:
        taken = _cut(next(pool), left)
        parts.append(taken)
        left -= len(taken.split())
    return "\n\n".join(parts)


def _cut(text: str, words: int) -> str:
    """The text's first words, its paragraphs kept."""
    kept: list[str] = []
    for paragraph in text.split("\n\n"):
        found = paragraph.split()[:words]
        words -= len(found)
        if found:
            kept.append(" ".join(found))
    return "\n\n".join(kept)


def _pool(language: str, rng: random.Random) -> Iterator[str]:
    """Texts for ever: all of a language in a new order each time."""
    files = sorted(SERIES_FOLDER.glob(f"{language}*.jsonl"))
    records = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    found = [str(record["text"]) for record in records if record["attack"] == "none"]
    return itertools.chain.from_iterable(rng.sample(found, len(found)) for _ in itertools.count())

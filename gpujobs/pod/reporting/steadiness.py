"""Same text, same score, whatever came with it; and how fast scores come.

May be imported by: the report's command. Imports: score, judge.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from gpujobs.pod.contract import TextOut
from gpujobs.pod.dataset import Row
from gpujobs.pod.reporting.judge import ask
from gpujobs.pod.reporting.material import by_hash
from gpujobs.pod.score import DEFAULT_THREADS, Scorer
from gpujobs.pod.shared.prose import read

REPEATS = 100
REPEATED_TEXTS = 20
TIMED_TEXTS = 200
TIMED_WORDS = (200, 300)  # of the texts whose speed is measured, as read
TIMED_TOGETHER = 32  # texts of a request
SEED = 20261130
CPU_FLAGS = ("amx_bf16", "amx_int8", "avx512_bf16", "avx512_vnni", "avx512f", "avx_vnni", "avx2")
CPU_FACTS = Path("/proc/cpuinfo")
TINY_DIGITS = 9


def invariance(folder: Path, rows: Sequence[Row], most: int | None) -> dict[str, Any]:
    """The largest difference of any probability between a text alone and in random batches, with 1 and 2 threads."""
    count = REPEATED_TEXTS if most is None else min(most, REPEATED_TEXTS)
    repeats = REPEATS if most is None else min(REPEATS, max(2, most))
    texts = [(read(row.text).text, row.language) for row in by_hash(rows, count, "invariance")]
    texts = [pair for pair in texts if pair[0]]
    scorers = [Scorer.load(folder, threads=threads, verify=False) for threads in (1, 2)]
    alone = [ask(scorers[0], [pair])[0] for pair in texts]
    rng = np.random.default_rng(SEED)
    largest = 0.0
    for repeat in tqdm(range(repeats), desc="invariance", mininterval=2):
        for batch in _batches(len(texts), rng):
            answers = ask(scorers[repeat % 2], [texts[place] for place in batch])
            largest = max([largest, *(distance(alone[p], a) for p, a in zip(batch, answers, strict=True))])
    return {"repeats": repeats, "texts": len(texts), "max_difference": round(largest, TINY_DIGITS)}


def distance(one: TextOut, other: TextOut) -> float:
    """The largest difference of two answers to one text in any probability; infinite where windows differ."""
    if [(w.start, w.end) for w in one.windows] != [(w.start, w.end) for w in other.windows]:
        return float("inf")
    inside = (abs(a.probability - b.probability) for a, b in zip(one.windows, other.windows, strict=True))
    return max([abs(one.probability - other.probability), *inside])


def speed(scorer: Scorer, rows: Sequence[Row], most: int | None) -> dict[str, Any]:
    """Texts a second through reading and scoring, texts of about 250 words, nothing else of the product running."""
    count = TIMED_TEXTS if most is None else min(most, TIMED_TEXTS)
    chosen = by_hash([r for r in rows if TIMED_WORDS[0] <= len(r.text.split()) <= TIMED_WORDS[1]], count, "speed")
    if not chosen:
        return {"texts": 0, "texts_per_s": None, "words_mean": None, "cpu": cpu_flags(), "threads": DEFAULT_THREADS}
    ask(scorer, [(read(chosen[0].text).text, chosen[0].language)])  # the first call pays for memory
    words = 0
    started = time.monotonic()
    for start in tqdm(range(0, len(chosen), TIMED_TOGETHER), desc="speed", mininterval=2):
        readings = [(read(r.text), r.language) for r in chosen[start : start + TIMED_TOGETHER]]
        ask(scorer, [(reading.text, language) for reading, language in readings])
        words += sum(reading.words for reading, _ in readings)
    seconds = time.monotonic() - started
    rates = {"texts": len(chosen), "texts_per_s": round(len(chosen) / seconds, 2)}
    return {**rates, "words_mean": round(words / len(chosen), 1), "cpu": cpu_flags(), "threads": DEFAULT_THREADS}


def cpu_flags(facts: Path = CPU_FACTS) -> str:
    """The processor's flags that matter to matrix products, best first; empty where they can't be read."""
    try:
        lines = facts.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    has = set(next((line for line in lines if line.startswith("flags")), "").split())
    return " ".join(flag for flag in CPU_FLAGS if flag in has)


def _batches(count: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """All places in random order, cut into batches of random sizes."""
    left = [int(place) for place in rng.permutation(count)]
    while left:
        size = int(rng.integers(1, len(left) + 1))
        yield left[:size]
        left = left[size:]

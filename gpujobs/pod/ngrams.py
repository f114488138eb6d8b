"""The linear model on hashed n-grams that scores beside the encoder: it generalises better to unseen sources.

Features of a text: characters 3 to 5 and words 1 to 2 (lower case), hashed into 2 ** bits buckets; the
logarithm of each count is weighted by its rarity (idf) in training, each of the two kinds has length 1. A
text's score depends on that text alone. May be imported by: score.py, training. Imports: numpy.
"""

import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

CHARACTER_NGRAMS = (3, 4, 5)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Counts:
    """Distinct buckets of one kind of feature, ascending, and the logarithmic count in each."""

    buckets: Ints
    values: Floats


def count(text: str, bits: int) -> tuple[Counts, Counts]:
    """Character and word features of a text."""
    lowered = " ".join(text.lower().split())
    return _counts(_character_hashes(f" {lowered} "), bits), _counts(_word_hashes(lowered), bits)


def _character_hashes(text: str) -> npt.NDArray[np.uint64]:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    found = []
    for n in CHARACTER_NGRAMS:
        if len(points) < n:
            continue
        rolled = np.full(len(points) - n + 1, n, dtype=np.uint64)
        for i in range(n):
            rolled = (rolled + points[i : len(points) - n + 1 + i]) * _MIX
            rolled ^= rolled >> np.uint64(29)
        found.append(rolled)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.uint64)


def _word_hashes(text: str) -> npt.NDArray[np.uint64]:
    words = _TOKEN.findall(text)
    single = np.array([zlib.crc32(w.encode("utf-8", "surrogatepass")) for w in words], dtype=np.uint64)
    single = (single + np.uint64(77)) * _MIX
    pairs = (single[:-1] ^ (single[1:] >> np.uint64(17))) * _MIX + single[1:]
    return np.concatenate([single, pairs])


def _counts(hashes: npt.NDArray[np.uint64], bits: int) -> Counts:
    buckets = ((hashes * _MIX) >> np.uint64(64 - bits)).astype(np.int64)
    distinct, counts = np.unique(buckets, return_counts=True)
    return Counts(distinct, (1.0 + np.log(counts)).astype(np.float32))


@dataclass(frozen=True, slots=True)
class NgramModel:
    """weights, idf: (2, 2 ** bits), characters and words."""

    bits: int
    weights: Floats
    idf: Floats
    bias: float

    def score(self, text: str) -> float:
        """The logit of one text, higher is more AI-like."""
        total = self.bias
        for kind, found in enumerate(count(text, self.bits)):
            values = weigh(found, self.idf[kind])
            total += float(values @ self.weights[kind][found.buckets])
        return total

    def save(self, path: Path) -> None:
        """One .npz: weights as int8 with one scale a kind, idf as uint8 with one scale."""
        scale = np.abs(self.weights).max(axis=1, keepdims=True) / 127
        idf_scale = self.idf.max() / 255
        np.savez_compressed(
            path,
            weights=np.round(self.weights / scale).astype(np.int8),
            scale=scale.astype(np.float32),
            idf=np.round(self.idf / idf_scale).astype(np.uint8),
            idf_scale=np.float32(idf_scale),
            bias=np.float32(self.bias),
        )

    @classmethod
    def load(cls, path: Path) -> "NgramModel":
        with np.load(path, allow_pickle=False) as data:
            weights = data["weights"].astype(np.float32) * data["scale"]
            idf = data["idf"].astype(np.float32) * data["idf_scale"]
            bits = int(weights.shape[1]).bit_length() - 1
            return cls(bits, weights, idf, float(data["bias"]))


def weigh(found: Counts, idf: Floats) -> Floats:
    """Counts times idf, scaled to length 1."""
    values = found.values * idf[found.buckets]
    length = float(np.sqrt(values @ values))
    return values / np.float32(length) if length > 0 else values

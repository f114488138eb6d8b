"""The linear model on hashed n-grams that scores beside the encoder: it generalises better to unseen sources.

Features of a text, in small letters and hashed into 2 ** bits buckets: characters 3 to 5; words 1 to 2; and outlines 1
to 4, where frequent words stay and others become their ending and capital, which says how a text is written and not
what about (text distortion, Stamatatos 2017). The logarithm of each count is weighted by its rarity (idf) in training,
and each kind has length 1. A text's score depends on that text alone. May be imported by: score.py, training.
Imports: numpy.
"""

import re
import zlib
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Hashes = npt.NDArray[np.uint64]

CHARACTER_NGRAMS = (3, 4, 5)
CHARACTERS, WORDS, OUTLINES = range(3)  # the kinds in the order in which they are counted
OUTLINE_NGRAMS = (2, 3, 4)  # beside single outlines
ENDINGS = tuple(  # the longest that fits is kept; what is before it must have three letters
    sorted(
        "ing ed ly tion sion ment ness ity ous ive al er est es s mente ción ado ada ando endo ar ía".split(),  # noqa: SIM905
        key=lambda ending: (-len(ending), ending),
    )
)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD_OR_MARK = re.compile(r"\w+(?:'\w+)?|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Counts:
    """Distinct buckets of one kind of feature, ascending, and the logarithmic count in each."""

    buckets: Ints
    values: Floats


def count(text: str, bits: int, frequent: Set[str] = frozenset()) -> tuple[Counts, ...]:
    """Character and word features of a text; outlines too where frequent words (in small letters) are given."""
    return tuple(_counts(_buckets(found, bits)) for found in _hashes(text, frequent))


def _hashes(text: str, frequent: Set[str]) -> list[Hashes]:
    lowered = " ".join(text.lower().split())
    hashes = [_character_hashes(f" {lowered} "), _word_hashes(lowered)]
    return [*hashes, _outline_hashes(text, frequent)] if frequent else hashes


def words_and_marks(text: str) -> list[str]:
    """The tokens that outlines are made of."""
    return _WORD_OR_MARK.findall(text)


def outline(word: str, frequent: Set[str]) -> str:
    """A frequent word or a mark as it is, a number as `#`, another word as its capital and ending."""
    lowered = word.lower()
    if lowered in frequent or not word[0].isalnum():
        return lowered
    if word[0].isdigit():
        return "#"
    capital = "^" if word[0].isupper() else "~"
    return capital + next((e for e in ENDINGS if len(lowered) > len(e) + 2 and lowered.endswith(e)), "")


def _outline_hashes(text: str, frequent: Set[str]) -> Hashes:
    outlines = [outline(word, frequent) for word in words_and_marks(text)]
    single = np.array([zlib.crc32(o.encode("utf-8", "surrogatepass")) for o in outlines], dtype=np.uint64) * _MIX
    found, run = [single], single
    for n in OUTLINE_NGRAMS:
        if len(single) < n:
            break
        run = (run[:-1] ^ (run[:-1] >> np.uint64(29))) * _MIX + single[n - 1 :]
        found.append(run)
    return np.concatenate(found)


def _character_hashes(text: str) -> Hashes:
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


def _word_hashes(text: str) -> Hashes:
    words = _TOKEN.findall(text)
    single = np.array([zlib.crc32(w.encode("utf-8", "surrogatepass")) for w in words], dtype=np.uint64)
    single = (single + np.uint64(77)) * _MIX
    pairs = (single[:-1] ^ (single[1:] >> np.uint64(17))) * _MIX + single[1:]
    return np.concatenate([single, pairs])


def _buckets(hashes: Hashes, bits: int) -> Ints:
    return ((hashes * _MIX) >> np.uint64(64 - bits)).astype(np.int64)


def _counts(buckets: Ints) -> Counts:
    distinct, counts = np.unique(buckets, return_counts=True)
    return Counts(distinct, (1.0 + np.log(counts)).astype(np.float32))


@dataclass(frozen=True, slots=True)
class NgramModel:
    """weights, idf: (kinds, 2 ** bits): characters, words, and outlines where there are frequent words."""

    bits: int
    weights: Floats
    idf: Floats
    bias: float
    frequent: frozenset[str] = frozenset()

    def score(self, text: str) -> float:
        """The logit of one text, higher is more AI-like."""
        total = self.bias
        for kind, found in enumerate(count(text, self.bits, self.frequent)):
            values = weigh(found, self.idf[kind])
            total += float(values @ self.weights[kind][found.buckets])
        return total

    def tally(self, text: str) -> Floats:
        """(kinds, 2): of all n-grams of a part of a text, the sums of weight times idf and of idf squared.

        Tallies of neighbouring parts add up; `of_tally` makes a logit of a sum.
        """
        found = np.zeros((len(self.weights), 2), dtype=np.float32)
        for kind, hashes in enumerate(_hashes(text, self.frequent)):
            buckets = _buckets(hashes, self.bits)
            idf = self.idf[kind][buckets]
            found[kind] = idf @ self.weights[kind][buckets], idf @ idf
        return found

    def of_tally(self, tally: Floats) -> float:
        """About the logit that `score` gives the same text: here a repeated n-gram counts in full."""
        lengths = np.sqrt(np.maximum(tally[:, 1], 1e-6))
        return self.bias + float((tally[:, 0] / lengths).sum())

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
            frequent=np.frombuffer("\n".join(sorted(self.frequent)).encode(), dtype=np.uint8),
        )

    @classmethod
    def load(cls, path: Path) -> "NgramModel":
        with np.load(path, allow_pickle=False) as data:
            weights = data["weights"].astype(np.float32) * data["scale"]
            idf = data["idf"].astype(np.float32) * data["idf_scale"]
            bits = int(weights.shape[1]).bit_length() - 1
            # Models of two kinds, from before outlines, have no list.
            listed = data["frequent"].tobytes().decode().split("\n") if "frequent" in data else []
            return cls(bits, weights, idf, float(data["bias"]), frozenset(word for word in listed if word))


def weigh(found: Counts, idf: Floats) -> Floats:
    """Counts times idf, scaled to length 1."""
    values = found.values * idf[found.buckets]
    length = float(np.sqrt(values @ values))
    return values / np.float32(length) if length > 0 else values

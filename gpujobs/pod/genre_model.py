"""Guesses a text's genre from its words, so that a verdict can say how often texts of its kind are flagged.

A guess never moves a score or a threshold: it picks a line of the rate card, whose lines are counted over texts by
this same guess. Words and pairs of them as in ngrams.py, hashed, one linear model a genre. May be imported by:
score.py, training. Imports: numpy.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpujobs.pod.ngrams import WORDS, count, weigh

BITS = 15

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class GenreModel:
    """genres: G names.  weights: (G, 2 ** BITS).  bias: (G,).  idf: (2 ** BITS,)."""

    genres: tuple[str, ...]
    weights: Floats
    bias: Floats
    idf: Floats

    def guess(self, text: str) -> str:
        """The likeliest genre."""
        found = count(text, BITS)[WORDS]
        scores = self.weights[:, found.buckets] @ weigh(found, self.idf) + self.bias
        return self.genres[int(np.argmax(scores))]

    def save(self, path: Path) -> None:
        """One .npz: weights as int8 with a scale a genre, idf as uint8 with one scale."""
        scale = np.abs(self.weights).max(axis=1, keepdims=True) / 127
        idf_scale = self.idf.max() / 255
        np.savez_compressed(
            path,
            genres=np.frombuffer("\n".join(self.genres).encode(), dtype=np.uint8),
            weights=np.round(self.weights / scale).astype(np.int8),
            scale=scale.astype(np.float32),
            bias=self.bias.astype(np.float32),
            idf=np.round(self.idf / idf_scale).astype(np.uint8),
            idf_scale=np.float32(idf_scale),
        )

    @classmethod
    def load(cls, path: Path) -> "GenreModel":
        with np.load(path, allow_pickle=False) as data:
            genres = tuple(data["genres"].tobytes().decode().split("\n"))
            weights = data["weights"].astype(np.float32) * data["scale"]
            return cls(genres, weights, data["bias"], data["idf"].astype(np.float32) * data["idf_scale"])

"""Texts that nearly repeat one another, by MinHash over word 5-grams (datasketch).

One Register holds the texts that are kept; `take` answers whether a text is new and then keeps it. `know` only
keeps: for texts of other corpora. Imports: datasketch.
"""

import re

from datasketch import MinHash, MinHashLSH

SHINGLE_WORDS = 5
NEAR_JACCARD = 0.4  # as the frozen split has it
PERMUTATIONS = 96

_WORD = re.compile(r"\w+")


class Register:
    """The texts kept so far."""

    def __init__(self) -> None:
        self._index = MinHashLSH(threshold=NEAR_JACCARD, num_perm=PERMUTATIONS)
        self._prints: list[MinHash] = []

    def take(self, text: str) -> bool:
        """Whether no kept text nearly repeats this one; a new text is kept."""
        prints = fingerprint(text)
        near = any(self._prints[int(i)].jaccard(prints) >= NEAR_JACCARD for i in self._index.query(prints))
        if not near:
            self._keep(prints)
        return not near

    def know(self, text: str) -> None:
        """Keep a text, whatever it repeats."""
        self._keep(fingerprint(text))

    def _keep(self, prints: MinHash) -> None:
        self._index.insert(str(len(self._prints)), prints)
        self._prints.append(prints)


def fingerprint(text: str) -> MinHash:
    """MinHash of the text's word 5-grams, lower case; of its words if there are fewer."""
    words = _WORD.findall(text.lower())
    last = max(1, len(words) - SHINGLE_WORDS + 1)
    prints = MinHash(num_perm=PERMUTATIONS, seed=1)
    prints.update_batch([" ".join(words[i : i + SHINGLE_WORDS]).encode() for i in range(last)])
    return prints

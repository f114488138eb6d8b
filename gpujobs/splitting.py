"""Split a whole into whole parts that always add up to it. Pure.

Largest remainder: each part gets its share rounded toward zero, and what is left goes, one by one, to those who lost
most by rounding; of equals, the first. Weights of zero all along are equal weights: somebody has to bear the whole.
"""

from collections.abc import Sequence


def split(total: int, weights: Sequence[int]) -> list[int]:
    """As many parts as weights, in their order. Also of a negative total: its parts are the positive one's, negated.

    Raises ValueError for a negative weight, and where there is nobody to bear a total that is not zero.
    """
    if any(weight < 0 for weight in weights):
        raise ValueError("a weight is negative")
    if not weights:
        if total:
            raise ValueError("nobody bears it")
        return []
    if total < 0:
        return [-part for part in split(-total, weights)]
    whole = sum(weights)
    if not whole:
        weights, whole = [1] * len(weights), len(weights)
    parts = [total * weight // whole for weight in weights]
    lost = [total * weight % whole for weight in weights]
    first = sorted(range(len(weights)), key=lambda n: (-lost[n], n))
    for n in first[: total - sum(parts)]:
        parts[n] += 1
    return parts

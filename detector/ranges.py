"""Half-open ranges of code points: what is left of one outside of others. Pure."""

from collections.abc import Iterable, Iterator


def outside(start: int, end: int, taken: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of [start, end) that lie in none of `taken` (in order, not overlapping); none of them is empty."""
    for taken_start, taken_end in taken:
        if taken_end <= start:
            continue
        if taken_start >= end:
            break
        if taken_start > start:
            yield start, taken_start
        start = taken_end
    if start < end:
        yield start, end

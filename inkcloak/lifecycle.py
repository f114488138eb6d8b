"""advance(): the one way a `status` changes: a guarded UPDATE that only legal moves pass.

Each model with a lifecycle has a `Status` enum and `MOVES`, a table from a status to those that may follow. A
losing worker sees fewer rows than it named and stops; no row lock is held while anything slow happens.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

M = TypeVar("M", bound=Model)


class IllegalMove(RuntimeError):
    """No status may move there: a mistake in the code, not a lost race."""


def advance(rows: "QuerySet[M]", to: str, **changes: Any) -> int:
    """Moves those of `rows` whose status allows it to `to`, setting `changes` in the same UPDATE.

    Returns how many rows moved; zero means that somebody else was first.
    Raises IllegalMove if no status may be followed by `to`.
    """
    moves: Mapping[str, frozenset[str]] = rows.model.MOVES  # type: ignore[attr-defined]
    allowed = [status for status, following in moves.items() if to in following]
    if not allowed:
        raise IllegalMove(f"{rows.model.__name__}: nothing may become {to}")
    return rows.filter(status__in=allowed).update(status=to, **changes)

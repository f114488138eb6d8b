"""The ledger's lines of a choice of days, kinds, services …, the latest first, a page or a file at a time. Read side.

The only reader of lines among the pages: whoever follows a bar to what it is made of. A page begins where the last one
ended, so that the hundredth costs what the first does.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from gpujobs.models import AccountQuarter, CostEntry

PAGE_LINES = 100
CHUNK_LINES = 1_000


@dataclass(frozen=True, slots=True)
class Choice:
    """[start, end); None: any. "" chooses lines that have none."""

    start: datetime
    end: datetime
    kind: str | None = None
    service: str | None = None
    provider: str | None = None
    gpu_type: str | None = None
    model_version: str | None = None
    account_id: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The last line that was shown."""

    at: datetime
    pk: int


@dataclass(frozen=True, slots=True)
class Page:
    """next: where the following page begins after; None on the last one."""

    lines: tuple[CostEntry, ...]
    next: Place | None


def page(choice: Choice, after: Place | None = None, size: int = PAGE_LINES) -> Page:
    found = list(_after(_chosen(choice), after)[: size + 1])
    shown = found[:size]
    more = len(found) > size
    return Page(tuple(shown), Place(shown[-1].at, shown[-1].pk) if more else None)


def chunks(choice: Choice) -> Iterator[list[CostEntry]]:
    """All lines, a thousand at a time."""
    place: Place | None = None
    while True:
        found = page(choice, place, CHUNK_LINES)
        if found.lines:
            yield list(found.lines)
        place = found.next
        if place is None:
            return


def _chosen(choice: Choice) -> "QuerySet[CostEntry]":
    names = ("kind", "service", "provider", "gpu_type", "model_version")
    asked: dict[str, Any] = {name: getattr(choice, name) for name in names if getattr(choice, name) is not None}
    rows = CostEntry.objects.filter(at__gte=choice.start, at__lt=choice.end, **asked)
    if choice.account_id is not None:
        nobody = choice.account_id == AccountQuarter.UNALLOCATED
        rows = rows.filter(account_id=None if nobody else choice.account_id)
    return rows.order_by("-at", "-id")


def _after(rows: "QuerySet[CostEntry]", place: Place | None) -> "QuerySet[CostEntry]":
    if place is None:
        return rows
    return rows.filter(Q(at__lt=place.at) | Q(at=place.at, pk__lt=place.pk)).filter(at__lte=place.at)

"""Read side: the checks that an owner made. Every query starts from the owner, so a stranger finds nothing."""

import uuid
from dataclasses import dataclass
from typing import cast

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from billing.accounts import Owner
from detector.models import Submission

PAGE_ROWS = 20
MOST_ROWS = 10_000  # that are counted and paged through; a million would be counted anew for each page
TITLE_CHARACTERS = 90


@dataclass(frozen=True, slots=True)
class Filters:
    """What somebody looks for: words of the text, and a label ('' for any)."""

    query: str = ""
    label: str = ""


class Pages(Paginator[Submission]):
    """Pages of the newest MOST_ROWS rows. `more`: there are older ones, which search, export and the API reach."""

    @cached_property
    def counted(self) -> int:
        return cast("QuerySet[Submission]", self.object_list)[: MOST_ROWS + 1].count()

    @property
    def count(self) -> int:
        return min(self.counted, MOST_ROWS)

    @property
    def more(self) -> bool:
        return self.counted > MOST_ROWS


def of(owner: Owner | None) -> "QuerySet[Submission]":
    """The owner's submissions, newest first; of nobody, none."""
    rows = Submission.objects.select_related("verdict", "model_version").order_by("-accepted_at", "id")
    if owner is None:
        return rows.none()
    if owner.account is not None:
        return rows.filter(account=owner.account)
    return rows.filter(visitor=owner.visitor)


def get(owner: Owner | None, submission_id: uuid.UUID) -> Submission:
    """One of the owner's submissions. Raises Submission.DoesNotExist for everything else, alike."""
    return of(owner).select_related("reservation").get(pk=submission_id)


def matching(owner: Owner | None, filters: Filters) -> "QuerySet[Submission]":
    """Those of the owner's that the filters leave, newest first."""
    rows = of(owner)
    if filters.query:
        query = filters.query.replace("\x00", "")
        rows = rows.filter(Q(text__icontains=query) | Q(file_name__icontains=query))
    if filters.label:
        rows = rows.filter(verdict__label=filters.label)
    return rows


def page(owner: Owner | None, filters: Filters, number: object) -> "Page[Submission]":
    """A page of the owner's history; a wrong page number gives the nearest page."""
    rows = matching(owner, filters).defer("verdict__segments", "verdict__left_out", "verdict__cleaned")
    return Pages(rows, PAGE_ROWS).get_page(number)  # type: ignore[arg-type]


def title(submission: Submission) -> str:
    """The name of its file, or the beginning of the text on one line: a name for it in lists."""
    if submission.file_name:
        return submission.file_name
    if not submission.text:
        return _("A text that was not stored")
    line = " ".join(submission.text[: TITLE_CHARACTERS * 2].split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"

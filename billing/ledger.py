"""The account's own ledger of words: a line when a check ends, also where it cost nothing."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from billing.models import Account, WordEntry

Kind = WordEntry.Kind


@dataclass(frozen=True, slots=True)
class Line:
    """words: only those of a charged check are not 0."""

    account_id: uuid.UUID | None
    check_id: uuid.UUID
    kind: WordEntry.Kind
    words: int = 0


def note(account: Account | None, check_id: uuid.UUID, kind: WordEntry.Kind, words: int = 0) -> None:
    """Writes how a check ended, in the transaction that ends it. A check that has its line keeps that one.

    Visitors have no account, so no ledger.
    """
    note_many([Line(account.pk if account else None, check_id, kind, words)])


def note_many(lines: Iterable[Line]) -> None:
    """The same for a whole run, in one statement."""
    entries = [
        WordEntry(account_id=line.account_id, check_id=line.check_id, kind=line.kind, words=line.words)
        for line in lines
        if line.account_id is not None
    ]
    WordEntry.objects.bulk_create(entries, ignore_conflicts=True)

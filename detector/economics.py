"""Whose work a run is, and what one check cost: only this floor sees texts and costs both.

shares           whose texts share a batch, kept on the run when it is claimed: its costs are split by it
cost_of_check    a text's part of them, for staff alone
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Q, Sum

from detector.models import Submission
from gpujobs.models import CostEntry
from gpujobs.runs import Share
from gpujobs.splitting import split


def shares(submissions: Iterable[Submission]) -> list[Share]:
    """One for each account and batch in it, in one order; visitors have no account."""
    characters: defaultdict[tuple[str | None, str | None], int] = defaultdict(int)
    for submission in submissions:
        characters[_text(submission.account_id), _text(submission.batch_id)] += submission.characters
    named = sorted(characters.items(), key=lambda item: (item[0][0] or "", item[0][1] or ""))
    return [(account, batch, count) for (account, batch), count in named]


def cost_of_check(submission: Submission) -> int | None:
    """Nano-dollars of its work on a rented GPU, corrections included; None where it has not been costed, or had none.

    Its part, by characters, of what its account bears of the last run it was in: the parts of a run's texts add up,
    with those of texts that were deleted or tried again since. Cold starts and idle time are nobody's, and not in it.
    """
    run, account = submission.run, submission.account_id
    if run is None:
        return None
    mine = Q(run=run, account_id__isnull=True) if account is None else Q(run=run, account_id=account)
    lines = CostEntry.objects.filter(mine).exclude(kind=CostEntry.Kind.COLD_START)
    total = lines.aggregate(total=Sum("amount_nanousd"))["total"]
    if total is None:
        return None
    here = Submission.objects.filter(mine).order_by("pk").values_list("pk", "characters")
    weights = dict(here)
    whole = sum(characters for owner, _batch, characters in run.shares if owner == _text(account))
    gone = max(0, whole - sum(weights.values()))
    parts = split(int(total), [*weights.values(), gone])
    return dict(zip(weights, parts, strict=False)).get(submission.pk)


def _text(number: uuid.UUID | None) -> str | None:
    return None if number is None else str(number)

"""The ledger's verbs: post lines, correct one, ask what was spent, prove the sums. The only writer of CostEntry.

What was spent is read from the sums by quarter of an hour that the database keeps (migration 0005_ledger_triggers), so
it takes as long after ten million lines as after a hundred thousand. Days and months of any zone begin and end at
quarters; where an asked-for instant does not, the piece of its quarter is added up line by line.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, models, transaction
from django.db.models import Sum

from gpujobs.models import AccountQuarter, CostEntry, CostQuarter

QUARTER = timedelta(minutes=15)
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)  # of the quarters, as in the trigger
TRIES = 3  # of posting, when somebody else posts the same lines at the same moment
UNALLOCATED = AccountQuarter.UNALLOCATED
_NOT_PAYLOAD = frozenset({"id", "posted_at"})
_PAYLOAD = tuple(field.attname for field in CostEntry._meta.concrete_fields if field.attname not in _NOT_PAYLOAD)


class Conflict(RuntimeError):
    """A line of that source_ref is there, and says something else. refs: which."""

    def __init__(self, refs: Sequence[str]) -> None:
        super().__init__(f"the ledger says otherwise of {', '.join(refs)}")
        self.refs = tuple(refs)


def post(entries: Iterable[CostEntry]) -> int:
    """Adds lines in one transaction; returns how many are new. A line that is there already, as it is, adds nothing.

    New ones get their `id`. Raises Conflict, and adds none, where one is there with another payload.
    """
    by_ref: dict[str, CostEntry] = {}
    for entry in entries:
        twin = by_ref.setdefault(entry.source_ref, entry)
        if _payload(twin) != _payload(entry):
            raise Conflict([entry.source_ref])
    for _ in range(TRIES - 1):
        try:
            return _post(by_ref)
        except IntegrityError as error:  # somebody else was faster: look again what is there
            if not _is_twin(error):
                raise
    return _post(by_ref)


@transaction.atomic
def _post(by_ref: Mapping[str, CostEntry]) -> int:
    there = {entry.source_ref: entry for entry in CostEntry.objects.filter(source_ref__in=by_ref)}
    if other := [ref for ref, entry in there.items() if _payload(entry) != _payload(by_ref[ref])]:
        raise Conflict(sorted(other))
    # In one order: two that post the same lines don't wait for each other in a circle.
    fresh = [by_ref[ref] for ref in sorted(by_ref.keys() - there.keys())]
    CostEntry.objects.bulk_create(fresh)
    return len(fresh)


def _payload(entry: CostEntry) -> tuple[Any, ...]:
    return tuple(getattr(entry, name) for name in _PAYLOAD)


def _is_twin(error: IntegrityError) -> bool:
    found = getattr(getattr(error.__cause__, "diag", None), "constraint_name", "") or ""
    return "source_ref" in found


@transaction.atomic
def correct(entry: CostEntry, amount_nanousd: int, note: str) -> CostEntry | None:
    """Makes the line, with its corrections, amount to `amount_nanousd`: another line, of kind adjustment, at the same
    instant and for the same account. None where it amounts to that already, so that twice is once."""
    locked = CostEntry.objects.select_for_update().get(pk=entry.pk)
    earlier = locked.corrections.aggregate(total=Sum("amount_nanousd"), lines=models.Count("pk"))
    missing = amount_nanousd - locked.amount_nanousd - (earlier["total"] or 0)
    if not missing:
        return None
    same = {name: getattr(locked, name) for name in _PAYLOAD}
    correction = CostEntry(
        **same
        | {
            "kind": CostEntry.Kind.ADJUSTMENT,
            "milliseconds": None,
            "amount_nanousd": missing,
            "source_ref": f"correct:{locked.pk}:{earlier['lines'] + 1}",
            "corrects_id": locked.pk,
            "note": note,
        }
    )
    post([correction])
    return correction


def spent(
    start: datetime,
    end: datetime,
    *,
    service: str | None = None,
    account_id: uuid.UUID | None = None,
    provider: str | None = None,
) -> int:
    """Nano-dollars of [start, end). account_id: of that account; UNALLOCATED: what is nobody's; None: of all.

    Raises ValueError where both an account and a provider are named: no sum is kept by both.
    """
    if account_id is not None and provider is not None:
        raise ValueError("an account's spending is not kept by provider")
    asked = {name: value for name, value in (("service", service), ("provider", provider)) if value is not None}
    first, last = _quarter_from(start), quarter_upto(end)
    if first > last:  # both inside one quarter
        return _lines(start, end, account_id, asked)
    rows: models.QuerySet[Any] = CostQuarter.objects.all()
    if account_id is not None:
        rows = AccountQuarter.objects.filter(account_id=account_id)
    total = int(rows.filter(start__gte=first, start__lt=last, **asked).aggregate(sum=Sum("amount_nanousd"))["sum"] or 0)
    for begin, until in ((start, first), (last, end)):
        total += _lines(begin, until, account_id, asked) if begin < until else 0
    return total


def _lines(start: datetime, end: datetime, account_id: uuid.UUID | None, asked: Mapping[str, str]) -> int:
    """Line by line."""
    rows = CostEntry.objects.filter(at__gte=start, at__lt=end, **asked)
    if account_id is not None:
        rows = rows.filter(account_id=None if account_id == UNALLOCATED else account_id)
    return int(rows.aggregate(sum=Sum("amount_nanousd"))["sum"] or 0)


def quarter_upto(moment: datetime) -> datetime:
    """The start of the quarter that it lies in."""
    return moment - (moment - EPOCH) % QUARTER


def _quarter_from(moment: datetime) -> datetime:
    """The first quarter that begins at it or later."""
    return moment + (EPOCH - moment) % QUARTER


# --- The sums, proved -----------------------------------------------------------------------------------------------

_SUMS = {
    "gpujobs_costquarter": (
        "start, kind, service, provider, gpu_type, model_version, entries, milliseconds, amount_nanousd",
        """SELECT date_bin('15 minutes', at, TIMESTAMPTZ '2000-01-01 00:00:00+00') AS start, kind, service, provider,
                  gpu_type, model_version, count(*), coalesce(sum(milliseconds), 0)::bigint, sum(amount_nanousd)::bigint
           FROM gpujobs_costentry GROUP BY 1, 2, 3, 4, 5, 6""",
    ),
    "gpujobs_accountquarter": (
        "start, account_id, service, entries, amount_nanousd",
        """SELECT date_bin('15 minutes', at, TIMESTAMPTZ '2000-01-01 00:00:00+00') AS start,
                  coalesce(account_id, '00000000-0000-0000-0000-000000000000'::uuid), service, count(*),
                  sum(amount_nanousd)::bigint
           FROM gpujobs_costentry GROUP BY 1, 2, 3""",
    ),
}


@transaction.atomic
def rebuild_sums(*, repair: bool = True) -> int:
    """Adds all lines up again and holds the sums against it; returns how many sums differed. repair: puts them right.

    Nobody can post meanwhile: some ten seconds for each ten million lines.
    """
    with connection.cursor() as cursor:
        cursor.execute("LOCK TABLE gpujobs_costentry IN SHARE MODE")
        return sum(_rebuild(cursor, table, *sums, repair=repair) for table, sums in _SUMS.items())


def _rebuild(cursor: Any, table: str, columns: str, sums: str, *, repair: bool) -> int:
    fresh = f"fresh_{table}"
    cursor.execute(f"CREATE TEMP TABLE {fresh} ON COMMIT DROP AS {sums}")
    kept = f"SELECT {columns} FROM {table}"  # noqa: S608 (names of our own)
    missing, surplus = f"TABLE {fresh} EXCEPT ALL {kept}", f"{kept} EXCEPT ALL TABLE {fresh}"
    cursor.execute(f"SELECT count(*) FROM (({missing}) UNION ALL ({surplus})) AS differing")  # noqa: S608
    (differing,) = cursor.fetchone()
    if differing and repair:
        cursor.execute(f"DELETE FROM {table}")  # noqa: S608
        cursor.execute(f"INSERT INTO {table} ({columns}) SELECT * FROM {fresh} ORDER BY start")  # noqa: S608
    cursor.execute(f"DROP TABLE {fresh}")
    return int(differing)

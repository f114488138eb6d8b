"""Accounts, keys and stored detections for `make bench-api`. Needs django.setup() (benchmarks/stand.py)."""

import time
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Model
from django.utils import timezone

from benchmarks import prose
from benchmarks.claim_rows import database
from benchmarks.dispatch_load import person
from billing import keys
from billing.accounts import Owner
from billing.models import Reservation, Scope
from detector import history, intake
from detector.models import Submission, Verdict
from gpujobs import registry
from inkcloak import cursors

TEXT_CHARACTERS = 400  # of each row: lists must not read it, yet it lies in the table
SEGMENTS = 8
SECONDS_APART = 2
# The same row has the same id in all three tables, and ids lie as random ones do.
ROW_ID = "md5('{salt}' || n)::uuid"
FILL = """
    INSERT INTO {table} ({columns})
    SELECT {values} FROM {table} AS model, generate_series(1, %s) AS n WHERE model.{key} = %s
"""


@dataclass(frozen=True)
class Caller:
    """Somebody with an account and a live key that may do everything."""

    owner: Owner
    token: str


def caller(name: str) -> Caller:
    owner = person(name)
    assert owner.account is not None
    made = keys.issue(account=owner.account, name=name, scopes=Scope.values, now=timezone.now(), created_by=owner.user)
    return Caller(owner, made.token)


class Stored:
    """One account's finished detections in a database of their own."""

    def __init__(self, name: str, caller: Caller) -> None:
        self.name, self.caller, self.rows = name, caller, 0

    def fill(self, rows: int) -> None:
        """With so many: copies of a first one, each with its verdict, its reservation and its moment."""
        with database(self.name):
            first = self._first()
            assert first.reservation is not None
            new = ROW_ID.format(salt=first.pk)
            before = f"(model.{{}} - n * interval '{SECONDS_APART} seconds')"
            moments = {name: before.format(name) for name in ("accepted_at", "finished_at")}
            _copy(Reservation, first.reservation.pk, {"id": new}, rows - 1)
            _copy(Submission, first.pk, {"id": new, "reservation_id": new} | moments, rows - 1)
            created = {"created_at": before.format("created_at")}
            _copy(Verdict, first.pk, {"submission_id": new} | created, rows - 1)
            self.rows = rows
            with connection.cursor() as cursor:
                for model in (Reservation, Submission, Verdict):
                    cursor.execute(f"VACUUM ANALYZE {model._meta.db_table}")

    def _first(self) -> Submission:
        text = next(prose.texts(1, name="stored"))[:TEXT_CHARACTERS]
        source = Submission.Source.API
        row = intake.accept(owner=self.caller.owner, text=text, source=source, now=timezone.now(), reuse=False)
        Submission.objects.filter(pk=row.pk).update(status=Submission.Status.DONE, finished_at=row.accepted_at)
        segment = {"start": 0, "end": 50, "label": "human", "probability": 0.1}
        Verdict.objects.create(
            submission=row,
            label=Verdict.Label.HUMAN,
            probability=0.1,
            ai_fraction=0.0,
            segments=[segment] * SEGMENTS,
            model_version=registry.resolve(),
            max_fpr="0.01",
            tier="cpu",
            created_at=row.accepted_at,
        )
        row.refresh_from_db()
        return row

    def middle(self) -> str:
        """The cursor of a page in the middle."""
        with database(self.name):
            mine = Submission.objects.filter(account=self.caller.owner.account).order_by("-accepted_at", "pk")
            return cursors.cursor_of(mine.only("accepted_at")[self.rows // 2], "accepted_at")

    def history(self) -> float:
        """Seconds that the rows of the website's first page take."""
        with database(self.name):
            connection.ensure_connection()
            began = time.perf_counter()
            page = history.page(self.caller.owner, history.Filters(), 1)
            assert len(page.object_list) == history.PAGE_ROWS
            assert page.paginator.num_pages
            return time.perf_counter() - began


def _copy(model: type[Model], key: Any, own: dict[str, str], times: int) -> None:
    names = [str(field.column) for field in model._meta.concrete_fields]
    values = ", ".join(own.get(name, f'model."{name}"') for name in names)
    columns = ", ".join(f'"{name}"' for name in names)
    assert model._meta.pk is not None
    table, pk = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        cursor.execute(FILL.format(table=table, columns=columns, values=values, key=pk), [times, key])

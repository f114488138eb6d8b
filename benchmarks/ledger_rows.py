"""Ledgers of any length for `make bench-ledger`, and what is asked of them, timed. Needs django.setup()."""

import statistics
import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection

from benchmarks.claim_rows import database
from gpujobs import budgets, ledger, spending
from gpujobs.date_ranges import DateRange
from gpujobs.models import Budget, CostEntry, CostQuarter, Service
from gpujobs.periods import span_of

DAYS = 90
LINES_A_CUSTOMER = 500
CHUNK = 1_000_000  # lines in a statement
ZONE = "Europe/Madrid"
NOW = datetime(2026, 11, 30, 18, tzinfo=UTC)
HARD_NANOUSD = 10**15
MORE = 200
MEASURED = ("reserve", "spent_day", "spent_month", "spent_account_month", "spend_by_day", "top_accounts")

# In the order of time, as it is written in service; each quarter of an hour has every kind; a new version each month.
FILL = """
    INSERT INTO gpujobs_costentry
        (kind, service, provider, gpu_type, model_version, account_id, attempt, worker_id, price_id, milliseconds,
         amount_nanousd, source_ref, note, at)
    SELECT (ARRAY['execution', 'execution', 'execution', 'execution', 'execution', 'execution', 'idle', 'idle',
                  'cold_start', 'storage'])[1 + n %% 10],
           'inference', 'runpod', 'AMPERE_16', 'version-' || n * 3 / %(rows)s,
           CASE WHEN n %% 10 < 6
                THEN ('00000000-0000-4000-8000-' || lpad(to_hex(1 + n * 7919 %% %(customers)s), 12, '0'))::uuid END,
           1, 'w' || n / 100 %% 50, (SELECT min(id) FROM gpujobs_price), n %% 5000, 1 + n * 31 %% 900000,
           'bench:' || n, '',
           %(start)s::timestamptz + n * (%(span)s::interval / %(rows)s)
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
"""
INDEXES = (
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'gpujobs_costentry' AND indexname LIKE 'cost_entry%'"
)


class Book:
    """The ledger of one database. quick: filled without triggers and indexes, which are there again afterwards."""

    def __init__(self, name: str, rows: int, *, quick: bool) -> None:
        self.name, self.rows, self.quick = name, rows, quick
        self.customers = max(1, rows // LINES_A_CUSTOMER)
        self.differed = 0
        self.fill_seconds = 0.0
        self.times: defaultdict[str, list[float]] = defaultdict(list)

    def fill(self) -> None:
        """All lines, and their sums."""
        began = time.perf_counter()
        with database(self.name), connection.cursor() as cursor:
            again = self._take_off(cursor) if self.quick else []
            for first in range(0, self.rows, CHUNK):
                cursor.execute(FILL, self._values(first, min(self.rows, first + CHUNK) - 1))
            for statement in again:
                cursor.execute(statement)
            if self.quick:
                ledger.rebuild_sums()
            for table in ("costentry", "costquarter", "accountquarter"):
                cursor.execute(f"VACUUM ANALYZE gpujobs_{table}")
            self._make_budgets()
        self.fill_seconds = time.perf_counter() - began

    @staticmethod
    def _take_off(cursor: Any) -> list[str]:
        """What puts triggers and indexes back. The one of source_ref stays: it is a constraint."""
        cursor.execute(INDEXES)
        indexes = dict(cursor.fetchall())
        for name in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        cursor.execute("ALTER TABLE gpujobs_costentry DISABLE TRIGGER ALL")
        return [*indexes.values(), "ALTER TABLE gpujobs_costentry ENABLE TRIGGER ALL"]

    def _values(self, first: int, last: int) -> dict[str, Any]:
        start, span = NOW - timedelta(days=DAYS), timedelta(days=DAYS)
        return {"start": start, "span": span, "rows": self.rows, "customers": self.customers,
                "first": first, "last": last}  # fmt: skip

    def _make_budgets(self) -> None:
        """Each kind that there is, of a day and of a month; far from used up."""
        scopes = [("1global", "", None), ("2service", Service.INFERENCE, None), ("3account", "", self.customer())]
        for scope, service, account in scopes:
            for period in ("day", "month"):
                own: dict[str, Any] = {"scope": scope, "service": service, "account_id": account, "period": period}
                Budget.objects.update_or_create(
                    **own,
                    defaults={"name": f"{scope} {period}", "hard_nanousd": HARD_NANOUSD, "zone": ZONE, "active": True},
                )

    @staticmethod
    def customer() -> uuid.UUID:
        return uuid.UUID("00000000-0000-4000-8000-000000000001")

    def prove(self) -> None:
        """How many sums are not those of the lines."""
        with database(self.name):
            self.differed += ledger.rebuild_sums(repair=False)

    def ask(self, *, count: bool) -> None:
        """Each question once, by a connection that has been asked it before, as in service."""
        with database(self.name):
            for name, question in self._questions().items():
                question()
                began = time.perf_counter()
                question()
                if count:
                    self.times[name].append(time.perf_counter() - began)

    def _questions(self) -> dict[str, Callable[[], Any]]:
        day, month = (span_of(period, ZONE, NOW) for period in ("day", "month"))
        lately = DateRange((NOW - timedelta(days=29)).date(), NOW.date(), ZONE)
        asked = [
            self._reserve,
            lambda: ledger.spent(day.start, day.end),
            lambda: ledger.spent(month.start, month.end),
            lambda: ledger.spent(month.start, month.end, account_id=self.customer()),
            lambda: spending.by_day(spending.cells(lately), lately),
            lambda: spending.accounts(lately.start, lately.end, 10),
        ]
        return dict(zip(MEASURED, asked, strict=True))

    def _reserve(self) -> None:
        """Six budgets locked, what was spent in each period asked for, held; and let go again."""
        held = budgets.reserve(
            run=None,
            service=Service.INFERENCE,
            amount_nanousd=1000,
            account_ids=[self.customer()],
            now=NOW,
            expires=NOW + timedelta(hours=1),
        )
        assert held is not None
        assert held.budgets.count() == 6
        budgets.release_reservation(held)

    def post_more(self) -> None:
        """In the ordinary way, some of them late."""
        lines = [
            CostEntry(kind="execution", service="inference", provider="runpod", gpu_type="AMPERE_16", amount_nanousd=n,
                      account_id=self.customer(), source_ref=f"more:{n}", at=NOW - timedelta(hours=7 * n))
            for n in range(MORE)
        ]  # fmt: skip
        with database(self.name):
            assert ledger.post(lines) == MORE

    def sums(self) -> int:
        """Of all kinds: what the pages read."""
        with database(self.name):
            return CostQuarter.objects.count()

    def median_ms(self, name: str) -> float:
        return statistics.median(self.times[name]) * 1000

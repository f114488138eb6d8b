"""Queues of any length for `make bench-claim`, and claims of them that are timed. Needs django.setup()."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection
from django.utils import timezone
from psycopg import sql

from benchmarks import prose
from benchmarks.dispatch_load import queue
from detector import dispatch
from detector.models import Submission
from gpujobs.models import GpuRun, ModelVersion

LANES = 3
TEXT_CHARACTERS = 400  # of each row: a million of them is half a gigabyte
INDEX = re.compile(r"Index (?:Only )?Scan using (\w+)")
FILL = """
    INSERT INTO detector_submission ({columns})
    SELECT {values} FROM detector_submission AS model, generate_series(1, %s) AS n WHERE model.id = %s
"""


def make_databases(names: Sequence[str]) -> None:
    """Copies of the migrated one."""
    made = str(connection.settings_dict["NAME"])
    connection.close()
    there = connection.get_connection_params()
    with psycopg.connect(host=there["host"], user=there["user"], dbname="postgres", autocommit=True) as server:
        for name in names:
            copy = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            server.execute(copy.format(sql.Identifier(name), sql.Identifier(made)))


@contextmanager
def database(name: str) -> Iterator[None]:
    """Django's connection goes there meanwhile."""
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


class Queue:
    """The rows of one database. times: seconds of each claim.  texts: of each batch."""

    def __init__(self, name: str, rows: int) -> None:
        self.name, self.rows = name, rows
        self.times: list[float] = []
        self.texts: list[int] = []

    def fill(self, versions: int) -> None:
        """`rows` queued ones in all lanes, of so many model versions, and nothing else."""
        with database(self.name):
            GpuRun.objects.all().delete()
            with connection.cursor() as cursor:
                cursor.execute("TRUNCATE detector_submission CASCADE")
            self._register(versions)
            load = queue(f"{self.name}-{versions}", 1)
            text = next(prose.texts(1, name="claim"))[:TEXT_CHARACTERS]
            Submission.objects.update(status="done", finished_at=timezone.now(), text=text, reservation=None)
            self._model, self._versions = load.ids[0], versions
            self._add(self.rows)
            with connection.cursor() as cursor:
                cursor.execute("VACUUM ANALYZE detector_submission")

    @staticmethod
    def _register(versions: int) -> None:
        first = ModelVersion.objects.order_by("pk").first()
        assert first is not None
        for number in range(versions):
            ModelVersion.objects.get_or_create(
                version=f"bench-{number}", defaults={"name": first.name, "manifest": first.manifest}
            )

    def _add(self, rows: int) -> None:
        """Behind those that wait: copies of the finished one, each with its own id, time, lane and version."""
        own = {
            "id": "gen_random_uuid()",
            "accepted_at": "clock_timestamp() + n * interval '1 microsecond'",
            "deadline_at": "clock_timestamp() + interval '1 hour'",
            "finished_at": "NULL",
            "status": "'queued'",
            "lane": f"floor(random() * {LANES})",
            "model_version_id": f"'bench-' || floor(random() * {self._versions})",
        }
        names = [str(field.column) for field in Submission._meta.concrete_fields]
        values = [own.get(name, f'model."{name}"') for name in names]
        columns = ", ".join(f'"{name}"' for name in names)
        with connection.cursor() as cursor:
            cursor.execute(FILL.format(columns=columns, values=", ".join(values)), [rows, self._model])

    def claim(self, times: int) -> None:
        """One claim to get warm, then as many that count; what was claimed comes back as new rows."""
        with database(self.name):
            taken = [self._claim() for _ in range(times + 1)]
            self._add(sum(texts for _, texts in taken))
        self.times += [seconds for seconds, _ in taken[1:]]
        self.texts += [texts for _, texts in taken[1:]]

    @staticmethod
    def _claim() -> tuple[float, int]:
        began = time.perf_counter()
        claimed = dispatch.claim(backend="runpod", tier="gpu", now=timezone.now())
        taken = time.perf_counter() - began
        assert claimed is not None
        return taken, len(claimed[1])

    def plan(self) -> str:
        """The indexes that the claiming statement reads, and whether it sorts."""
        statements: list[tuple[str, Any]] = []

        def keep(execute: Callable[..., Any], text: str, params: Any, many: bool, context: Any) -> Any:
            statements.append((text, params))
            return execute(text, params, many, context)

        with database(self.name):
            with connection.execute_wrapper(keep):
                self._claim()
            (claiming,) = [(text, params) for text, params in statements if "SKIP LOCKED" in text]
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN {claiming[0]}", claiming[1])
                lines = "\n".join(line for (line,) in cursor.fetchall())
        found = INDEX.findall(lines) + [word for word in ("Seq Scan", "Sort") if word in lines]
        return ", ".join(found)

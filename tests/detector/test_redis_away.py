"""While Redis is away a text is still taken, scored and collected; only the hints are missing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import factories
import pytest
from django.db import connection

from detector.models import Submission

pytestmark = pytest.mark.django_db(transaction=True)

QUICK_SECONDS = 2.0
TESTS = Path(__file__).resolve().parent.parent
# In a process of its own: clients that once reached Redis would keep their connections.
WITHOUT_REDIS = """
import json, time, django
django.setup()
import factories
from detector import dispatch

def timed(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin

factories.person("warm")  # the database's connection is no part of what is measured
visitor = factories.visitor()
found = {
    "accept": timed(lambda: factories.accepted(visitor)),
    "score": timed(lambda: dispatch.next_batch(now=factories.NOW, backend=factories.ScriptedBackend())),
    "accept another": timed(lambda: factories.accepted(visitor, reuse=False)),
    "sweep": timed(lambda: dispatch.sweep(now=factories.NOW.replace(year=2050))),
}
print(json.dumps(found))
"""


def database_url() -> str:
    """Of the test database: the given address with another name."""
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}"))


def test_a_text_is_taken_scored_and_collected_as_quickly() -> None:
    factories.champion()
    away = {"REDIS_URL": "redis://127.0.0.1:1/0", "CACHE_URL": "redis://127.0.0.1:1/1"}
    environment = os.environ | away | {"DATABASE_URL": database_url(), "PYTHONPATH": f"{TESTS.parent}:{TESTS}"}
    environment |= {"DJANGO_SETTINGS_MODULE": "inkcloak.settings", "INKCLOAK_IGNORE_DEV_ENV": "1"}
    command = [sys.executable, "-c", WITHOUT_REDIS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    seconds = json.loads(done.stdout)
    assert all(taken < QUICK_SECONDS for taken in seconds.values()), seconds
    assert sorted(Submission.objects.values_list("status", flat=True)) == ["done", "failed"]
    assert "no wake-up sent" in done.stderr
    assert "Emma" not in done.stderr
    assert "Traceback" not in done.stderr

"""`deployment`: the compose file's services running here, once for all tests, in a folder of their own."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # whatever pytest's import mode is

from running import Deployment

BACKING = ("postgres", "redis-broker", "redis-cache")
OURS = ("web", "worker-score", "worker-steps", "worker-gpu", "beat")


@pytest.fixture(scope="session")
def deployment() -> Iterator[Deployment]:
    """Servers, migrations, then ours, in the order that `depends_on` gives; the proxy is not in it."""
    base = Path(tempfile.mkdtemp(prefix="inkcloak-deploy-"))
    base.chmod(0o711)  # the database's user passes through
    made = Deployment(base)
    try:
        for name in BACKING:
            made.start(name)
        made.build()
        for name in BACKING:
            made.wait(name)
        migrated = made.once("migrate")
        assert migrated.returncode == 0, migrated.stderr[-3000:]
        for name in OURS:
            made.start(name)
        for name in OURS:
            made.wait(name)
        yield made
    finally:
        made.end_all()
        shutil.rmtree(base, ignore_errors=True)

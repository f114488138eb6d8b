"""For tests: `pytest_plugins = ["tests.loopback.runpod.fixtures"]` and `runpod` is a fresh account of one's own.

`endpoint` is one on it whose workers the test plays.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loopback.runpod.serve import LoopbackRunPod


@pytest.fixture
def runpod(tmp_path: Path) -> Iterator[LoopbackRunPod]:
    """The loopback RunPod, in this process; all its children end with the test."""
    with LoopbackRunPod(tmp_path / "runpod") as account:
        yield account


@pytest.fixture
def endpoint(runpod: LoopbackRunPod) -> str:
    return runpod.played()

"""`stacks`: real tiny stacks (supervisor, PostgreSQL, Redis, a page), each in its own folder and ended."""

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # whatever pytest's import mode is

from tiny_harness import TinyStack, eventually

from devstack import ports


@pytest.fixture
def stacks(tmp_path: Path) -> Iterator[Callable[..., TinyStack]]:
    """A factory: stacks("name") is a stack in a folder of that name."""
    made: list[TinyStack] = []

    def make(name: str = "one") -> TinyStack:
        root = tmp_path / name
        root.mkdir(parents=True)
        made.append(TinyStack(root, ports.free_port()))
        return made[-1]

    yield make
    for stack in made:
        if stack.process is not None and stack.process.poll() is None:
            stack.end(signal.SIGKILL)
        eventually(lambda stack=stack: not stack.processes())

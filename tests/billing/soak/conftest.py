"""Options of `make soak-billing`. These files have names that no ordinary run collects."""

import logging
from collections.abc import Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("soak-billing")
    group.addoption("--histories", type=int, default=100, help="random histories to play (default: 100)")
    group.addoption("--steps", type=int, default=30, help="of each history (default: 30)")
    group.addoption("--seconds", type=float, default=3600, help="after which no more are begun (default: 3600)")
    group.addoption("--from-seed", type=int, default=0, help="the first batch's seed (default: 0)")
    group.addoption("--events", type=int, default=10_000, help="of the flood (default: 10000; 0 for none)")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Refused webhooks and failed calls are what these histories are made of."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)

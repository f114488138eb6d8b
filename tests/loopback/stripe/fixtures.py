"""For tests: `pytest_plugins = ["tests.loopback.stripe.fixtures"]` (or import them), and `stripe` is an empty account.

One child process serves a whole session of tests; each test resets it. The clock stands still at the real present
unless a test moves it. Webhooks are held until a test sends or takes them.
"""

from collections.abc import Iterator

import pytest

from tests.loopback.stripe.launcher import LoopbackStripe
from tests.loopback.stripe.shop import Shop


@pytest.fixture(scope="session")
def stripe_server() -> Iterator[LoopbackStripe]:
    """The process; for tests `stripe` is meant."""
    with LoopbackStripe("--frozen", "--seed", "1") as server:
        yield server


@pytest.fixture
def stripe(stripe_server: LoopbackStripe) -> LoopbackStripe:
    """An empty account with held webhooks (`stripe.habits(webhooks="push")` sends them)."""
    stripe_server.reset(webhooks="hold")
    return stripe_server


@pytest.fixture
def shop(stripe: LoopbackStripe) -> Shop:
    """That account with a catalogue."""
    return Shop(stripe)

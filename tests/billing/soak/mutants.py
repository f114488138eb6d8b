"""Whether the oracle sees anything: the product with one rule taken out, which some history must notice.

make test ARGS="tests/billing/soak/mutants.py -q"
"""

from collections.abc import Callable

import hypothesis
import pytest
from billing_machine import BillingMachine
from billing_stage import Clock, Stage, clock
from django.conf import LazySettings
from hypothesis.stateful import run_state_machine_as_test
from stripe_shop import stripe, stripe_server
from test_billing_histories import play

from billing import subscriptions, takings
from tests.loopback.stripe.launcher import LoopbackStripe

__all__ = ["clock", "stripe", "stripe_server"]

HISTORIES, STEPS = 60, 25
Break = Callable[[pytest.MonkeyPatch], None]


def everybody_may_buy_twice(patch: pytest.MonkeyPatch) -> None:
    """Checkout no longer looks for a plan that is there."""
    patch.setattr(subscriptions, "sync_all", lambda account, now: [])


def refunds_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(takings, "refunded", lambda refund_id: True)


@pytest.mark.django_db
@pytest.mark.parametrize("broken", [everybody_may_buy_twice, refunds_are_forgotten])
def test_it_is_noticed(
    broken: Break, stripe_server: LoopbackStripe, settings: LazySettings, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    machine = type("Machine", (BillingMachine,), {"stage_of": lambda: Stage(stripe_server, settings, clock)})
    with pytest.raises(AssertionError):
        run_state_machine_as_test(hypothesis.seed(1)(machine), settings=play(HISTORIES, STEPS, derandomize=False))

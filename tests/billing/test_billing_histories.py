"""Random histories of plans and payment against an oracle, and a flood of events. `make soak-billing` plays more."""

import billing_flood as flood
import pytest
from billing_machine import BillingMachine, happened
from billing_stage import Clock, Stage, clock
from django.conf import LazySettings
from hypothesis import HealthCheck, Phase
from hypothesis import settings as Hypothesis
from hypothesis.stateful import run_state_machine_as_test
from stripe_shop import stripe, stripe_server

from tests.loopback.stripe.launcher import LoopbackStripe

__all__ = ["clock", "stripe", "stripe_server"]

HISTORIES, STEPS = 6, 12
FLOOD_EVENTS = 150


@pytest.mark.django_db
def test_it_ends_as_stripe_has_it_after_any_history(
    stripe_server: LoopbackStripe, settings: LazySettings, clock: Clock
) -> None:
    machine = type("Machine", (BillingMachine,), {"stage_of": lambda: Stage(stripe_server, settings, clock)})
    run_state_machine_as_test(machine, settings=play(HISTORIES, STEPS))
    assert happened["histories"] >= HISTORIES


def play(histories: int, steps: int, *, derandomize: bool = True) -> Hypothesis:
    return Hypothesis(
        max_examples=histories,
        stateful_step_count=steps,
        derandomize=derandomize,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a failing history is shown as it was: making it smaller takes minutes
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.django_db
def test_a_flood_in_any_order_ends_as_the_same_events_in_theirs(
    stripe_server: LoopbackStripe, settings: LazySettings, clock: Clock
) -> None:
    clock.tick = flood.TICK
    stage = Stage(stripe_server, settings, clock)
    flood.fill(stage, FLOOD_EVENTS, people=6)
    said = flood.played(stage, share=0.3)
    assert said["deliveries"] >= 1.4 * said["events"] >= 1.4 * FLOOD_EVENTS

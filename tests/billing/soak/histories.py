"""Many random histories, a batch a seed, until their number or their time is reached. Ends with one line of JSON."""

import json
import time
from typing import Any

import hypothesis
import pytest
from billing_machine import BillingMachine, happened
from billing_stage import Clock, Stage, clock
from django.conf import LazySettings
from hypothesis.stateful import run_state_machine_as_test
from stripe_shop import stripe, stripe_server
from test_billing_histories import play

from tests.loopback.stripe.launcher import LoopbackStripe

__all__ = ["clock", "stripe", "stripe_server"]

BATCH = 20
MOST_FAILURES = 5
SHOWN_CHARACTERS = 4_000


@pytest.mark.django_db
def test_histories(
    stripe_server: LoopbackStripe, settings: LazySettings, clock: Clock, request: pytest.FixtureRequest
) -> None:
    wanted, steps, seconds, seed = (
        request.config.getoption(name) for name in ("histories", "steps", "seconds", "from_seed")
    )
    begun, failures = time.monotonic(), list[dict[str, Any]]()
    happened.clear()
    while played() < wanted and time.monotonic() - begun < seconds and len(failures) < MOST_FAILURES:
        machine = type("Machine", (BillingMachine,), {"stage_of": lambda: Stage(stripe_server, settings, clock)})
        options = play(min(BATCH, wanted - played()), steps, derandomize=False)
        try:
            run_state_machine_as_test(hypothesis.seed(seed)(machine), settings=options)
        except Exception as error:  # noqa: BLE001 - shown below, and the next batch may tell more
            notes = "\n".join(getattr(error, "__notes__", []))
            failures.append({"seed": seed, "error": type(error).__name__, "said": f"{error}\n{notes}"})
        seed += 1
    for failure in failures:
        print(failure["said"][:SHOWN_CHARACTERS])  # noqa: T201
    said = {
        "histories": played(),
        "steps": steps,
        "seconds": round(time.monotonic() - begun),
        "failures": [{name: each[name] for name in ("seed", "error")} for each in failures],
        "happened": dict(sorted(happened.items())),
    }
    print(json.dumps(said))  # noqa: T201
    assert not failures
    assert played() > 0


def played() -> int:
    """To their end, with everything as the oracle has it."""
    return happened["histories"]

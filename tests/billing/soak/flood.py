"""10,000 events, three in ten of all deliveries twice, in random order. Ends with one line of JSON."""

import json
import time

import billing_flood as flood
import pytest
from billing_stage import Clock, Stage, clock
from django.conf import LazySettings
from stripe_shop import stripe, stripe_server

from tests.loopback.stripe.launcher import LoopbackStripe

__all__ = ["clock", "stripe", "stripe_server"]

PEOPLE = 40
REPEATED = 0.3


@pytest.mark.django_db
def test_flood(
    stripe_server: LoopbackStripe, settings: LazySettings, clock: Clock, request: pytest.FixtureRequest
) -> None:
    wanted = request.config.getoption("events")
    begun = time.monotonic()
    clock.tick = flood.TICK
    stage = Stage(stripe_server, settings, clock)
    flood.fill(stage, wanted, people=PEOPLE)
    said = flood.played(stage, REPEATED)
    print(json.dumps({"flood": said, "seconds": round(time.monotonic() - begun)}))  # noqa: T201
    assert said["events"] >= wanted

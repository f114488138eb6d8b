"""The loopback Stripe by itself, as a demo runs it: kept in a file, its clock running on."""

from pathlib import Path

import pytest
from stripe import InvalidRequestError, StripeClient

from tests.loopback.stripe.clock import Clock
from tests.loopback.stripe.launcher import LoopbackStripe
from tests.loopback.stripe.shop import Shop

HOOK = "http://127.0.0.1:9/webhooks/stripe/"


def test_the_account_outlives_its_process(tmp_path: Path) -> None:
    words = ("--frozen", "--state", str(tmp_path / "state.json"), "--webhook", HOOK, "--webhook-secret", "whsec_demo")
    with LoopbackStripe(*words) as first:
        first.habits(webhooks="hold")  # nobody listens: no use in trying
        shop = Shop(first)
        sub = shop.subscribe()
        events = first.events()
    with LoopbackStripe(*words) as second:
        assert second.webhook_secrets == ["whsec_demo"]
        assert len(second.objects("webhook_endpoint")) == 2  # the shop's and the one of the command line, not doubled
        assert second.events() == events
        second.advance(days=32)
        renewed = second.sdk().v1.invoices.list({"subscription": sub.id}).data
        assert [invoice.status for invoice in renewed] == ["paid", "paid"]
        assert len({row["id"] for row in second.objects("invoice")}) == 2


def test_a_running_clock_does_what_is_due_by_itself(tmp_path: Path) -> None:
    clock = Clock(1_000, frozen=False)
    clock.move_to(5_000)
    assert 5_000 <= clock.now() <= 5_001
    still = Clock(1_000)
    still.move_to(900)
    assert still.now() == 1_000


def test_it_refuses_an_api_version_that_it_is_not() -> None:
    with LoopbackStripe() as server:
        old = StripeClient(server.key, base_addresses={"api": server.url}, stripe_version="2020-08-27")
        with pytest.raises(InvalidRequestError, match="Invalid Stripe API version"):
            old.v1.customers.list()
        assert server.sdk().v1.customers.list().data == []

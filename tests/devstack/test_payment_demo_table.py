"""`make run-demo` is the product with one address changed, and a loopback Stripe that knows its webhook."""

from pathlib import Path

from devstack import payment_demo, programs
from devstack.checkout import Checkout
from tests.loopback.stripe import world


def test_it_adds_the_loopback_stripe_and_its_catalogue(tmp_path: Path) -> None:
    stack = payment_demo.stack(Checkout.at(tmp_path), "127.0.0.1", {}, 8500)
    (server,) = stack.before({"PORT": "8123"})
    words = dict(zip(server.argv[3::2], server.argv[4::2], strict=True))
    assert words["--port"] == "8500"
    assert words["--webhook"] == "http://127.0.0.1:8123/hooks/stripe/"
    assert words["--webhook-secret"] == stack.environment["STRIPE_WEBHOOK_SECRETS"]
    assert stack.environment["STRIPE_API_BASE"] == "http://127.0.0.1:8500"
    assert stack.environment["STRIPE_SECRET_KEY"] == world.TEST_KEY
    assert stack.steps[-1] == payment_demo.CATALOGUE


def test_who_has_a_key_gets_the_real_stripe(tmp_path: Path) -> None:
    stack = payment_demo.stack(Checkout.at(tmp_path), "127.0.0.1", {"STRIPE_SECRET_KEY": "sk_test_1"}, 8500)
    assert stack.steps == programs.STEPS
    assert not stack.environment
    assert stack.before({"PORT": "8123"}) == []

"""`make run-demo`: the product with plans that can be bought, on one machine and without a Stripe account.

In the place of Stripe stands the loopback Stripe (tests/loopback/stripe): a real server with checkout and portal pages
to click, to which Stripe's own SDK speaks. To the product one address differs from the real service, STRIPE_API_BASE.
Who has set STRIPE_SECRET_KEY gets the real one, as with `make run`.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from devstack import programs
from devstack.checkout import Checkout
from devstack.child import Program
from devstack.leftovers import mark
from devstack.stack import OneOff, Stack

KEY = "sk_test_loopback"  # guards nothing: it opens a server on loopback that knows no money
WEBHOOK_SECRET = "whsec_loopback_demo"  # noqa: S105 - signs what that server sends, and nothing else
WEBHOOK_PATH = "/hooks/stripe/"
READY_LINE = programs.READY_LINE + (
    "\nPlans are bought at the loopback Stripe, {address}: pay with the card that its page offers. Start at /pricing/."
)
CATALOGUE = OneOff("Making the loopback Stripe's catalogue", ("manage.py", "stripe_sync_catalogue", "--apply"))


def stack(checkout: Checkout, host: str, given: Mapping[str, str], stripe_port: int) -> Stack:
    """The whole product with the loopback Stripe on that port; with the real one where its key is given."""
    product = programs.product(checkout, host)
    if given.get("STRIPE_SECRET_KEY"):
        return product
    address = f"http://127.0.0.1:{stripe_port}"
    return replace(
        product,
        steps=(*product.steps, CATALOGUE),
        ready_line=READY_LINE.replace("{address}", address),
        environment=environment_of(address),
        before=lambda environment: [loopback(checkout, environment, stripe_port)],
    )


def environment_of(address: str) -> dict[str, str]:
    """As docs/stripe.md has one set it, but for the one address."""
    return {
        "STRIPE_SECRET_KEY": KEY,
        "STRIPE_WEBHOOK_SECRETS": WEBHOOK_SECRET,
        "STRIPE_API_BASE": address,
        "STRIPE_API_VERSION": "",
        "STRIPE_AUTOMATIC_TAX": "",
    }


def loopback(checkout: Checkout, environment: Mapping[str, str], port: int) -> Program:
    """The server; its account is kept in a file, since the product's rows name what is in it."""
    hook = f"http://127.0.0.1:{environment['PORT']}{WEBHOOK_PATH}"
    own = ["--port", str(port), "--state", str(checkout.var / "stripe.json")]
    own += ["--webhook", hook, "--webhook-secret", WEBHOOK_SECRET]
    return Program(
        name="stripe",
        argv=(str(checkout.python), "-m", "tests.loopback.stripe", *own),
        log=checkout.logs / "stripe.log",
        cwd=Path(checkout.root),
        env=dict(environment) | mark(checkout.var),
        ready_words='"url"',
    )

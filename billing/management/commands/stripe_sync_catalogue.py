"""`manage.py stripe_sync_catalogue [--apply]`: Stripe's products, prices, portal and webhook endpoint from plans.toml.

Prints the plan first, and carries it out with --apply only. Twice does what once does.
"""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from billing import catalogue, stripe_client
from billing.catalogue import ENDPOINTS, Step
from billing.stripe_client import StripeError
from billing.stripe_shapes import Json

FIXES = {
    stripe_client.NOT_SET_UP: "STRIPE_SECRET_KEY is not set: docs/stripe.md says where to get it.",
    stripe_client.KEY_REFUSED: "Stripe refuses STRIPE_SECRET_KEY, or it may not write products and endpoints.",
    stripe_client.UNREACHABLE: "Stripe doesn't answer at STRIPE_API_BASE.",
}


class Command(BaseCommand):
    help = "Make Stripe's catalogue as plans.toml wants it; shows the plan, does it with --apply."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="carry the plan out")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            steps = catalogue.plan(catalogue.wanted(), catalogue.found())
            for step in steps:
                self.stdout.write(as_line(step))
            if refused := [step for step in steps if step.refused]:
                raise CommandError(f"Refused: {len(refused)}. Nothing is changed.")
            self._carry_out(steps, carry_out=options["apply"])
        except StripeError as error:
            raise CommandError(FIXES.get(error.code, f"Stripe answered: {error}")) from None

    def _carry_out(self, steps: list[Step], *, carry_out: bool) -> None:
        mode = "live" if stripe_client.livemode() else "test"
        if not steps:
            self.stdout.write(f"Nothing to do: Stripe's catalogue is as plans.toml wants it ({mode} mode).")
        elif not carry_out:
            self.stdout.write(f"Nothing is changed yet ({mode} mode): the same command with --apply does it.")
        else:
            catalogue.apply(steps, self._tell)
            self.stdout.write(f"Done: {len(steps)} ({mode} mode).")

    def _tell(self, step: Step, answer: Json) -> None:
        self.stdout.write(f"{'changed' if step.id else 'created'} {step.name}")
        if step.kind == ENDPOINTS and answer.get("secret"):
            self.stdout.write(f"\nPut this into the environment:\n\nSTRIPE_WEBHOOK_SECRETS={answer['secret']}\n")


def as_line(step: Step) -> str:
    """One step for people."""
    if step.refused:
        return f"! {step.name}: {step.refused}"
    what = f"~ {step.name}" if step.id else f"+ {step.name}"
    return f"{what} {json.dumps(dict(step.params), sort_keys=True)}"

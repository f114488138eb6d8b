"""`manage.py plan --dau N [--json]`: what a month costs each way, the cheapest within the wish, its settings."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError
from django.utils import timezone

from gpujobs import plans
from gpujobs.planning import planner, question, telling
from gpujobs.planning.arrivals import SHAPES
from gpujobs.planning.assumptions import Assumptions, PlanError


class Command(BaseCommand):
    help = "Plan a month: what each way to serve so many daily users costs, waits, settings, crossing points."
    requires_system_checks: list[str] = []  # a plan for an endpoint that is not set up yet

    def add_arguments(self, parser: CommandParser) -> None:
        # Numbers stay text here: question.read() says what is wrong with them, in the same words as the page.
        parser.add_argument("--dau", required=True, metavar="N", help="daily users: 1 to 100,000,000")
        parser.add_argument("--checks-per-user", default="", metavar="N", help="texts that one pastes in a day; 3")
        parser.add_argument("--words", default="", metavar="N", help="of a pasted text; 559 on average")
        parser.add_argument("--shape", default="", help=f"when they come: {', '.join(SHAPES)}; office")
        parser.add_argument("--p95", default="", metavar="SECONDS", help="wish for a pasted text; 2")
        parser.add_argument("--bulk-p95", default="", metavar="SECONDS", help="wish for classes and programs; 60")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            dest="assumptions",
            metavar="NAME=VALUE",
            help="another value for an assumption, or `unknown`; may be repeated",
        )
        parser.add_argument("--json", action="store_true", help="one JSON object; money in nano-dollars")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {
            "users": options["dau"],
            "checks": options["checks_per_user"],
            "words": options["words"],
            "shape": options["shape"],
            "p95": options["p95"],
            "bulk_p95": options["bulk_p95"],
        }
        try:
            found = planner.plan(question.read(given), self._book(options["assumptions"]))
        except PlanError as error:
            raise CommandError(f"{error.code}: {error}") from None
        if options["json"]:
            self.stdout.write(json.dumps(found.to_json()))
        else:
            self.stdout.write("\n".join(telling.lines(found)))

    def _book(self, given: list[str]) -> Assumptions:
        """A plan is made before anything is set up, too: then with the prices that ship."""
        try:
            return plans.book(given, now=timezone.now())
        except OperationalError:
            self.stderr.write("The database can't be reached: list prices as they ship, not the ledger's.")
            return plans.book(given)

"""`manage.py ledger sums|uncosted|correct`: prove the sums, see what waits for a price, correct a line by another."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from gpujobs import costing, ledger
from gpujobs.models import CostEntry
from inkcloak import money

SHOWN = 50


class Command(BaseCommand):
    help = "Prove the ledger's sums, list runs that could not be costed, or correct a line (by another line)."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        sums = verbs.add_parser("sums", help="hold the sums against the lines; nobody can post meanwhile")
        sums.add_argument("--repair", action="store_true", help="put wrong ones right")
        verbs.add_parser("uncosted", help="runs that ended long ago and have no lines yet")
        correct = verbs.add_parser("correct", help="make a line amount to something else")
        correct.add_argument("line", type=int, help="its number")
        correct.add_argument("dollars", help='what it should have been, as "0.15"')
        correct.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        {"sums": self._sums, "uncosted": self._uncosted, "correct": self._correct}[options["verb"]](options)

    def _sums(self, options: dict[str, Any]) -> None:
        differing = ledger.rebuild_sums(repair=options["repair"])
        if differing and not options["repair"]:
            raise CommandError(f"{differing} sums are not those of the lines; --repair puts them right")
        self.stdout.write(f"repaired: {differing}" if differing else "every sum is that of its lines")

    def _uncosted(self, options: dict[str, Any]) -> None:
        runs = costing.uncosted(timezone.now())
        for run in runs.defer("result")[:SHOWN]:
            self.stdout.write(f"{run.pk}  {run.finished_at:%Y-%m-%d %H:%M}  {run.backend}  {run.gpu_type or '?'}")
        self.stdout.write(f"{runs.count()} runs wait to be costed")

    def _correct(self, options: dict[str, Any]) -> None:
        line = CostEntry.objects.filter(pk=options["line"]).first()
        if line is None:
            raise CommandError(f"there is no line {options['line']}")
        try:
            made = ledger.correct(line, money.parse(options["dollars"]), options["reason"])
        except ValueError as error:
            raise CommandError(str(error)) from None
        if made is None:
            self.stdout.write(f"line {line.pk} amounts to that already")
        else:
            self.stdout.write(f"line {made.pk}: {money.exact(made.amount_nanousd)}, correcting {line.pk}")

"""`manage.py api_contract`: keeps the API's contract as it is now, if its changelog says what has changed."""

import difflib
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from inkcloak import docs_changelog
from inkcloak.docs_changelog import CHANGELOG, CONTRACT


class Command(BaseCommand):
    help = "Write docs/api-contract.txt and stamp the newest entry of docs/api-changelog.md."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--diff", action="store_true", help="only say what has changed since the last time")
        parser.add_argument("--compatible", action="store_true", help="no client misses what is gone from the contract")

    def handle(self, *args: Any, **options: Any) -> None:
        before, now = docs_changelog.kept_lines(), docs_changelog.lines()
        changed = [line for line in difflib.unified_diff(before, now, lineterm="", n=0) if line[:1] in "+-"][2:]
        self.stdout.write("\n".join(changed) or "The contract is as it was.")
        if options["diff"]:
            return
        try:
            written = CHANGELOG.read_text(encoding="utf-8")
            text = docs_changelog.stamped(written, before, now, compatible=options["compatible"])
        except docs_changelog.Undocumented as error:
            raise CommandError(str(error)) from None
        CHANGELOG.write_text(text, encoding="utf-8")
        CONTRACT.write_text("\n".join(now) + "\n", encoding="utf-8")

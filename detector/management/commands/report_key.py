"""`manage.py report_key [--new]`: the key that signs reports; a new one, and how to keep the old one known.

Nothing is changed: keys are settings, so that no copy of the database or of the code can sign.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from inkcloak import report_keys
from inkcloak.client import reports

STILL_SIGNING = timedelta(days=1)  # until every process has the new key


class Command(BaseCommand):
    help = "Show the key that signs reports; with --new, print one that can take its place."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--new", action="store_true", help="print a new private key and the settings to change")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            known = report_keys.published()
        except ValueError as error:
            raise CommandError(str(error)) from None
        if not options["new"]:
            for key in known:
                until = f"until {key.valid_until.isoformat()}" if key.valid_until else "signs now"
                self.stdout.write(f"{key.key_id}  {reports.encode(key.key)}  {until}")
            return
        old = list(settings.REPORT_OLD_KEYS)
        if settings.REPORT_SIGNING_KEY:
            old.insert(0, report_keys.as_old_key(settings.REPORT_SIGNING_KEY, timezone.now() + STILL_SIGNING))
        self.stderr.write("Put these into the environment of every process; the first is a secret:")
        self.stdout.write(f"REPORT_SIGNING_KEY={reports.new_seed()}")
        self.stdout.write(f"REPORT_OLD_KEYS={','.join(old)}")

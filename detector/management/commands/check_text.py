"""`manage.py check_text [FILE|-] [--json]`: the way of a text from the command line, same answer as the page."""

import json
import sys
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from billing.accounts import Owner, internal_account
from detector import intake, presenting, retention, wakeups
from detector.models import Submission
from inkcloak.errors import DomainError


class Command(BaseCommand):
    help = "Check one text. The text is forgotten when the verdict is printed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", default="-", help="a UTF-8 text file, or - for standard input")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of lines for people")
        parser.add_argument("--max-fpr", default="", help="false-positive cap: 0.005, 0.01 or 0.05")
        parser.add_argument("--wait", type=float, default=120.0, help="seconds to wait for a worker")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            text = intake.decode(_read_bytes(options["file"]))
            submission = intake.accept(
                owner=Owner(account=internal_account()),
                text=text,
                source=Submission.Source.COMMAND,
                now=timezone.now(),
                max_fpr=options["max_fpr"],
                reuse=False,  # a tool for measuring: two calls at once must not answer each other
            )
        except DomainError as error:
            raise CommandError(f"{error.code}: {error.message}") from None
        try:
            self._report(_finished(submission, options["wait"]), as_json=options["json"])
        finally:
            retention.delete(submission)

    def _report(self, submission: Submission, *, as_json: bool) -> None:
        answer = presenting.answer(submission)
        self.stdout.write(json.dumps(answer, ensure_ascii=False) if as_json else presenting.as_lines(answer))


def _read_bytes(name: str) -> bytes:
    limit = intake.MAX_BYTES + 1  # one more than allowed: enough to see that it is too much
    if name == "-":
        return sys.stdin.buffer.read(limit)
    try:
        with Path(name).open("rb") as file:
            return file.read(limit)
    except OSError as error:
        raise CommandError(f"cannot read {name}: {error.strerror}") from None


def _finished(submission: Submission, seconds: float) -> Submission:
    async_to_sync(wakeups.wait_until_finished)(submission.pk, seconds=seconds)
    submission.refresh_from_db()
    if submission.status == Submission.Status.FAILED:
        raise CommandError(f"failed: {submission.failure_code}; nothing was charged")
    if not submission.is_finished:
        raise CommandError(f"no verdict within {seconds:g} s: does a worker run? (`make run` starts one)")
    return submission

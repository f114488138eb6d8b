"""`manage.py create_api_key --email … --scopes …`: one key, printed once."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User
from inkcloak.errors import DomainError


class Command(BaseCommand):
    help = "Make an API key for a person's account and print it: it is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True, help="whose account the key is for")
        parser.add_argument(
            "--scopes",
            nargs="+",
            default=[Scope.CHECKS_WRITE, Scope.CHECKS_READ, Scope.USAGE_READ],
            help=f"some of {', '.join(Scope.values)} (default: all but {Scope.WEBHOOKS_MANAGE})",
        )
        parser.add_argument("--name", default="command line")
        parser.add_argument("--test", action="store_true", help="a test key: made-up answers, no cost")
        parser.add_argument("--days", type=int, help="after which the key ends; without it, never")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=options["email"]).first()
        if user is None:
            raise CommandError(f"nobody here has the address {options['email']}")
        now = timezone.now()
        try:
            issued = keys.issue(
                account=account_of(user),
                name=options["name"],
                scopes=[scope for word in options["scopes"] for scope in word.split(",") if scope],
                live=not options["test"],
                created_by=user,
                expires_at=now + timedelta(days=options["days"]) if options["days"] is not None else None,
                now=now,
            )
        except DomainError as error:
            raise CommandError(str(error.message)) from None
        # The key alone on standard output, so that KEY=$(manage.py create_api_key …) works.
        self.stderr.write(f"{issued.key.hint}… for {user.email}, may: {' '.join(issued.key.scopes)}. Shown this once:")
        self.stdout.write(issued.token)

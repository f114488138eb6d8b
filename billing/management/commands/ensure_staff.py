"""`manage.py ensure_staff`: one staff login for a new installation, printed once."""

import secrets
from typing import Any

from allauth.account.models import EmailAddress
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from billing.models import User

PASSWORD_BYTES = 12


class Command(BaseCommand):
    help = "Make a staff login if there is none, and print its password: it is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", default="staff@inkcloak.example")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if User.objects.filter(is_staff=True).exists():
            return
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        user = User.objects.create_superuser(options["email"], password)
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
        self.stdout.write(f"Staff login (shown once): {user.email}  password: {password}")

"""`manage.py point_alias ALIAS VERSION --reason "…"`: which registered model version answers under an alias."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from gpujobs import registry
from gpujobs.models import ModelVersion


class Command(BaseCommand):
    help = "Point an alias (champion, champion-cpu) at a registered model version; the move is kept with its reason."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("alias", choices=registry.BOTH_TIERS)
        parser.add_argument("version", help="as register_shipped_model printed it")
        parser.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        version = ModelVersion.objects.filter(pk=options["version"]).first()
        if version is None:
            known = ", ".join(ModelVersion.objects.values_list("version", flat=True)) or "none"
            raise CommandError(f"no such model version; registered: {known}")
        moved = registry.promote(version, alias=options["alias"], reason=options["reason"])
        self.stdout.write(f"{options['alias']}: {version.name} {version.pk}" + ("" if moved else " (it was already)"))

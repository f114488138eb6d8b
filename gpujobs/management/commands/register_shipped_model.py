"""`manage.py register_shipped_model`: records every model folder of MODEL_DIR; the first becomes champion."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from gpujobs import registry
from gpujobs.models import ModelAlias


class Command(BaseCommand):
    help = "Register the model folders under MODEL_DIR; point `champion` at the newest where it points nowhere."

    def handle(self, *args: Any, **options: Any) -> None:
        manifests = sorted(settings.MODEL_DIR.glob("*/manifest.json"))
        if not manifests:
            raise CommandError("MODEL_DIR holds no model folder")
        versions = [registry.register(path.parent) for path in manifests]
        if self._champion_is_here({v.version for v in versions}):
            return
        registry.promote(versions[-1], reason="shipped with this release")
        self.stdout.write(f"champion: {versions[-1].name} {versions[-1].version}")

    def _champion_is_here(self, versions: set[str]) -> bool:
        """A champion whose files this release no longer ships could not score anything."""
        champion = ModelAlias.objects.filter(name=registry.CHAMPION).first()
        return champion is not None and champion.version_id in versions

"""Model versions: register a folder, point an alias, resolve an alias to a version and to its folder."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from gpujobs.models import AliasMove, ModelAlias, ModelVersion
from inkcloak.errors import Unavailable

CHAMPION = "champion"  # what checks are accepted for
CHAMPION_CPU = "champion-cpu"  # what answers in its place where the CPU takes a batch; no such alias: the champion
BOTH_TIERS = (CHAMPION, CHAMPION_CPU)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The folder's manifest. Raises OSError or ValueError where there is none that can be read."""
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return manifest


def register(folder: Path) -> ModelVersion:
    """Records the model in `folder`. The same version twice is one row: versions never change."""
    manifest = read_manifest(folder)
    version, _made = ModelVersion.objects.get_or_create(
        version=manifest["model_version"], defaults={"name": manifest["model"], "manifest": manifest}
    )
    return version


@transaction.atomic
def promote(version: ModelVersion, *, alias: str = CHAMPION, reason: str, by_id: int | None = None) -> bool:
    """Points `alias` at `version` and keeps the move. False if it already pointed there."""
    current = ModelAlias.objects.select_for_update().filter(name=alias).first()
    if current and current.version_id == version.pk:
        return False
    previous = current.version if current else None
    ModelAlias.objects.update_or_create(name=alias, defaults={"version": version})
    AliasMove.objects.create(alias=alias, previous=previous, current=version, reason=reason, moved_by_id=by_id)
    return True


def resolve(alias: str = CHAMPION) -> ModelVersion:
    """The version behind an alias. Raises Unavailable while no model is registered."""
    found = ModelAlias.objects.select_related("version").filter(name=alias).first()
    if found is None:
        raise Unavailable("no_model", _("No model is in service yet. Please try again later."))
    return found.version


def stand_in(tier: str) -> tuple[str, ModelVersion] | None:
    """(version, the one that this tier scores with in its place); None where the tiers have the same one.

    A text goes to the GPU's model or to the CPU's by where it is scored, and its verdict names the one that did it.
    """
    found = {a.name: a.version for a in ModelAlias.objects.select_related("version").filter(name__in=BOTH_TIERS)}
    if len(found) < len(BOTH_TIERS) or found[CHAMPION].pk == found[CHAMPION_CPU].pk:
        return None
    old, new = (CHAMPION, CHAMPION_CPU) if tier == "cpu" else (CHAMPION_CPU, CHAMPION)
    return found[old].pk, found[new]


def folder_of(version: str) -> Path:
    """Where the files of a version lie on this machine. Raises LookupError if they don't."""
    for manifest in sorted(settings.MODEL_DIR.glob("*/manifest.json")):
        if read_manifest(manifest.parent)["model_version"] == version:
            return manifest.parent
    raise LookupError(f"model version {version} is not on this machine")

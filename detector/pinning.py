"""Which model versions can be called now, and which tier scores with which: for callers who name a version.

A version stays callable as long as its files are there: on this machine (MODEL_DIR), or, for the champion, in the
image of the rented GPU.
"""

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from gpujobs import registry, routing
from gpujobs.models import ModelVersion
from inkcloak.errors import Conflict, Invalid

TIERS: dict[str, tuple[str, ...]] = {
    routing.CPU: (routing.CPU,),
    routing.GPU: (routing.GPU,),
    routing.HYBRID: (routing.CPU, routing.GPU),
}


def named(name: str, *, now: datetime) -> ModelVersion:
    """The version that a caller named. Raises Invalid for one that never was, Conflict as check_callable does."""
    version = ModelVersion.objects.filter(pk=name).first()
    if version is None:
        raise Invalid("unknown_model", _("There is no model version of that name: GET /api/v1/models lists them."))
    check_callable(version.pk, now=now)
    return version


def check_callable(version: str, *, now: datetime) -> None:
    """Raises Conflict for a version that can't be called now: the same request was right before, and may be again."""
    if not tiers_of(version, now=now):
        message = _("That model version can't be called any more: GET /api/v1/models lists those that can.")
        raise Conflict("model_not_callable", message)


def tiers_of(version: str, *, now: datetime) -> list[str]:
    """The tiers that the policy allows and that have this version's files."""
    tiers = TIERS[routing.current_policy(now)]
    return [tier for tier in tiers if version in scored_by(tier, [version])]


def scored_by(tier: str, versions: Iterable[str]) -> set[str]:
    """Those of `versions` that this tier can score with."""
    in_stead = registry.stand_in(tier)
    own = in_stead[1].pk if in_stead else registry.resolve().pk
    here = _on_this_machine() if tier == routing.CPU else set()
    return {version for version in versions if version == own or version in here}


def _on_this_machine() -> set[str]:
    folders = (path.parent for path in settings.MODEL_DIR.glob("*/manifest.json"))
    return {registry.read_manifest(folder)["model_version"] for folder in folders}

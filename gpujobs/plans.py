"""The planner with this site's own values: its settings, then what is given with the plan. Reads settings, no rows."""

from collections.abc import Iterable

from django.conf import settings

from gpujobs.planning.assumptions import STANDARD, Assumptions, assignments

SITE = "this site's setting CPU_CHARACTERS_PER_SECOND"
SETTING = "this site's setting PLAN_ASSUMPTIONS"


def book(given: Iterable[str] = ()) -> Assumptions:
    """given: lines NAME=VALUE. Raises PlanError for a name or a value that cannot be."""
    speed = {"cpu.characters_per_second": str(settings.CPU_CHARACTERS_PER_SECOND)}
    ours = assignments(settings.PLAN_ASSUMPTIONS)
    return STANDARD.with_values(speed, SITE).with_values(ours, SETTING).with_values(assignments(given))

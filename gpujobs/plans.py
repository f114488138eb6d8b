"""The planner with this site's own values: the prices that its ledger counts with, its settings, and what is given.

Later ones win: the planner's own rows, prices that are in the database, settings, lines of a plan.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from django.conf import settings

from gpujobs.models import Price
from gpujobs.planning.assumptions import STANDARD, Assumption, Assumptions, assignments
from gpujobs.prices import price_at
from inkcloak.money import NANO

SITE = "this site's setting CPU_CHARACTERS_PER_SECOND"
SETTING = "this site's setting PLAN_ASSUMPTIONS"
# Provider, GPU type, mode, region of the price rows that a plan goes by; all by the hour. A row for another region is
# another price: the pods of the secure cloud cost more than those of the community's.
ROWS = {
    "price.serverless_flex": ("runpod", "AMPERE_16", Price.Mode.FLEX, ""),
    "price.serverless_active": ("runpod", "AMPERE_16", Price.Mode.ACTIVE, ""),
    "price.pod": ("runpod", "NVIDIA RTX A4000", Price.Mode.POD, "COMMUNITY"),
    "price.training_pod": ("runpod", "NVIDIA GeForce RTX 3090", Price.Mode.POD, "COMMUNITY"),
    "price.t4_spot": ("gcp", "nvidia-tesla-t4", Price.Mode.SPOT, ""),
}


def book(given: Iterable[str] = (), *, now: datetime | None = None) -> Assumptions:
    """given: lines NAME=VALUE.  now: whose prices hold; None = without a look at the database.

    Raises PlanError for a name or a value that cannot be.
    """
    known = STANDARD if now is None else STANDARD.with_rows(_priced(now))
    speed = {"cpu.characters_per_second": str(settings.CPU_CHARACTERS_PER_SECOND)}
    ours = assignments(settings.PLAN_ASSUMPTIONS)
    return known.with_values(speed, SITE).with_values(ours, SETTING).with_values(assignments(given))


def _priced(now: datetime) -> Iterator[Assumption]:
    for name, (provider, gpu, mode, region) in ROWS.items():
        found = price_at(provider, gpu, mode, now, region)
        if found is not None and found.region == region and found.unit == Price.Unit.HOUR:
            yield replace(
                STANDARD[name],
                value=Decimal(found.amount_nanousd) / NANO,
                source=f"{found.source} (price {found.pk})",
                as_of=found.as_of.isoformat(),
            )

"""What a provider asked for a machine at an instant. Rows are added and never changed (a trigger refuses it).

A price that nobody knows is None: whoever costs something by it says so and waits, and never counts it as nothing.
"""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db.models import Case, IntegerField, Value, When

from gpujobs.list_prices import listed
from gpujobs.models import Price
from gpujobs.pricing import Rate


def price_at(provider: str, gpu_type: str, mode: str, at: datetime, region: str = "") -> Price | None:
    """The last one that was valid by then: of that region, else of all regions."""
    rows = Price.objects.filter(
        provider=provider, gpu_type=gpu_type, mode=mode, region__in={region, ""}, valid_from__lte=at
    )
    own_first = Case(When(region=region, then=Value(0)), default=Value(1), output_field=IntegerField())
    return rows.order_by(own_first, "-valid_from", "-id").first()


def rate_of(price: Price) -> Rate:
    """For pricing.cost. Raises ValueError for the price of a disk."""
    if price.unit != Price.Unit.HOUR:
        raise ValueError(f"{price} is no price of an hour")
    return Rate(price.amount_nanousd, price.pk)


def seed(**_signal: Any) -> int:
    """Adds the list prices that are not there yet; twice is once. Also a receiver of post_migrate."""
    before = Price.objects.count()
    rows = [Price(**asdict(each)) for each in listed()]
    Price.objects.bulk_create(rows, ignore_conflicts=True)
    return Price.objects.count() - before

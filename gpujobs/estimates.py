"""What a batch on the rented GPU can cost at most: what is held for it before it starts."""

from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from gpujobs import prices
from gpujobs.models import Budget, Price, Service
from gpujobs.pricing import Rate, cost, started_seconds
from inkcloak.errors import Unavailable

PROVIDER = "runpod"
# The start of a container with the model in its image, at its worst; fetching the image is not billed.
COLD_START_SECONDS = 30


class UnknownPrice(Unavailable):
    """Nobody knows what the work would cost: it is not started, and never counted as nothing."""

    def __init__(self) -> None:
        super().__init__(
            "price_unknown", _("The price of the GPU is not known, so no GPU work is started within a budget.")
        )


def batch_nanousd(now: datetime) -> int:
    """A cold start, the longest execution that the provider allows, and the idle time behind it, by the dearest of the
    endpoint's cards. Raises UnknownPrice.
    """
    seconds = COLD_START_SECONDS + settings.RUNPOD_EXECUTION_SECONDS + settings.RUNPOD_IDLE_SECONDS
    return cost(dearest(now), started_seconds(seconds * 1000))


def next_amount(budget: Budget, now: datetime) -> int:
    """What the next work under this budget needs room for: a batch, where checks fall under it. 0 where nobody knows,
    and where a price is unknown, which stops a batch by itself."""
    if budget.service not in ("", Service.INFERENCE):
        return 0
    try:
        return batch_nanousd(now)
    except UnknownPrice:
        return 0


def dearest(now: datetime) -> Rate:
    """Of the pools that the endpoint may take its cards from. Raises UnknownPrice where one has no price."""
    found = [prices.price_at(PROVIDER, pool, Price.Mode.FLEX, now) for pool in settings.RUNPOD_GPU_POOLS]
    known = [price for price in found if price is not None]
    if not known or len(known) < len(found):
        raise UnknownPrice
    most = max(known, key=lambda price: price.amount_nanousd)
    return Rate(most.amount_nanousd, most.pk)

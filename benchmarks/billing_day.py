"""One day of arrivals through the product's own routing and batching, on a simulated clock. Needs django.setup().

The site and the endpoint are the planner's (gpujobs/planning/site.py, endpoint.py); batches are packed as the detector
packs them. Speeds are models: CPU_CHARACTERS_PER_SECOND for this machine, the founder's times for the rented one.
"""

from collections.abc import Sequence
from functools import partial

from benchmarks.billing_arrivals import Text
from detector import batching, dispatch
from gpujobs.planning import site
from gpujobs.planning.site import NETWORK_SECONDS, Outcome, Packing, Setup, look_after

__all__ = ["NETWORK_SECONDS", "PRODUCT", "Outcome", "Setup", "look_after", "play", "together"]

PRODUCT: Packing[Text] = Packing(
    cpu=partial(batching.pack, limits=batching.CPU),
    gpu=partial(batching.pack, limits=batching.GPU),
    claim_rows=dispatch.CLAIM_ROWS,
    counted_rows=dispatch.COUNTED_ROWS,
)
together = site.together


def play(texts: Sequence[Text], setup: Setup) -> Outcome:
    """The day. Raises RuntimeError if a text is lost or answered twice."""
    return site.play(texts, setup, PRODUCT)

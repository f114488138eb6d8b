"""The list prices that ship: dated data with their sources, kept as rows by `prices.seed` after each migration.

A price that changes gets another line here with a later `valid_from`, or a row by hand; a line that shipped stays.
Serverless is listed by the second and by pool; a pool's price stands under the pool's id too, for workers whose exact
type nobody told. A pod's region is its cloud, where prices differ by it. Amounts are dollars, as they are listed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime

from gpujobs.models import Price
from inkcloak import money

SERVERLESS_LIST = "RunPod's serverless price list"
SERVERLESS_ACTIVE = "RunPod's serverless price list until mid-2026; newer ones say: via sales"
RUNPOD_DOCS = "RunPod's documentation of pricing"
PODS_SNAPSHOT = "SkyPilot's catalogue of RunPod's secure cloud"
NOTES = "the founder's notes"
GCP_NOTES = "GCP's list of accelerators, without the machine around it"
AUGUST = date(2026, 8, 31)
# No earlier price is known, so that what was spent before counts at the same one: never as nothing.
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = 3600  # in an hour
NETWORK_VOLUME, STOPPED_VOLUME = "network volume", "stopped volume"  # in the place of a GPU type; "" = a running disk

# pool -> (dollars a second, its GPU types)
POOLS = {
    "AMPERE_16": ("0.00016", ("NVIDIA RTX A4000", "NVIDIA RTX A4500", "NVIDIA RTX 4000 Ada Generation")),
    "AMPERE_24": ("0.00019", ("NVIDIA L4", "NVIDIA RTX A5000", "NVIDIA GeForce RTX 3090")),
    "ADA_24": ("0.00031", ("NVIDIA GeForce RTX 4090",)),
    "AMPERE_48": ("0.00034", ("NVIDIA RTX A6000", "NVIDIA A40")),
    "ADA_48_PRO": ("0.00053", ("NVIDIA L40S",)),
    "AMPERE_80": ("0.00076", ("NVIDIA A100 80GB PCIe",)),
    "ADA_80_PRO": ("0.00116", ("NVIDIA H100 80GB HBM3",)),
    "HOPPER_141": ("0.00155", ("NVIDIA H200",)),
}
ACTIVE_16 = "0.00011"
# (provider, GPU type, mode, region, dollars an hour, source)
MACHINES = (
    ("runpod", "NVIDIA RTX A4000", Price.Mode.POD, "", "0.25", PODS_SNAPSHOT),
    ("runpod", "NVIDIA RTX A5000", Price.Mode.POD, "", "0.27", PODS_SNAPSHOT),
    ("runpod", "NVIDIA GeForce RTX 5090", Price.Mode.POD, "", "0.99", PODS_SNAPSHOT),
    ("runpod", "NVIDIA A100 80GB PCIe", Price.Mode.POD, "", "1.39", PODS_SNAPSHOT),
    ("runpod", "NVIDIA GeForce RTX 3090", Price.Mode.POD, "COMMUNITY", "0.22", NOTES),
    ("gcp", "nvidia-tesla-t4", Price.Mode.POD, "", "0.35", GCP_NOTES),
    ("gcp", "nvidia-tesla-t4", Price.Mode.SPOT, "", "0.11", NOTES),
)
# (what, dollars a GB and month)
DISKS = (("", "0.10"), (STOPPED_VOLUME, "0.20"), (NETWORK_VOLUME, "0.07"))


@dataclass(frozen=True, slots=True)
class Listed:
    """As the row: nano-dollars for one unit."""

    provider: str
    gpu_type: str
    mode: str
    region: str
    unit: str
    amount_nanousd: int
    source: str
    as_of: date = AUGUST
    valid_from: datetime = SINCE


def listed() -> Iterator[Listed]:
    """Every line."""
    hour = Price.Unit.HOUR
    for pool, (dollars, types) in POOLS.items():
        for gpu in (pool, *types):
            flex = money.parse(dollars) * SECONDS
            yield Listed("runpod", gpu, Price.Mode.FLEX, "", hour, flex, SERVERLESS_LIST)
    for gpu in ("AMPERE_16", *POOLS["AMPERE_16"][1]):
        active = money.parse(ACTIVE_16) * SECONDS
        yield Listed("runpod", gpu, Price.Mode.ACTIVE, "", hour, active, SERVERLESS_ACTIVE)
    for provider, gpu, mode, region, dollars, source in MACHINES:
        yield Listed(provider, gpu, mode, region, hour, money.parse(dollars), source)
    for what, dollars in DISKS:
        unit, amount = Price.Unit.GB_MONTH, money.parse(dollars)
        yield Listed("runpod", what, Price.Mode.STORAGE, "", unit, amount, RUNPOD_DOCS)

"""GPU types, their serverless pools and prices: dated data of the reference's section 6 (Aug 2026), not constants.

Serverless: list price per second, flex, times 3600. Pods: secure-cloud prices where the reference has one; a type
without is not offered as a pod here. Community is quoted at the secure price: nothing else is known.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """Prices in nano-dollars an hour for one GPU; 0 = not offered."""

    id: str
    name: str
    pool: str | None
    memory_gb: int
    serverless_nanousd_per_second: int
    pod_nanousd_per_hour: int = 0

    @property
    def serverless_nanousd_per_hour(self) -> int:
        """Of the pool it belongs to."""
        return self.serverless_nanousd_per_second * 3600


GPUS = (
    Gpu("NVIDIA RTX A4000", "RTX A4000", "AMPERE_16", 16, 160_000, 250_000_000),
    Gpu("NVIDIA RTX A4500", "RTX A4500", "AMPERE_16", 20, 160_000),
    Gpu("NVIDIA RTX 4000 Ada Generation", "RTX 4000 Ada", "AMPERE_16", 20, 160_000),
    Gpu("NVIDIA RTX A5000", "RTX A5000", "AMPERE_24", 24, 190_000, 270_000_000),
    Gpu("NVIDIA L4", "L4", "AMPERE_24", 24, 190_000),
    Gpu("NVIDIA GeForce RTX 3090", "RTX 3090", "AMPERE_24", 24, 190_000),
    Gpu("NVIDIA GeForce RTX 4090", "RTX 4090", "ADA_24", 24, 310_000),
    Gpu("NVIDIA RTX A6000", "RTX A6000", "AMPERE_48", 48, 340_000),
    Gpu("NVIDIA A40", "A40", "AMPERE_48", 48, 340_000),
    Gpu("NVIDIA L40S", "L40S", "ADA_48_PRO", 48, 530_000),
    Gpu("NVIDIA A100 80GB PCIe", "A100 PCIe", "AMPERE_80", 80, 760_000, 1_390_000_000),
    Gpu("NVIDIA H100 80GB HBM3", "H100 SXM", "ADA_80_PRO", 80, 1_160_000),
    Gpu("NVIDIA H200", "H200 SXM", "HOPPER_141", 141, 1_550_000),
    Gpu("NVIDIA GeForce RTX 5090", "RTX 5090", None, 32, 0, 990_000_000),
)
BY_ID = {gpu.id: gpu for gpu in GPUS}
POOLS = frozenset(gpu.pool for gpu in GPUS if gpu.pool)
CUDA_VERSIONS = ("12.4", "12.6", "12.8")
DATA_CENTERS = ("EU-RO-1", "EU-SE-1", "US-TX-3")


def first_of(pools: list[str], excluded: list[str]) -> Gpu | None:
    """The type on which a worker of these pools is placed: the first that is not excluded."""
    return next((gpu for pool in pools for gpu in GPUS if gpu.pool == pool and gpu.id not in excluded), None)

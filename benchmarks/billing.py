"""`make bench-billing`: simulated days of 1,000 daily users, policy by policy: dollars, waits, useful share.

    ARGS="--users 1000 --days 5 --seed 1 --cold-start 5"

Who sends what and when: billing_arrivals.py. Each policy plays the same texts through the product's own routing and
batching on a simulated clock (billing_day.py) against a model of the endpoint and its bill (billing_endpoint.py): no
server, no sleep, and a seed gives the same figures everywhere. "default" is the hybrid policy with the settings as
they stand; its wake and idle seconds are then varied, and at last its scaler's delay. Figures are means of the days.

Left out, for every policy alike: form, reading and page (0.06 s of a check: `make bench-check`), repeats that an
earlier verdict answers, image pulls, faults. The CPU's machine is the site's own and paid anyway. The last line is
JSON.
"""

import argparse
import json
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")
django.setup()

from django.conf import settings  # noqa: E402  needs django.setup(), and so do all below

from benchmarks import billing_arrivals as arrivals  # noqa: E402
from benchmarks.billing_day import Outcome, Setup, play, together  # noqa: E402
from benchmarks.billing_endpoint import ACTIVE_16_GB, COLD_START_SECONDS, FLEX_16_GB, Limits  # noqa: E402
from gpujobs import routing  # noqa: E402

USERS, DAYS, SEED = 1000, 5, 1
MONTH_DAYS = 30
MONTH_TARGET_USD = 25  # the founder's own month at 1,000 daily users was 15 to 25 dollars
WAKES, IDLES = (5, 10, 30, 60, 120), (1, 5, 30)  # seconds
DELAYS = (4, 8, 20)  # RUNPOD_SCALER_VALUE, in seconds
# What recommended settings must keep (p95): somebody watches a pasted text; bulk takes little longer than on a GPU that
# is always on.
PASTED_SECONDS, BULK_MARGIN = 2.0, 1.25
DEFAULT, ALWAYS_ON, GPU_ONLY, CPU_ONLY = "default", "always on", "gpu only", "cpu only"
HEADER = (
    f"{'':28}  $/day  $/month  useful  billed s   cold     texts a day      pasted, s          bulk, s\n"
    f"{'':28}                           a day  starts    cpu    gpu    p50   p95   max    p50   p95   max"
)

Days = Sequence[Sequence[arrivals.Text]]
K = TypeVar("K")


@dataclass(frozen=True)
class Figures:
    """Of one setup: means of a day; dollars at the flex list price; waits in seconds (p50, p95, the longest)."""

    month_usd: float
    useful_share: float | None
    billed_seconds: float
    cold_starts: float
    cpu_texts: float
    gpu_texts: float
    pasted: tuple[float, float, float]
    bulk: tuple[float, float, float]

    def to_json(self) -> dict[str, Any]:
        return {
            "month_usd": round(self.month_usd, 2),
            "useful_share": None if self.useful_share is None else round(self.useful_share, 3),
            "pasted_s_p95": self.pasted[1],
            "bulk_s_p95": self.bulk[1],
        }


def as_set(cold_start: float) -> Setup:
    """The hybrid policy with the settings of this environment."""
    endpoint = Limits(
        workers_min=settings.RUNPOD_WORKERS_MIN,
        workers_max=settings.RUNPOD_WORKERS_MAX,
        idle_seconds=settings.RUNPOD_IDLE_SECONDS,
        cold_start_seconds=cold_start,
        queue_delay_seconds=settings.RUNPOD_SCALER_VALUE,
    )
    return Setup(
        policy=routing.HYBRID,
        wake_seconds=settings.GPU_WAKE_SECONDS,
        characters_per_second=settings.CPU_CHARACTERS_PER_SECOND,
        runs_in_flight=settings.RUNS_IN_FLIGHT,
        endpoint=endpoint,
    )


def policies(hybrid: Setup) -> dict[str, Setup]:
    """The default and what it is compared with, by name."""
    none, one = (replace(hybrid.endpoint, workers_min=least) for least in (0, 1))
    return {
        DEFAULT: hybrid,
        CPU_ONLY: replace(hybrid, policy=routing.CPU, endpoint=none),
        GPU_ONLY: replace(hybrid, policy=routing.GPU, endpoint=none),
        ALWAYS_ON: replace(hybrid, policy=routing.GPU, endpoint=one),
    }


def with_times(setup: Setup, wake: float, idle: float) -> Setup:
    return replace(setup, wake_seconds=wake, endpoint=replace(setup.endpoint, idle_seconds=idle))


def with_delay(setup: Setup, seconds: float) -> Setup:
    return replace(setup, endpoint=replace(setup.endpoint, queue_delay_seconds=seconds))


def measure(days: Days, setup: Setup) -> Figures:
    """All days under one setup."""
    return figures_of(together([play(texts, setup) for texts in days]), len(days))


def figures_of(outcome: Outcome, days: int) -> Figures:
    pasted = outcome.waits.get(arrivals.PASTED, [])
    bulk = [wait for kind in (arrivals.CLASS, arrivals.API) for wait in outcome.waits.get(kind, [])]
    return Figures(
        month_usd=FLEX_16_GB.dollars(outcome.billed_seconds / days * MONTH_DAYS),
        useful_share=outcome.useful_share,
        billed_seconds=outcome.billed_seconds / days,
        cold_starts=outcome.cold_starts / days,
        cpu_texts=outcome.tiers[routing.CPU] / days,
        gpu_texts=outcome.tiers[routing.GPU] / days,
        pasted=waits(pasted),
        bulk=waits(bulk),
    )


def waits(seconds: Sequence[float]) -> tuple[float, float, float]:
    """p50, p95 and the longest; zeros where nobody waited."""
    if len(seconds) < 2:
        return (round(sum(seconds), 2),) * 3
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return round(cuts[9], 2), round(cuts[-1], 2), round(max(seconds), 2)


def recommended(tried: Mapping[K, Figures], always_on: Figures) -> K:
    """The cheapest that keeps the waits, the first of equals; the one with the shortest bulk p95 where none does."""
    most = always_on.bulk[1] * BULK_MARGIN
    good = [each for each, found in tried.items() if found.pasted[1] <= PASTED_SECONDS and found.bulk[1] <= most]
    if good:
        return min(good, key=lambda each: tried[each].month_usd)
    return min(tried, key=lambda each: tried[each].bulk[1])


def line(name: str, found: Figures) -> str:
    useful = "     -" if found.useful_share is None else f"{found.useful_share:6.1%}"
    pasted, bulk = (" ".join(f"{wait:5.1f}" for wait in each) for each in (found.pasted, found.bulk))
    return (
        f"{name:28} {found.month_usd / MONTH_DAYS:6.3f} {found.month_usd:8.2f}  {useful} {found.billed_seconds:9,.0f} "
        f"{found.cold_starts:7,.0f} {found.cpu_texts:6,.0f} {found.gpu_texts:6,.0f}  {pasted}  {bulk}"
    )


def titles(hybrid: Setup) -> dict[str, str]:
    """Policies as the table calls them."""
    times = f"wake {hybrid.wake_seconds:g}, idle {hybrid.endpoint.idle_seconds:g}"
    return {
        DEFAULT: f"default: {times}",
        CPU_ONLY: "CPU only",
        GPU_ONLY: "GPU for all, scale to zero",
        ALWAYS_ON: "GPU always on",
    }


def describe(days: Days, users: int, seed: int) -> None:
    """What is played, and at which price."""
    everything = [text for texts in days for text in texts]
    pasted, uploaded, sent = (sum(text.kind == kind for text in everything) / len(days) for kind in arrivals.KINDS)
    characters = sum(text.characters for text in everything) / len(days)
    print(f"{users:,} daily users, mean of {len(days)} days from seed {seed}. A day: {pasted:,.0f} pasted texts,")
    print(f"{uploaded:,.0f} in class uploads, {sent:,.0f} in API jobs; {characters:,.0f} characters")
    price = FLEX_16_GB
    print(f"{price.what}: ${price.nanousd_per_second / 1e9:.5f} a second ({price.source}, {price.as_of})")


def report(days: Days, setup: Setup) -> None:
    """For a person, then for a machine."""
    print(HEADER)
    found = compare(days, setup)
    print("hybrid, other times")
    times = {(wake, idle): with_times(setup, wake, idle) for wake in WAKES for idle in IDLES}
    tried = tabulate(days, {each: f"  wake {each[0]:3}, idle {each[1]:2}" for each in times}, times)
    wake, idle = recommended(tried, found[ALWAYS_ON])
    print(f"hybrid, wake {wake}, idle {idle}: one worker more when a batch waits")
    delays = {delay: with_delay(times[wake, idle], delay) for delay in DELAYS}
    scaled = tabulate(days, {delay: f"  {delay:3} s" for delay in DELAYS}, delays)
    delay = recommended(scaled, found[ALWAYS_ON])
    print(f"recommended: the cheapest whose pasted p95 is within {PASTED_SECONDS:g} s, and whose bulk p95 within")
    print(f"{BULK_MARGIN:g} times that of a GPU always on:")
    print(f"  GPU_WAKE_SECONDS={wake} RUNPOD_IDLE_SECONDS={idle} RUNPOD_SCALER_VALUE={delay}")
    best = {"wake_s": wake, "idle_s": idle, "scaler_s": delay, **scaled[delay].to_json()}
    print(json.dumps(for_machines(found, best)))


def compare(days: Days, setup: Setup) -> dict[str, Figures]:
    """The default beside the other policies."""
    found = tabulate(days, titles(setup), policies(setup))
    usd = ACTIVE_16_GB.dollars(found[ALWAYS_ON].billed_seconds * MONTH_DAYS)
    print(f"  (always on at {ACTIVE_16_GB.what}: ${usd:.2f} a month; {ACTIVE_16_GB.source}, {ACTIVE_16_GB.as_of})")
    return found


def tabulate(days: Days, names: Mapping[K, str], setups: Mapping[K, Setup]) -> dict[K, Figures]:
    """A line for each setup."""
    found = {}
    for each, setup in setups.items():
        found[each] = measure(days, setup)
        print(line(names[each], found[each]))
    return found


def for_machines(found: Mapping[str, Figures], best: Mapping[str, Any]) -> dict[str, Any]:
    """Figures and the founder's targets."""
    figures: dict[str, Any] = {
        f"{name.replace(' ', '_')}_{figure}": value
        for name, each in found.items()
        for figure, value in each.to_json().items()
    }
    figures["default_below_both"] = found[DEFAULT].month_usd < min(
        found[ALWAYS_ON].month_usd, found[GPU_ONLY].month_usd
    )
    figures["recommended"] = dict(best)
    targets = {"default_month_usd": MONTH_TARGET_USD, "default_below_both": True}
    return {"bench": "billing", "figures": figures, "targets": targets}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in (("--users", USERS), ("--days", DAYS), ("--seed", SEED)):
        parser.add_argument(name, type=int, default=number)
    parser.add_argument("--cold-start", type=float, default=COLD_START_SECONDS, help="seconds until a worker is ready")
    options = parser.parse_args()
    days = [arrivals.day(options.users, seed) for seed in range(options.seed, options.seed + options.days)]
    describe(days, options.users, options.seed)
    report(days, as_set(options.cold_start))


if __name__ == "__main__":
    main()

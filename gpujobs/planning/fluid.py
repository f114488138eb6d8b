"""Cost and waits without simulating: each hour as a steady state, whatever the number of users. Pure.

The approximation
    up to one worker   a worker lives from a cold start until nothing has arrived for its idle seconds. With the chance
                       of such a gap (hours.Gaps) its billed seconds are a sum over events; no queue is looked at.
    above it           work divided by speed, and HEADROOM times its square root more, as one keeps waits short in a
                       steady stream; the scaler is ideal: no worker too many after a peak, none missing before it
    hybrid             bulk work of more than the wake seconds wakes a GPU, which then takes all until a gap; an hour in
                       which the CPU would be busier than `cpu.busy` is the GPU's
Hours don't know of each other; peaks within an hour, faults, image pulls and throttled workers are left out.
`tests/gpujobs/test_plan_fluid.py` holds it against the simulation where both work.
"""

import math
from dataclasses import dataclass

from gpujobs.planning import arrivals, hours
from gpujobs.planning.arrivals import API, API_TEXTS, CLASS, HOUR_SECONDS, PASTED, Demand
from gpujobs.planning.endpoint import PASS_TEXTS, Limits
from gpujobs.planning.hours import Gaps, Hour
from gpujobs.planning.site import GPU_BATCH, NETWORK_SECONDS

HEADROOM = 1.65  # standard deviations of a Poisson stream: one time in twenty it is more
CPU_JOBS = 0.7  # of the wake seconds, that the later texts of a job wait which is just too small to wake a GPU
BULK_SHARE = 0.95  # the p95 of bulk texts: they lie evenly over the jobs' sizes


@dataclass(frozen=True, slots=True)
class Fluid:
    """Of a day. workers: billed, on average, by hour.  peak: the most.  cold_starts: a day.  Waits: p95 in seconds."""

    workers: tuple[float, ...]
    peak: float
    cold_starts: float
    pasted_p95: float
    bulk_p95: float

    @property
    def billed_seconds(self) -> float:
        return sum(self.workers) * HOUR_SECONDS


@dataclass(frozen=True, slots=True)
class _Lone:
    """The first worker of one hour: its billed share, and the share of events that find none."""

    on: float
    cold: float


def needed(hour: Hour, demand: Demand, together: float, speed: float = 1.0) -> float:
    """Workers for the work alone, and so many more that waits stay short. speed: of a card, an A4000 is 1."""
    load = hours.windows_a_second(hour, demand) * together / PASS_TEXTS / speed
    return load + HEADROOM * math.sqrt(load)


def most_needed(demand: Demand, together: float, speed: float = 1.0) -> int:
    """Machines that never scale: enough for the busiest hour, at least one."""
    return max(1, math.ceil(max(needed(hour, demand, together, speed) for hour in hours.hours(demand))))


# --- A GPU for everything -----------------------------------------------------------------------------------------


def scale_to_zero(demand: Demand, limits: Limits) -> Fluid:
    """Everything on serverless workers that come and go."""
    day = hours.hours(demand)
    lone = [_lone(hour, demand, limits) for hour in day]
    workers = tuple(max(each.on, _above_one(hour, demand, limits)) for each, hour in zip(lone, day, strict=True))
    events = sum(hour.events for hour in day)
    cold = sum(hour.events * each.cold for hour, each in zip(day, lone, strict=True)) / events
    pasted_cold = _weighted([(hour.pasted, each.cold) for hour, each in zip(day, lone, strict=True)])
    start = limits.cold_start_seconds
    return Fluid(
        workers,
        peak=max(1.0, *workers),
        cold_starts=cold * events * HOUR_SECONDS,
        pasted_p95=_warm_wait(limits) + (start if pasted_cold > 0.05 else 0),
        bulk_p95=_bulk_wait(demand, limits, max(1.0, *workers)) + start * (cold > 0.05),
    )


def always_on(demand: Demand, limits: Limits, active: int) -> Fluid:
    """So many workers that never stop, and others for the busy hours."""
    workers = tuple(max(float(active), _above_one(hour, demand, limits)) for hour in hours.hours(demand))
    peak = max(workers)
    return Fluid(workers, peak, 0.0, _warm_wait(limits), _bulk_wait(demand, limits, peak))


def _above_one(hour: Hour, demand: Demand, limits: Limits) -> float:
    """Workers that a busy hour needs; 0 where one worker is enough, whatever share of the hour it is there."""
    wanted = needed(hour, demand, limits.together_seconds)
    load = hours.windows_a_second(hour, demand) * limits.together_seconds / PASS_TEXTS
    return min(wanted, float(limits.workers_max)) if load > 1 else 0.0


def _lone(hour: Hour, demand: Demand, limits: Limits) -> _Lone:
    if not hour.events:
        return _Lone(0.0, 0.0)
    gaps = Gaps(hour, demand.checks, demand.between_seconds)
    work = hours.work_seconds(hour, demand, limits.alone_seconds, limits.together_seconds)
    warm = limits.idle_seconds + work
    cold = limits.cold_start_seconds + warm
    after_warm, after_cold = gaps.survival(warm), gaps.survival(cold)
    # An event is cold when the one before it, cold or warm itself, was followed by a long enough gap.
    share = after_warm / (1 - after_cold + after_warm)
    rounding = after_cold * (math.ceil(cold) - cold) + (1 - after_cold) * 0.5
    seconds = share * (gaps.quiet(cold) + rounding) + (1 - share) * gaps.quiet(warm)
    too_many = share * _too_many(hour, demand, limits) * (limits.cold_start_seconds + limits.idle_seconds)
    return _Lone(min(1.0, hour.events * seconds) + hour.events * too_many, share)


def _too_many(hour: Hour, demand: Demand, limits: Limits) -> float:
    """Workers that a cold event starts besides the first: with a scaler quicker than a cold start, batches of a large
    job are overdue before any worker is ready."""
    if limits.queue_delay_seconds > limits.cold_start_seconds or limits.workers_max < 2:
        return 0.0
    low, high = API_TEXTS
    sizes: list[float] = [low * (high / low) ** ((place + 0.5) / 20) for place in range(20)]
    extra = sum(min(limits.workers_max, math.ceil(size / GPU_BATCH[1])) - 1 for size in sizes) / len(sizes)
    return extra * hour.programs / hour.events


def _warm_wait(limits: Limits) -> float:
    """A pasted text waits for the pass that runs, then takes its own."""
    return 2 * NETWORK_SECONDS + limits.alone_seconds + limits.together_seconds / 2


def _bulk_wait(demand: Demand, limits: Limits, workers: float) -> float:
    """The p95 of a bulk text: it lies in a large job, which the workers share."""
    texts = _large_job(demand)
    if not texts:
        return 0.0
    name = API if demand.programs else CLASS
    work = texts * hours.kind(name, demand.length).windows * limits.together_seconds / PASS_TEXTS
    return 2 * NETWORK_SECONDS + work / max(1, math.floor(min(workers, texts / GPU_BATCH[1])))


def _large_job(demand: Demand) -> float:
    """Texts of the job in which the 95th of a hundred bulk texts lies."""
    if demand.programs:
        low, high = API_TEXTS
        return low + BULK_SHARE * (high - low)
    return float(arrivals.CLASS_TEXTS[1]) if demand.teachers else 0.0


# --- CPU and GPU ----------------------------------------------------------------------------------------------------


def hybrid(demand: Demand, limits: Limits, *, wake_seconds: float, cpu_rate: float, busy: float) -> Fluid:
    """The CPU a trickle, a GPU what it would need long for. cpu_rate: characters a second.  busy: see `cpu.busy`."""
    day = hours.hours(demand)
    found = [_hybrid_hour(hour, demand, limits, wake_seconds, cpu_rate, busy) for hour in day]
    on = tuple(workers for workers, _cold, _cpu in found)
    waits = [(hour.pasted, wait) for hour, (_on, _cold, wait) in zip(day, found, strict=True)]
    peak = max(on)
    wakes = any(each > 0 for each in on)
    return Fluid(
        on,
        peak=max(1.0, peak) if wakes else 0.0,
        cold_starts=sum(cold for _on, cold, _cpu in found) * HOUR_SECONDS,
        pasted_p95=_weighted(waits),
        bulk_p95=_hybrid_bulk(demand, limits, peak, wake_seconds, cpu_rate),
    )


def _hybrid_hour(
    hour: Hour, demand: Demand, limits: Limits, wake_seconds: float, cpu_rate: float, busy: float
) -> tuple[float, float, float]:
    """Workers, cold starts a second, p95 of a pasted text."""
    load = hours.characters_a_second(hour, demand) / cpu_rate
    lone = _lone(hour, demand, limits)
    if load >= busy:
        on = max(lone.on, _above_one(hour, demand, limits))
        cold = limits.cold_start_seconds if lone.cold > 0.05 else 0.0
        return on, hour.events * lone.cold, _warm_wait(limits) + cold
    waking = _waking(hour, demand, wake_seconds * cpu_rate)
    gaps = Gaps(hour, demand.checks, demand.between_seconds)
    work = hours.work_seconds(hour, demand, limits.alone_seconds, limits.together_seconds)
    hold = limits.idle_seconds + work
    # From the last answer of the job until a gap of `hold`: shorter ones in between are all paid.
    tail = gaps.quiet(hold) / max(gaps.survival(hold), 1e-9)
    job = hours.kind(API, demand.length).windows * arrivals.MEAN_API_TEXTS * limits.together_seconds / PASS_TEXTS
    extra = _too_many(Hour(0, 0, 1), demand, limits) * (limits.cold_start_seconds + limits.idle_seconds)
    life = limits.cold_start_seconds + job + tail + extra + 0.5
    return min(waking * life, max(lone.on, waking * extra)), waking, _cpu_wait(demand, load, cpu_rate)


def _hybrid_bulk(demand: Demand, limits: Limits, peak: float, wake_seconds: float, cpu_rate: float) -> float:
    """The p95 of bulk: jobs below the wake seconds are the CPU's, and their later texts wait nearly as long."""
    large = _large_job(demand)
    if not large:
        return 0.0
    each = hours.kind(API if demand.programs else CLASS, demand.length).characters / cpu_rate
    if large * each <= wake_seconds:
        return large * each
    low, high = API_TEXTS
    on_the_cpu = (wake_seconds / each - low) / (high - low)  # share of the texts
    return max(
        limits.cold_start_seconds + _bulk_wait(demand, limits, peak),
        CPU_JOBS * wake_seconds if demand.programs and on_the_cpu > 1 - BULK_SHARE else 0.0,
    )


def _waking(hour: Hour, demand: Demand, characters: float) -> float:
    """Jobs a second that hold so much work at once."""
    low, high = API_TEXTS
    texts = characters / hours.kind(API, demand.length).characters
    share = 1 - min(1.0, max(0.0, math.log(max(texts, low) / low) / math.log(high / low)))
    class_work = arrivals.MEAN_CLASS_TEXTS * hours.kind(CLASS, demand.length).characters
    return hour.programs * share + hour.classes * (class_work >= characters)


def _cpu_wait(demand: Demand, load: float, cpu_rate: float) -> float:
    """The p95 of a pasted text on the CPU: a long text's own time, and what the engine's queue adds when it is busy."""
    texts = hours.kind(PASTED, demand.length)
    own, each = texts.p95_characters / cpu_rate, texts.characters / cpu_rate
    if load <= 0.05:
        return own
    return own + math.log(load / 0.05) * each / (1 - min(load, 0.95))


def _weighted(pairs: list[tuple[float, float]]) -> float:
    total = sum(weight for weight, _value in pairs)
    return sum(weight * value for weight, value in pairs) / total if total else 0.0

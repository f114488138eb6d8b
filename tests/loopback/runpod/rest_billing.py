"""REST v2: billing in buckets of hour, day, week, month or year. Amounts are USD floats, as the real API's.

Windows snap outward to buckets and are half-open. Nothing of the last hour is shown, unless the fault billing_lag
says otherwise: real records stayed empty that long.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from tests.loopback.runpod.clock import moment
from tests.loopback.runpod.gate import rest, world_of
from tests.loopback.runpod.ledger import NANO
from tests.loopback.runpod.problem import Problem, unprocessable
from tests.loopback.runpod.world import World

SIZES = ("hour", "day", "week", "month", "year")
DEFAULT_DAYS = 30
MOST_BUCKETS = 10_000
SERVERLESS = ("worker",)
PODS = ("pod", "stopped-pod")
Bucket = tuple[datetime, datetime]


def routes() -> list[web.RouteDef]:
    """All of it."""
    table = (
        ("/v2/billing", everything),
        ("/v2/billing/pods", pods),
        ("/v2/billing/serverless", serverless),
        ("/v2/billing/network-volumes", nothing),
        ("/v2/billing/endpoints", nothing),  # public endpoints, a trap by name
    )
    return [web.get(path, rest("billing", handler)) for path, handler in table]


def bucket_start(when: datetime, size: str) -> datetime:
    """The start of the bucket in which a moment lies; weeks begin on Monday."""
    if size == "hour":
        return when.replace(minute=0, second=0, microsecond=0)
    day = when.replace(hour=0, minute=0, second=0, microsecond=0)
    match size:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "year":
            return day.replace(month=1, day=1)
    return day


def next_bucket(start: datetime, size: str) -> datetime:
    """Where the following one starts."""
    step = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
    if size in step:
        return start + step[size]
    if size == "year" or start.month == 12:
        return start.replace(year=start.year + 1, month=1)
    return start.replace(month=start.month + 1)


def window(query: dict[str, str], now: float) -> tuple[list[Bucket], str]:
    """The buckets a query asks for, and their size; raises Problem."""
    size = query.get("bucketSize", "day")
    if size not in SIZES:
        raise unprocessable([f"bucketSize: one of {', '.join(SIZES)}"])
    present = datetime.fromtimestamp(now, UTC)
    if "lastN" in query:
        if "startTime" in query or "endTime" in query:
            raise Problem(400, "lastN and startTime/endTime exclude each other")
        return _last(query["lastN"], present, size), size
    try:
        start = _read(query, "startTime", present - timedelta(days=DEFAULT_DAYS))
        end = _read(query, "endTime", present)
    except ValueError:
        raise unprocessable(["startTime, endTime: RFC 3339"]) from None
    if start >= end:
        raise Problem(400, "startTime is not before endTime")
    buckets: list[Bucket] = []
    at = bucket_start(start, size)
    while at < end and len(buckets) < MOST_BUCKETS:
        buckets.append((at, next_bucket(at, size)))
        at = buckets[-1][1]
    return buckets, size


def _read(query: dict[str, str], name: str, otherwise: datetime) -> datetime:
    return datetime.fromtimestamp(moment(query[name]), UTC) if name in query else otherwise


def _last(number: str, present: datetime, size: str) -> list[Bucket]:
    if not number.isdigit() or int(number) < 1:
        raise unprocessable(["lastN: at least 1"])
    at = bucket_start(present, size)
    buckets = [(at, next_bucket(at, size))]
    while len(buckets) < min(int(number), MOST_BUCKETS):
        at = bucket_start(at - timedelta(seconds=1), size)
        buckets.insert(0, (at, buckets[0][0]))
    return buckets


def _stamp(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _usd(nanousd: int) -> float:
    return nanousd / NANO


def _shares(
    world: World, buckets: list[Bucket], kinds: tuple[str, ...], owner: str | None
) -> Iterator[tuple[Bucket, str, int, int]]:
    """(bucket, owner, GPU, disk) in nano-dollars, of what billing shows already."""
    now = world.clock.now()
    lag = world.faults.take("billing_lag", now)
    shown_until = now - (lag.number("lag_seconds", 86_400) if lag else world.ledger.lag_seconds)
    for start, end in buckets:
        begin, until = (min(moment.timestamp(), shown_until) for moment in (start, end))
        for each, (gpu, disk) in world.ledger.between(begin, until, kinds, owner).items():
            yield (start, end), each, gpu, disk


def _answer(request: web.Request, kinds: tuple[str, ...], name: str, unique: str, fee: bool) -> web.Response:
    world, query = world_of(request), dict(request.query)
    buckets, size = window(query, world.clock.now())
    records: list[dict[str, Any]] = []
    gpu_total = disk_total = 0
    for (start, end), owner, gpu, disk in _shares(world, buckets, kinds, query.get(name)):
        times = {"startTime": _stamp(start), "endTime": _stamp(end)}
        records.append({**times, name: owner, **_amounts(gpu, disk, fee)})
        gpu_total, disk_total = gpu_total + gpu, disk_total + disk
    asked = {"startTime": _stamp(buckets[0][0]), "endTime": _stamp(buckets[-1][1]), "bucketSize": size}
    metadata = {
        "query": {**asked, name: query.get(name)},
        "recordCount": len(records),
        unique: len({record[name] for record in records}),
        "totals": _amounts(gpu_total, disk_total, fee),
    }
    return web.json_response({"records": records, "metadata": metadata})


def _amounts(gpu: int, disk: int, fee: bool) -> dict[str, float]:
    amounts = {"totalAmount": _usd(gpu + disk), "gpuAmount": _usd(gpu), "cpuAmount": 0.0, "diskAmount": _usd(disk)}
    return amounts | ({"feeAmount": 0.0} if fee else {})


async def serverless(request: web.Request) -> web.Response:
    """Per endpoint and bucket."""
    return _answer(request, SERVERLESS, "serverlessId", "uniqueServerlessCount", fee=True)


async def pods(request: web.Request) -> web.Response:
    """Per pod and bucket."""
    return _answer(request, PODS, "podId", "uniquePodCount", fee=False)


async def nothing(request: web.Request) -> web.Response:
    """What nobody here can use, so nothing was spent on it."""
    world = world_of(request)
    buckets, size = window(dict(request.query), world.clock.now())
    asked = {"startTime": _stamp(buckets[0][0]), "endTime": _stamp(buckets[-1][1]), "bucketSize": size}
    metadata = {"query": asked, "recordCount": 0, "totals": {"totalAmount": 0.0}}
    return web.json_response({"records": [], "metadata": metadata})


async def everything(request: web.Request) -> web.Response:
    """All resources together, each part under its own name."""
    world = world_of(request)
    buckets, size = window(dict(request.query), world.clock.now())
    records = {bucket: _no_parts() for bucket in buckets}
    for kinds, prefix in ((SERVERLESS, "serverless"), (PODS, "pod")):
        for bucket, _, gpu, disk in _shares(world, buckets, kinds, None):
            records[bucket]["totalAmount"] += _usd(gpu + disk)
            records[bucket][f"{prefix}GpuAmount"] += _usd(gpu)
            records[bucket][f"{prefix}DiskAmount"] += _usd(disk)
    shown = [
        {"startTime": _stamp(start), "endTime": _stamp(end), **parts}
        for (start, end), parts in records.items()
        if parts["totalAmount"]
    ]
    asked = {"startTime": _stamp(buckets[0][0]), "endTime": _stamp(buckets[-1][1]), "bucketSize": size}
    totals = {name: sum(parts[name] for parts in records.values()) for name in _no_parts()}
    return web.json_response(
        {"records": shown, "metadata": {"query": asked, "recordCount": len(shown), "totals": totals}}
    )


def _no_parts() -> dict[str, float]:
    names = ("totalAmount", "podGpuAmount", "podCpuAmount", "podDiskAmount", "serverlessGpuAmount",
             "serverlessCpuAmount", "serverlessDiskAmount", "serverlessFeeAmount", "storageStandardAmount",
             "storageHighPerformanceAmount", "endpointAmount", "clusterGpuAmount", "clusterDiskAmount",
             "clusterNetworkingAmount")  # fmt: skip
    return dict.fromkeys(names, 0.0)

"""Rented pods -> lines of the ledger, quarter by quarter, until the provider says that a pod is gone.

Whoever looks after pods calls `cost_pods` with what the provider shows of each, and once more when one is gone: only
then is its last second rounded up, and nothing more is posted. A pod that nobody calls for any more is not costed here,
but it is in the provider's bill (reconciling.py).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from gpujobs import ledger, prices
from gpujobs.cost_lines import instant, ms
from gpujobs.costing import Unpriced
from gpujobs.models import CostEntry, MachineMeter, Price, Service
from gpujobs.pricing import between, cost, disk, started_seconds

Kind = CostEntry.Kind
KINDS = {Service.TRAINING: Kind.TRAINING, Service.BENCHMARK: Kind.BENCHMARK, Service.INFERENCE: Kind.EXECUTION}
QUARTER_MS = ledger.QUARTER.seconds * 1000


@dataclass(frozen=True, slots=True)
class Pod:
    """As the provider shows it. mode: of its price, pod or spot.  gone_at: None while it is there, in whatever state.

    region: where prices differ by it.  model_version: of what it makes, "" where that has no name yet.
    """

    provider: str
    id: str
    gpu_type: str
    mode: str
    service: Service
    started_at: datetime
    gone_at: datetime | None = None
    region: str = ""
    disk_gb: int = 0
    model_version: str = ""


def cost_pods(pods: Iterable[Pod], now: datetime) -> int:
    """How many lines are new. Twice, or beside itself, posts none more. Raises Unpriced, and posts none of that pod."""
    return sum(_cost_pod(pod, now) for pod in pods)


@transaction.atomic
def _cost_pod(pod: Pod, now: datetime) -> int:
    MachineMeter.objects.get_or_create(provider=pod.provider, machine_id=pod.id)
    meter = MachineMeter.objects.select_for_update().get(provider=pod.provider, machine_id=pod.id)
    opened = meter.opened_at or pod.started_at
    if meter.opened_at is not None and meter.closed:
        return 0
    start, until = ms(opened), ms(meter.metered_until or opened)
    end = _until(pod, start, now)
    if end <= until and pod.gone_at is None:
        return 0
    price = _known(pod, pod.gpu_type, pod.mode, opened)
    storage = _known(pod, "", Price.Mode.STORAGE, opened) if pod.disk_gb else None
    lines = [line for piece in _pieces(until, end) for line in _lines(pod, price, storage, start, *piece)]
    if end < until:
        lines.append(_too_much(pod, price, storage, start, until, end))
    posted = ledger.post(lines)
    meter.service, meter.gpu_type, meter.model_version = pod.service, pod.gpu_type, pod.model_version
    meter.opened_at, meter.metered_until, meter.price = opened, instant(end), price
    meter.closed = pod.gone_at is not None
    meter.save()
    return posted


def _until(pod: Pod, start: int, now: datetime) -> int:
    """Whole quarters while it is there; its last started second when it is gone."""
    if pod.gone_at is None:
        return max(start, ms(ledger.quarter_upto(now)))
    return start + started_seconds(max(0, ms(pod.gone_at) - start))


def _pieces(start: int, end: int) -> Iterator[tuple[int, int]]:
    """[start, end), cut at quarters."""
    while start < end:
        cut = min(end, (start // QUARTER_MS + 1) * QUARTER_MS)
        yield start, cut
        start = cut


def _lines(pod: Pod, price: Price, storage: Price | None, opened: int, start: int, end: int) -> Iterator[CostEntry]:
    begin, until = start - opened, end - opened
    yield _line(pod, KINDS[pod.service], f"pod:{pod.provider}:{pod.id}:{start}", instant(start), price=price,
                milliseconds=end - start, amount_nanousd=between(prices.rate_of(price), begin, until))  # fmt: skip
    if storage is not None:
        amount = disk(storage.amount_nanousd, pod.disk_gb, until) - disk(storage.amount_nanousd, pod.disk_gb, begin)
        yield _line(pod, Kind.STORAGE, f"disk:{pod.provider}:{pod.id}:{start}", instant(start), price=storage,
                    amount_nanousd=amount)  # fmt: skip


def _too_much(pod: Pod, price: Price, storage: Price | None, opened: int, until: int, end: int) -> CostEntry:
    """It was gone before the last quarter that was posted was over: the rest is taken back."""
    rate = prices.rate_of(price)
    amount = cost(rate, end - opened) - cost(rate, until - opened)
    if storage is not None:
        amount += disk(storage.amount_nanousd, pod.disk_gb, end - opened)
        amount -= disk(storage.amount_nanousd, pod.disk_gb, until - opened)
    return _line(pod, Kind.ADJUSTMENT, f"gone:{pod.provider}:{pod.id}", instant(end), amount_nanousd=amount,
                 note="gone before what was posted")  # fmt: skip


def _line(pod: Pod, kind: str, ref: str, at: datetime, **fields: object) -> CostEntry:
    return CostEntry(kind=kind, service=pod.service, provider=pod.provider, gpu_type=pod.gpu_type, worker_id=pod.id,
                     model_version=pod.model_version, source_ref=ref, at=at, **fields)  # fmt: skip


def _known(pod: Pod, gpu_type: str, mode: str, at: datetime) -> Price:
    found = prices.price_at(pod.provider, gpu_type, mode, at, pod.region)
    if found is None:
        raise Unpriced(pod.provider, gpu_type, mode)
    return found

"""Workers that are always on cost also while no run tells of them: what their idle time cost, quarter by quarter.

Of each quarter of an hour that is over: as many workers as are kept, less those that runs show to have been awake
(their time is posted by costing.py). One line a quarter, also where nothing was missing: it says that this was looked
at. A quarter that was not looked at within the hour is left to the provider's bill.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db.models import Q

from gpujobs import costing, ledger, prices
from gpujobs.cost_lines import ms
from gpujobs.costing import ENDED, LONGEST_RUN, Unpriced
from gpujobs.lifetimes import Work, awake, short_of
from gpujobs.models import AuditEntry, CostEntry, GpuRun, Price, Service
from gpujobs.pricing import cost

PROVIDER = "runpod"
CATCH_UP_QUARTERS = 4
FLOOR_ACTIONS = (AuditEntry.Action.WORKERS_STOPPED, AuditEntry.Action.WORKERS_RESTORED)


def cost_standing(now: datetime) -> int:
    """How many lines are new. Twice, or beside itself, posts none more. Raises Unpriced."""
    if not settings.RUNPOD_WORKERS_MIN or not settings.RUNPOD_ENDPOINT_ID:
        return 0
    horizon = costing.horizon_of(PROVIDER, now)
    last = ledger.quarter_upto(horizon)
    quarters = [last - n * ledger.QUARTER for n in range(CATCH_UP_QUARTERS, 0, -1)]
    refs = [_ref(quarter) for quarter in quarters]
    done = set(CostEntry.objects.filter(source_ref__in=refs).values_list("source_ref", flat=True))
    # At first, the last one alone: nobody knows what was kept before.
    first = next((n for n, ref in enumerate(refs) if ref in done), len(refs) - 1)
    return sum(ledger.post([_line(each)]) for each in quarters[first:] if _ref(each) not in done)


def floor_at(moment: datetime) -> int:
    """Workers that were kept then: none while a budget that was used up had them stopped."""
    last = AuditEntry.objects.filter(action__in=FLOOR_ACTIONS, at__lte=moment).order_by("-at").first()
    stopped = last is not None and last.action == AuditEntry.Action.WORKERS_STOPPED
    return 0 if stopped else settings.RUNPOD_WORKERS_MIN


def _line(quarter: datetime) -> CostEntry:
    price = _price(quarter)
    start, end = ms(quarter), ms(quarter + ledger.QUARTER)
    spans = [span for works in _works(quarter) for span in awake(works, settings.RUNPOD_IDLE_SECONDS * 1000)]
    missing = short_of(floor_at(quarter), spans, start, end)
    return CostEntry(
        kind=CostEntry.Kind.IDLE,
        service=Service.INFERENCE,
        provider=PROVIDER,
        gpu_type=price.gpu_type,
        price=price,
        milliseconds=missing,
        amount_nanousd=cost(prices.rate_of(price), missing),
        source_ref=_ref(quarter),
        note="workers that are always on",
        at=quarter,
    )


def _ref(quarter: datetime) -> str:
    return f"standing:{PROVIDER}:{settings.RUNPOD_ENDPOINT_ID}:{ms(quarter)}"


def _price(at: datetime) -> Price:
    """Of a worker that is always on; where that is not listed, of one that is not."""
    gpu = next(iter(settings.RUNPOD_GPU_POOLS), "")
    modes = (Price.Mode.ACTIVE, Price.Mode.FLEX)
    found = next((price for mode in modes if (price := prices.price_at(PROVIDER, gpu, mode, at))), None)
    if found is None:
        raise Unpriced(PROVIDER, gpu, Price.Mode.ACTIVE)
    return found


def _works(quarter: datetime) -> Sequence[list[Work]]:
    """Of each worker, its runs around that quarter."""
    near = Q(
        created_at__range=(quarter - LONGEST_RUN, quarter + ledger.QUARTER), finished_at__gte=quarter - LONGEST_RUN
    )
    rows = GpuRun.objects.filter(near, backend=PROVIDER, status__in=ENDED, execution_ms__isnull=False)
    found: defaultdict[str, list[Work]] = defaultdict(list)
    for run in rows.exclude(worker_id="").defer("result"):
        found[run.worker_id].append(costing.work_of(run))
    return list(found.values())

"""A worker's time, laid out and priced, as lines of the ledger. Nothing is read or written here.

Work is paid for by those whose texts shared the run, by their characters. Cold starts, idle time and disks are nobody's
work: lines of their own without an account. A line counts at the instant at which its time began.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from gpujobs.lifetimes import Done, Piece, priced
from gpujobs.models import CostEntry, GpuRun, Price, Service
from gpujobs.prices import rate_of
from gpujobs.pricing import Rate, between, disk
from gpujobs.splitting import split

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
NOBODY: tuple[None, None, int] = (None, None, 1)


def ms(moment: datetime) -> int:
    """Whole milliseconds since 1970."""
    return (moment - EPOCH) // MILLISECOND


def instant(milliseconds: int) -> datetime:
    return EPOCH + milliseconds * MILLISECOND


@dataclass(frozen=True, slots=True)
class Machine:
    """Whose time it is. model_version: of its idle time, which is no run's."""

    provider: str
    id: str
    gpu_type: str
    model_version: str


def of_done(machine: Machine, price: Price, done: Done, run: GpuRun) -> Iterator[CostEntry]:
    """One line for each account and batch that shares the run."""
    milliseconds, nanousd = priced(rate_of(price), done)
    shares = run.shares or [NOBODY]
    weights = [int(share[2]) for share in shares]
    parts = zip(shares, split(milliseconds, weights), split(nanousd, weights), strict=True)
    for number, (share, part_ms, part) in enumerate(parts):
        yield _line(
            machine,
            kind=CostEntry.Kind.EXECUTION,
            model_version=run.model_version_id,
            account_id=share[0],
            batch_id=share[1],
            run_id=run.pk,
            attempt=run.attempt,
            price=price,
            milliseconds=part_ms,
            amount_nanousd=part,
            source_ref=f"run:{run.pk}:{number}",
            at=instant(done.work.taken_ms),
        )


def of_piece(machine: Machine, price: Price, piece: Piece, runs: Mapping[str, GpuRun]) -> CostEntry:
    """A cold start names the run that waited for it."""
    run = runs.get(piece.work_id)
    return _line(
        machine,
        kind=piece.kind,
        model_version=run.model_version_id if run else machine.model_version,
        run_id=run.pk if run else None,
        attempt=run.attempt if run else 1,
        price=price,
        milliseconds=piece.end_ms - piece.start_ms,
        amount_nanousd=_between(rate_of(price), piece),
        source_ref=f"{piece.kind}:{machine.provider}:{machine.id}:{piece.start_ms}",
        at=instant(piece.start_ms),
    )


def of_disk(machine: Machine, price: Price, gb: int, piece: Piece, paid_ms: int) -> CostEntry:
    """Of a life that ended with `piece`. paid_ms: of its length, what an earlier end has paid for."""
    length = piece.end_ms - piece.opened_ms
    amount = disk(price.amount_nanousd, gb, length) - disk(price.amount_nanousd, gb, paid_ms)
    return _line(
        machine,
        kind=CostEntry.Kind.STORAGE,
        model_version=machine.model_version,
        price=price,
        amount_nanousd=amount,
        source_ref=f"disk:{machine.provider}:{machine.id}:{piece.end_ms}",
        at=instant(piece.opened_ms),
    )


def _between(rate: Rate, piece: Piece) -> int:
    return between(rate, piece.start_ms - piece.opened_ms, piece.end_ms - piece.opened_ms)


def _line(machine: Machine, **fields: Any) -> CostEntry:
    return CostEntry(
        service=Service.INFERENCE,
        provider=machine.provider,
        gpu_type=machine.gpu_type,
        worker_id=machine.id,
        **fields,
    )

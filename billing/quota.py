"""Reserve, settle and release units of an allowance: each one guarded UPDATE, so that a race has one winner.

Writes Meter and Reservation; nobody else does. The caller's transaction carries both the reservation and the
work that it is for.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from billing.models import Meter, Reservation
from inkcloak.errors import Exhausted
from inkcloak.lifecycle import advance


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many `unit`s `holder` may use in [period_start, period_end)."""

    holder: str
    unit: str
    limit: int
    period_start: datetime
    period_end: datetime


@dataclass(frozen=True, slots=True)
class Balance:
    """What is left of an allowance; `resets_at` is when the next period begins."""

    limit: int
    left: int
    unit: str
    resets_at: datetime


def reserve(*, allowance: Allowance, amount: int, now: datetime) -> Reservation:
    """Holds `amount` units. Raises Exhausted, with the seconds until the next period, when they are not left."""
    (found,) = reserve_all(allowance=allowance, amounts=[amount], now=now)
    if isinstance(found, Exhausted):
        raise found
    return found


@transaction.atomic(savepoint=False)  # refusing writes nothing, so there is nothing to take back
def reserve_all(*, allowance: Allowance, amounts: Sequence[int], now: datetime) -> list[Reservation | Exhausted]:
    """The same for many, in their order: who finds too little left is refused alone.

    Three statements where there is enough for all.
    """
    meter = _meter(allowance)
    if _hold(meter, sum(amounts)):
        fits = [True] * len(amounts)
    else:
        fits = [len(amounts) > 1 and _hold(meter, amount) for amount in amounts]
    held = [Reservation(meter=meter, amount=amount) for amount, fit in zip(amounts, fits, strict=True) if fit]
    Reservation.objects.bulk_create(held)
    made = iter(held)
    return [next(made) if fit else _exhausted(allowance, now) for fit in fits]


def _hold(meter: Meter, amount: int) -> bool:
    fits = Meter.objects.filter(pk=meter.pk, limit__gte=F("used") + F("held") + amount)
    return bool(fits.update(held=F("held") + amount))


@transaction.atomic
def settle(*reservations: Reservation) -> int:
    """Held becomes used. How many were still held: settling twice charges once.

    Many at once take a fixed number of statements, and one more for each meter.
    """
    named = Reservation.objects.filter(pk__in=[reservation.pk for reservation in reservations])
    held = named.filter(status=Reservation.Status.HELD).order_by("pk").select_for_update()
    amounts: Counter[int] = Counter()
    mine = list(held.values_list("pk", "meter_id", "amount"))
    for _pk, meter_id, amount in mine:
        amounts[meter_id] += amount
    advance(Reservation.objects.filter(pk__in=[pk for pk, *_ in mine]), Reservation.Status.SETTLED)
    for meter_id, amount in sorted(amounts.items()):  # in one order: two that settle never wait in a circle
        Meter.objects.filter(pk=meter_id).update(held=F("held") - amount, used=F("used") + amount)
    return len(mine)


@transaction.atomic
def release(reservation: Reservation) -> bool:
    """Held is free again. False if the reservation was ended before."""
    if not advance(Reservation.objects.filter(pk=reservation.pk), Reservation.Status.RELEASED):
        return False
    Meter.objects.filter(pk=reservation.meter_id).update(held=F("held") - reservation.amount)
    return True


def balance(allowance: Allowance) -> Balance:
    """Reads only: a holder without a meter has everything left."""
    key = {"holder": allowance.holder, "unit": allowance.unit, "period_start": allowance.period_start}
    meter = Meter.objects.filter(**key).first()
    taken = meter.used + meter.held if meter else 0
    return Balance(allowance.limit, max(0, allowance.limit - taken), allowance.unit, allowance.period_end)


def _meter(allowance: Allowance) -> Meter:
    """The period's meter, made by whoever comes first; a changed limit is taken over."""
    meter, _made = Meter.objects.get_or_create(
        holder=allowance.holder,
        unit=allowance.unit,
        period_start=allowance.period_start,
        defaults={"limit": allowance.limit, "period_end": allowance.period_end},
    )
    if meter.limit != allowance.limit:
        Meter.objects.filter(pk=meter.pk).update(limit=allowance.limit)
    return meter


def _exhausted(allowance: Allowance, now: datetime) -> Exhausted:
    seconds = max(1, int((allowance.period_end - now).total_seconds()))
    if allowance.unit == Meter.Unit.CHECKS:
        message = _("You have used today's free checks. Sign up for more, or come back when the next is free.")
        return Exhausted("visitor_checks_used", message, retry_after=seconds)
    message = _("This text has more words than your account has left this month.")
    return Exhausted("words_used", message, retry_after=seconds)

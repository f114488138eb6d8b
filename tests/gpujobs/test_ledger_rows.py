"""What the database itself holds of the ledger: append-only, and sums that no insert can miss."""

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Sum

from gpujobs.models import AccountQuarter, CostEntry, CostQuarter

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 30, 12, 7, tzinfo=UTC)


def entry(ref: str, amount: int, **changes: object) -> CostEntry:
    values = {"kind": "execution", "service": "inference", "provider": "runpod", "at": NOON}
    return CostEntry(source_ref=ref, amount_nanousd=amount, **values | changes)


def test_it_refuses_to_change_or_delete_an_entry() -> None:
    entry("a", 5).save()
    for touch in (lambda: CostEntry.objects.update(amount_nanousd=6), lambda: CostEntry.objects.all().delete()):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            touch()
    assert CostEntry.objects.get().amount_nanousd == 5


def test_it_keeps_the_sums_with_every_insert() -> None:
    CostEntry.objects.bulk_create([entry("a", 5), entry("b", 7), entry("c", 1, kind="idle")])
    entry("d", 2).save()
    assert dict(CostQuarter.objects.values_list("kind", "amount_nanousd")) == {"execution": 14, "idle": 1}
    assert {row.start for row in CostQuarter.objects.all()} == {NOON.replace(minute=0)}
    assert AccountQuarter.objects.aggregate(total=Sum("amount_nanousd"))["total"] == 15


def test_a_negative_amount_is_an_adjustment_or_refused() -> None:
    entry("a", -5, kind="adjustment").save()
    with pytest.raises(IntegrityError, match="cost_entry_sign"), transaction.atomic():
        entry("b", -5).save()

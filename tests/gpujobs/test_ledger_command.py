"""`manage.py ledger`: sums are proved, lines corrected, and what has no price is seen."""

import io
from datetime import UTC, datetime

import pytest
from costing_rows import ended, total
from django.core.management import CommandError, call_command

from gpujobs import ledger
from gpujobs.models import CostEntry, CostQuarter, ModelVersion

pytestmark = pytest.mark.django_db


def told(*words: str) -> str:
    out = io.StringIO()
    call_command("ledger", *words, stdout=out)
    return out.getvalue()


def line(amount: int = 150_000_000) -> CostEntry:
    at = datetime(2026, 11, 30, 12, tzinfo=UTC)
    made = CostEntry(source_ref="a", kind="idle", service="inference", provider="runpod", amount_nanousd=amount, at=at)
    ledger.post([made])
    return made


def test_it_proves_and_repairs_the_sums() -> None:
    line()
    assert "every sum" in told("sums")
    CostQuarter.objects.update(amount_nanousd=1)
    with pytest.raises(CommandError, match="2 sums"):
        told("sums")
    assert "repaired: 2" in told("sums", "--repair")
    assert "every sum" in told("sums")


def test_it_corrects_a_line_by_another() -> None:
    made = line()
    assert "-$0.03, correcting" in told("correct", str(made.pk), "0.12", "--reason", "read wrongly")
    assert "already" in told("correct", str(made.pk), "0.12", "--reason", "read wrongly")
    assert (total(), CostEntry.objects.get(corrects=made).note) == (120_000_000, "read wrongly")


@pytest.mark.parametrize(("number", "dollars"), [("0", "0.12"), (None, "a lot")])
def test_it_says_what_is_wrong(number: str | None, dollars: str) -> None:
    made = line()
    with pytest.raises(CommandError, match=r"no line|no amount"):
        told("correct", number or str(made.pk), dollars, "--reason", "a test")


def test_it_lists_runs_that_wait_for_a_price(champion: ModelVersion) -> None:
    run = ended(champion, at=-365 * 86_400, long=1, gpu_type="NVIDIA B9000")
    shown = told("uncosted")
    assert str(run.pk) in shown
    assert "B9000" in shown
    assert "1 runs wait" in shown

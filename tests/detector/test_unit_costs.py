"""What one of each costs: by hand-made figures, and a dash where there is nothing to divide by."""

import uuid
from datetime import UTC, date, datetime, timedelta

import factories
import pytest

from billing.models import Account, RevenueEntry, User
from detector import activity, unit_costs
from detector.activity import ActiveDay
from detector.models import ActivityQuarter
from detector.unit_costs import NOBODY, Ratio
from gpujobs import ledger, spending, throughput
from gpujobs.date_ranges import DateRange
from gpujobs.models import CostEntry, GpuRun, ModelVersion

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
DAY = DateRange(date(2026, 6, 15), date(2026, 6, 15), "UTC")


def post(amount: int, **fields: object) -> None:
    plain = {"kind": "execution", "service": "inference", "provider": "runpod", "gpu_type": "A4000", "at": NOON}
    ledger.post([CostEntry(amount_nanousd=amount, source_ref=str(uuid.uuid4()), **plain | fields)])


def run(version: ModelVersion, **fields: object) -> None:
    plain = {"backend": "runpod", "gpu_type": "A4000", "status": "succeeded", "texts": 4, "tokens": 2_000}
    plain |= {"execution_ms": 500, "lease_expires_at": NOON, "finished_at": NOON + timedelta(seconds=3)}
    made = GpuRun.objects.create(model_version=version, **plain | fields)
    GpuRun.objects.filter(pk=made.pk).update(created_at=NOON)


@pytest.mark.parametrize(
    ("ratio", "value"),
    [
        (Ratio(10, 4), 3),
        (Ratio(9, 4), 2),
        (Ratio(1, 3, 1000), 333),
        (Ratio(-10, 4), -2),
        (Ratio(7, 0), None),
        (Ratio(0, 5), 0),
    ],
)
def test_ratios_are_whole_nano_dollars_or_nothing(ratio: Ratio, value: int | None) -> None:
    assert ratio.value == value


def units(active: list[ActiveDay]) -> unit_costs.Units:
    return unit_costs.units(spending.cells(DAY), active, DAY.start, DAY.end)


@pytest.mark.django_db
def test_each_is_divided_by_its_own_kind(champion: ModelVersion) -> None:
    post(1_000_000, milliseconds=500)
    post(200_000, kind="idle", milliseconds=100)
    post(600_000, kind="training", service="training")
    post(90_000, kind="adjustment", service="training")
    run(champion)
    run(champion, status="failed")
    run(champion, backend="local", gpu_type="", tokens=5_000)
    found = units([ActiveDay(DAY.first, accounts=3, visitors=1, checks=24)])
    assert (found.user.value, found.user.n) == (472_500, 4)
    assert (found.check.value, found.check.n) == (50_000, 24)
    assert (found.text.value, found.text.n) == (300_000, 4)
    assert (found.tokens.value, found.tokens.n) == (600_000, 2_000)
    assert (found.experiment.value, found.experiment.n) == (690_000, 1)


@pytest.mark.django_db
def test_nothing_divided_by_nothing_is_no_figure() -> None:
    found = units([ActiveDay(DAY.first)])
    assert [each.value for each in (found.user, found.check, found.text, found.tokens, found.experiment)] == [None] * 5


@pytest.mark.django_db
def test_plans_hold_what_their_accounts_cost(alice: User, bob: User) -> None:
    for user, amount in ((alice, 10), (bob, 20)):
        post(amount, account_id=user.personal_account.pk)
    post(5)
    post(1, account_id=uuid.uuid4())  # deleted since
    ours = Account.objects.create(name="InkCloak", internal=True)
    post(7, account_id=ours.pk)
    found = unit_costs.plans(DAY.start, DAY.end)
    assert [(plan.name, plan.accounts, plan.nanousd, plan.margin) for plan in found] == [
        ("free", 2, 30, None),
        ("internal", 1, 7, None),
        (NOBODY, 0, 6, None),
    ]
    assert unit_costs.PlanCost("pro", 1, 30, revenue=100).margin == 70


def paid(account: Account, cents: int, currency: str = "usd", plan: str = "pro") -> None:
    which = {"effect_key": str(uuid.uuid4()), "kind": "paid" if cents > 0 else "fee", "at": NOON, "livemode": False}
    RevenueEntry.objects.create(account_id=account.pk, plan=plan, amount_cents=cents, currency=currency, **which)


@pytest.mark.django_db
def test_a_margin_is_what_came_in_less_fees_less_what_it_cost(alice: User, bob: User) -> None:
    hers, his = alice.personal_account, bob.personal_account
    Account.objects.filter(pk=hers.pk).update(plan_name="pro")
    post(3_000_000_000, account_id=hers.pk)
    paid(hers, 2_900)
    paid(hers, -114)
    paid(his, 900, "eur", "starter")
    plans = {plan.name: plan for plan in unit_costs.plans(DAY.start, DAY.end)}
    assert (plans["pro"].revenue, plans["pro"].margin) == (27_860_000_000, 24_860_000_000)
    assert (plans["starter"].nanousd, plans["starter"].accounts, plans["starter"].margin) == (0, 0, None), "no rate"
    found = {each.account_id: each for each in unit_costs.margins(DAY.start, DAY.end)}
    assert (found[hers.pk].margin, found[his.pk].margin) == (24_860_000_000, None)
    assert found[hers.pk].plan == "pro"


@pytest.mark.django_db
def test_machines_are_as_busy_as_their_paid_time_says(champion: ModelVersion) -> None:
    post(500, milliseconds=500)
    post(100, kind="idle", milliseconds=1_000)
    post(50, kind="cold_start", milliseconds=500)
    run(champion)
    run(champion, backend="local", gpu_type="", execution_ms=2_000)
    card, cpu = throughput.devices(DAY.start, DAY.end, spending.cells(DAY))
    assert (card.gpu_type, card.occupancy, card.tokens_per_second, card.texts_per_hour) == ("A4000", 0.25, 4_000, 7_200)
    assert (cpu.gpu_type, cpu.occupancy, cpu.tokens_per_second, cpu.texts_per_hour) == ("", None, 1_000, 7_200)
    assert throughput.latency(DAY.start, DAY.end).p50 == 3_000
    assert throughput.latency(NOON + timedelta(days=1), NOON + timedelta(days=2)).p95 is None


@pytest.mark.django_db
def test_padding_costs_its_share_of_the_work(champion: ModelVersion) -> None:
    post(1_000_000)
    run(champion, tokens=900, result={"texts": [{"padding": 60}, {"padding": 40}]})
    waste = unit_costs.padding(spending.cells(DAY), DAY.start, DAY.end)
    assert waste is not None
    assert (waste.share, waste.runs, waste.nanousd) == (0.1, 1, 100_000)


@pytest.mark.django_db
def test_quality_comes_from_the_live_versions_report(shipped: ModelVersion) -> None:
    found = unit_costs.quality(unit_costs.live_version())
    assert found is not None
    assert found.version == shipped.version
    assert all({"fpr", "tpr", "human_n", "ai_n"} <= figures.keys() for _name, figures in found.groups)
    assert unit_costs.quality("no-such-version") is None


@pytest.mark.django_db
def test_there_is_no_live_version_before_the_first() -> None:
    assert unit_costs.live_version() is None


@pytest.mark.django_db
def test_active_accounts_of_several_days_are_counted_once(alice: User) -> None:
    who = str(factories.owner(alice).account.pk)  # type: ignore[union-attr]
    for day in (0, 1):
        ActivityQuarter.objects.create(start=NOON + timedelta(days=day), kind="account", who=who, checks=1, words=9)
    both = DateRange(DAY.first, date(2026, 6, 16), "UTC")
    assert activity.active_accounts(both) == {uuid.UUID(who)}
    assert [day.users for day in activity.days(both)] == [1, 1]

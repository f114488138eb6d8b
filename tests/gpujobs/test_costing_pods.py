"""A pod costs until the provider says that it is gone."""

from dataclasses import replace
from datetime import timedelta

import pytest
from costing_rows import START, after, by_kind, lines, total

from gpujobs import pod_costs
from gpujobs.costing import Unpriced
from gpujobs.models import MachineMeter, Service
from gpujobs.pod_costs import Pod, cost_pods

pytestmark = pytest.mark.django_db
POD = Pod("runpod", "p1", "NVIDIA GeForce RTX 3090", "pod", Service.TRAINING, after(0), region="COMMUNITY")
HOURLY = 220_000_000  # nano-dollars
QUARTER = 900


def test_it_posts_each_quarter_that_is_over() -> None:
    assert cost_pods([POD], after(QUARTER - 1)) == 0
    assert cost_pods([POD], after(3 * QUARTER + 5)) == 3
    assert cost_pods([POD], after(3 * QUARTER + 9)) == 0
    assert [(line.at, line.amount_nanousd) for line in lines()] == [
        (after(n * QUARTER), HOURLY // 4) for n in range(3)
    ]  # fmt: skip
    assert {(line.kind, line.service, line.worker_id) for line in lines()} == {("training", "training", "p1")}


def test_it_begins_and_ends_inside_quarters_and_adds_up() -> None:
    pod = replace(POD, started_at=after(100.25))
    cost_pods([pod], after(1_000))
    cost_pods([replace(pod, gone_at=after(1_000.75))], after(1_060))
    assert [line.milliseconds for line in lines()] == [799_750, 101_250]  # 900.5 s, billed as 901
    assert total() == -(-HOURLY * 901 // 3600)
    assert cost_pods([replace(pod, gone_at=after(1_000.75))], after(5_000)) == 0
    assert MachineMeter.objects.get().closed


def test_fifteen_minutes_of_training_with_its_start() -> None:
    """The founder's: $0.22 an hour."""
    cost_pods([replace(POD, gone_at=after(20 * 60))], after(1_300))
    assert total() == 73_333_334


def test_its_disk_is_a_line_of_its_own() -> None:
    pod = replace(POD, disk_gb=50, gone_at=after(1_800))
    cost_pods([pod], after(2_000))
    assert by_kind() == {"training": 1_800_000, "storage": -(-6 * 300 * 50 * 100_000_000 // (30 * 86_400))}


def test_one_that_was_gone_before_the_last_quarter_that_was_posted_gets_the_rest_back() -> None:
    cost_pods([POD], after(QUARTER))
    cost_pods([replace(POD, gone_at=after(600))], after(QUARTER + 5))
    assert [line.kind for line in lines()] == ["training", "adjustment"]
    assert total() == -(-HOURLY * 600 // 3600)


def test_an_unknown_price_posts_nothing() -> None:
    with pytest.raises(Unpriced, match="B9000"):
        cost_pods([replace(POD, gpu_type="NVIDIA B9000")], after(QUARTER))
    assert (total(), MachineMeter.objects.count()) == (0, 0)


def test_the_kind_is_what_it_was_rented_for() -> None:
    for service, kind in pod_costs.KINDS.items():
        cost_pods([replace(POD, id=f"p-{service}", service=service)], START + timedelta(minutes=15))
        assert {line.kind for line in lines(service=service)} == {kind}

"""What one check cost: a part of its run's cost that adds up with the others', for staff alone."""

from datetime import timedelta
from typing import Any

import factories
import pytest
import samples
from django.test import Client
from django.utils import timezone

from billing.models import User
from detector import dispatch, economics
from detector.economics import cost_of_check
from detector.models import Submission
from gpujobs import costing
from gpujobs.backends import Answer, Usage
from gpujobs.models import CostEntry, GpuRun
from gpujobs.pod.contract import ScoreRequest

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


class Rented(factories.ScriptedBackend):
    """As RunPod's, which tells of its machine."""

    name, tier = "runpod", "gpu"

    def answer(self, request: ScoreRequest) -> Answer:
        usage = Usage(delay_ms=40, execution_ms=1_000, worker_id="w1")
        return Answer(super().answer(request).response, usage)


@pytest.fixture(autouse=True)
def _gpu(settings: Any) -> None:
    settings.SCORING_POLICY, settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = "gpu", "e1", "k"


def checked(*owners: Any) -> list[Submission]:
    """A text of each, scored in one batch, and costed."""
    now = timezone.now()
    texts = [f"{samples.HUMAN} {'More of it. ' * n}" for n in range(len(owners))]
    made = [factories.accepted(owner, text, now=now) for owner, text in zip(owners, texts, strict=True)]
    assert dispatch.next_batch(now=now, backend=Rented())
    costing.cost_ended_runs(timezone.now() + timedelta(minutes=2))
    for submission in made:
        submission.refresh_from_db()
    return made


def test_parts_add_up_to_what_the_run_cost(alice: User, bob: User) -> None:
    made = checked(*[factories.owner(alice)] * 3, factories.owner(bob), factories.visitor())
    parts = [cost_of_check(submission) for submission in made]
    assert None not in parts
    work = CostEntry.objects.filter(kind="execution")
    assert sum(part or 0 for part in parts) == sum(line.amount_nanousd for line in work) == 160_000  # 1 s of an A4000
    assert sum(parts[:3]) == work.get(account_id=made[0].account_id).amount_nanousd
    assert parts[0] < parts[1] < parts[2]  # by characters


def test_a_run_keeps_whose_texts_it_has(alice: User, bob: User) -> None:
    made = checked(*[factories.owner(alice)] * 2, factories.visitor())
    alices = sum(each.characters for each in made[:2])
    run = GpuRun.objects.get()
    assert run.shares == [[None, None, made[2].characters], [str(made[0].account_id), None, alices]]
    assert run.gpu_type == "AMPERE_16"


def test_the_others_parts_stay_when_a_text_is_deleted(alice: User) -> None:
    first, second = checked(*[factories.owner(alice)] * 2)
    before = cost_of_check(second)
    first.delete()
    assert abs((cost_of_check(second) or 0) - (before or 0)) <= 1  # who gets the odd nano-dollar may change


def test_what_has_not_been_costed_or_cost_nothing_is_unknown(alice: User) -> None:
    waiting = factories.accepted(factories.owner(alice), now=timezone.now())
    assert cost_of_check(waiting) is None


def test_shares_are_by_account_and_batch() -> None:
    assert economics.shares([]) == []


def test_staff_sees_it_and_nobody_else(alice: User, client_of: Any) -> None:
    (submission,) = checked(factories.owner(alice))
    address = f"/staff/detector/submission/{submission.pk}/change/"
    boss = factories.person("boss", is_staff=True, is_superuser=True)
    page = client_of(boss).get(address)
    assert page.status_code == 200
    assert b"$0.00016" in page.content
    assert samples.HUMAN[:40].encode() not in page.content
    assert client_of(alice).get(address).status_code in (302, 403, 404)
    assert Client().get(address).status_code in (302, 403, 404)

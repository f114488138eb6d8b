"""The table is the queue: a row is claimed by one worker, whoever else looks."""

import threading
from datetime import timedelta

import factories
import pytest
import samples
from django.db import connection, transaction
from django.utils import timezone
from factories import NOW

from billing.models import User
from detector import batching, dispatch
from detector.models import Submission
from gpujobs.models import GpuRun, ModelVersion

MANY = 1_000


def claim() -> tuple[GpuRun, list[Submission]] | None:
    return dispatch.claim(backend="local", now=NOW)


def copies(of: Submission, count: int, **changes) -> None:
    """Many queued rows like this one, without a reservation."""
    fields = {field.attname: getattr(of, field.attname) for field in Submission._meta.concrete_fields}
    fields = fields | {"reservation_id": None, "nonce": None} | changes
    del fields["id"]
    Submission.objects.bulk_create(
        [Submission(**fields | {"accepted_at": NOW + timedelta(seconds=n)}) for n in range(1, count + 1)]
    )


def test_it_claims_nothing_of_nothing(champion: ModelVersion) -> None:
    assert claim() is None
    assert not GpuRun.objects.exists()


def test_it_moves_the_oldest_into_a_run(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    late = factories.accepted(by, samples.AI, now=NOW + timedelta(seconds=1))
    early = factories.accepted(by)
    run, claimed = claim()
    assert claimed == [early, late]
    assert (run.backend, run.texts, run.model_version) == ("local", 2, champion)
    for submission in Submission.objects.all():
        assert (submission.status, submission.run, submission.attempts) == ("scoring", run, 1)
        assert submission.dispatched_at == NOW
    assert claim() is None


def test_a_pasted_text_goes_before_older_texts_in_bulk(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    bulk = [factories.accepted(by, text, lane=Submission.Lane.BULK) for text in (samples.HUMAN, samples.AI)]
    pasted = factories.accepted(by, now=NOW + timedelta(seconds=9))
    assert [claim()[1], claim()[1]] == [[pasted], bulk]


def test_it_claims_one_model_at_a_time(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    first = factories.accepted(by)
    newer = factories.champion(model_version="v2")
    second = factories.accepted(by, samples.AI, now=NOW + timedelta(seconds=1))
    assert [(run.model_version, texts) for run, texts in (claim(), claim())] == [(champion, [first]), (newer, [second])]


def test_it_leaves_what_is_done_or_failed(alice: User, champion: ModelVersion) -> None:
    by = factories.owner(alice)
    factories.accepted(by, samples.SHORT)
    Submission.objects.filter(pk=factories.accepted(by).pk).update(status="failed")
    assert claim() is None


@pytest.mark.django_db(transaction=True)
def test_it_never_gives_a_row_to_two_workers() -> None:
    factories.champion()
    copies(factories.accepted(factories.visitor()), 199)

    def work(_n: int) -> list:
        mine = []
        while claimed := claim():
            mine += [row.pk for row in claimed[1]]
        return mine

    parts = factories.together(work, 4)
    every = [pk for part in parts for pk in part]
    assert len(every) == len(set(every))
    assert set(Submission.objects.filter(status="scoring").values_list("pk", flat=True)) == set(every)
    # A worker that found only locked rows may stop early; whatever is left, the next one takes.
    while claimed := claim():
        every += [row.pk for row in claimed[1]]
    assert len(every) == 200 == Submission.objects.exclude(run=None).count()


@pytest.mark.django_db(transaction=True)
def test_it_passes_over_rows_that_another_worker_holds() -> None:
    factories.champion()
    first = factories.accepted(factories.visitor())
    second = factories.accepted(factories.visitor(), samples.AI, now=NOW + timedelta(seconds=1))
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            Submission.objects.select_for_update().get(pk=first.pk)
            held.set()
            done.wait(factories.PATIENCE_SECONDS)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert held.wait(factories.PATIENCE_SECONDS)
        _run, claimed = claim()
    finally:
        done.set()
        holder.join()
    assert claimed == [second]
    assert claim()[1] == [first]


def test_it_finds_the_queue_by_its_index(champion: ModelVersion) -> None:
    """Among many rows, done and waiting, a batch is found without reading or sorting the others."""
    first = factories.accepted(factories.visitor())
    copies(first, MANY, status="done", finished_at=NOW)
    copies(first, MANY)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE detector_submission")
    queued = Submission.objects.filter(status="queued").order_by("lane", "accepted_at")
    plan = queued.select_for_update(skip_locked=True, of=("self",))[: dispatch.CLAIM_ROWS].explain()
    assert "Index Scan using submission_lanes" in plan, plan
    assert "Sort" not in plan, plan
    overdue = Submission.objects.filter(status__in=("queued", "scoring"), deadline_at__lt=timezone.now())
    assert "Seq Scan" not in overdue.order_by("deadline_at")[:200].explain()


def test_it_takes_no_more_than_a_batch(champion: ModelVersion) -> None:
    copies(factories.accepted(factories.visitor()), 99, characters=10)
    assert len(claim()[1]) == batching.CPU.texts

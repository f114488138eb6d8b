"""Celery's doors: they take nothing, do one thing, and may be knocked at twice. Scored by the shipped model."""

import factories
import pytest
import samples
from django.utils import timezone

from detector import dispatch, tasks
from detector.models import Submission
from gpujobs.models import GpuRun
from inkcloak.celery import app

pytestmark = pytest.mark.usefixtures("shipped")


def test_it_scores_until_nothing_waits() -> None:
    now = timezone.now()
    rows = [factories.accepted(factories.visitor(), text, now=now) for text in (samples.HUMAN, samples.AI)]
    tasks.dispatch_queued()
    tasks.dispatch_queued()
    labels = {row.text: row.verdict.label for row in Submission.objects.select_related("verdict")}
    assert labels == {samples.HUMAN: "human", samples.AI: "ai"}
    assert GpuRun.objects.get().texts == len(rows)


def test_it_scores_a_text_alike_alone_and_in_company() -> None:
    """To 1e-4, whatever shares its batch."""
    now, texts = timezone.now(), (samples.HUMAN, samples.AI, samples.MIXED, samples.SPANISH, samples.HUMAN[:350])
    together = [factories.accepted(factories.visitor(str(n)), text, now=now) for n, text in enumerate(texts)]
    tasks.dispatch_queued()
    for in_company in together:
        alone = factories.accepted(factories.visitor("alone"), in_company.text, now=now)
        dispatch.next_batch(now=now)
        first, second = (Submission.objects.get(pk=row.pk).verdict for row in (in_company, alone))
        assert first.probability == pytest.approx(second.probability, abs=1e-4)
        assert first.ai_fraction == second.ai_fraction
        assert len(first.segments) == len(second.segments)
        for one, other in zip(first.segments, second.segments, strict=True):
            assert one["probability"] == pytest.approx(other["probability"], abs=1e-4)
            assert (one["start"], one["end"], one["label"]) == (other["start"], other["end"], other["label"])
        alone.delete()


def test_it_scores_a_text_at_the_limit_to_its_last_character() -> None:
    text = samples.long_text(20_000)
    factories.accepted(factories.visitor(), text, now=timezone.now())
    tasks.dispatch_queued()
    segments = Submission.objects.get().verdict.segments
    assert segments[0]["start"] == 0
    assert segments[-1]["end"] == len(text)
    assert len(segments) > 15


def test_it_sweeps_twice() -> None:
    factories.accepted(factories.visitor(), now=timezone.now())
    tasks.sweep()
    tasks.sweep()
    assert Submission.objects.get().status == "queued"


def test_every_scheduled_task_exists_and_expires_before_the_next() -> None:
    app.loader.import_default_modules()  # as a worker does: the tasks of every app
    for entry in app.conf.beat_schedule.values():
        assert entry["task"] in app.tasks
        assert entry["options"]["expires"] <= entry["schedule"]


def test_only_scoring_goes_to_the_workers_that_hold_a_model() -> None:
    routes = app.conf.task_routes
    assert routes == {
        "detector.tasks.dispatch_queued": {"queue": "score"},
        "detector.tasks.dispatch_gpu": {"queue": "gpu"},
    }
    assert app.conf.task_ignore_result

"""The texts of a run are collected together: few statements, and nobody's trouble is another's."""

import factories
import pytest
import samples
from django.db import connection
from django.test.utils import CaptureQueriesContext
from factories import NOW, ScriptedBackend

from billing.models import Meter, User
from detector import collect, dispatch, retention
from detector.models import Submission, Verdict
from gpujobs import runs
from gpujobs.models import GpuRun, ModelVersion


def scored(by: factories.Owner, count: int) -> tuple[GpuRun, list[Submission]]:
    """A succeeded run that nobody has collected."""
    for number in range(count):
        factories.accepted(by, f"{samples.HUMAN} Number {number} of {count}.")
    run, texts = dispatch.claim(backend="local", now=NOW)
    runs.started(run)
    answer = ScriptedBackend(0.99).answer(dispatch.request_for(run, texts)).response
    runs.succeed(run, result=answer.to_json(), tokens=1, execution_ms=1, now=NOW)
    return run, texts


def statuses(texts: list[Submission]) -> list[str]:
    return [Submission.objects.get(pk=text.pk).status for text in texts]


def meter() -> tuple[int, int]:
    found = Meter.objects.get()
    return found.used, found.held


def test_it_takes_as_many_statements_for_twenty_texts_as_for_two(alice: User, champion: ModelVersion) -> None:
    taken = []
    for count in (2, 20):
        run, texts = scored(factories.owner(alice), count)
        run = GpuRun.objects.get(pk=run.pk)
        with CaptureQueriesContext(connection) as statements:
            collect.collect(run, now=NOW)
        assert statuses(texts) == ["done"] * count
        taken.append(len(statements))
    assert taken[0] == taken[1]
    assert meter() == (sum(Submission.objects.values_list("words", flat=True)), 0)


def test_it_passes_over_a_text_that_was_deleted(alice: User, champion: ModelVersion) -> None:
    run, (gone, stays) = scored(factories.owner(alice), 2)
    retention.delete(gone)
    collect.collect(run, now=NOW)
    assert list(Verdict.objects.values_list("submission_id", flat=True)) == [stays.pk]
    assert meter() == (stays.words, 0)


def test_it_fails_alone_the_text_whose_verdict_the_database_refuses(alice: User, champion: ModelVersion) -> None:
    run, (bad, *good) = scored(factories.owner(alice), 3)
    Verdict.objects.create(
        submission=bad, label="insufficient", model_version=champion, created_at=NOW, max_fpr="0.01", tier="cpu"
    )
    collect.collect(run, now=NOW)
    bad.refresh_from_db()
    assert (bad.status, bad.failure_code) == ("failed", collect.NO_VERDICT)
    assert statuses(good) == ["done", "done"]
    assert meter() == (sum(text.words for text in good), 0)


@pytest.mark.django_db(transaction=True)
def test_it_charges_once_when_several_collect_many_at_once() -> None:
    factories.champion()
    run, texts = scored(factories.owner(factories.person("alice")), 12)
    found = factories.together(lambda _n: collect.collect(GpuRun.objects.get(pk=run.pk), now=NOW), 6)
    assert found == [None] * 6
    assert Verdict.objects.count() == 12
    assert meter() == (sum(text.words for text in texts), 0)

"""RunPod's call when a job has ended: it brings the next look forward, and no stranger gets anything out of it."""

import json
import logging
import time
import uuid
from datetime import timedelta
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
import redis
from asgiref.sync import async_to_sync
from django.core import signing
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from gpujobs import runs
from gpujobs.backends import runpod_hooks
from gpujobs.models import GpuRun, ModelVersion

FAR_SECONDS = 60.0  # until the look that the poll would take


@pytest.fixture
def run(champion: ModelVersion) -> GpuRun:
    """RunPod works on it, and nobody looks for a minute."""
    return far_away(champion)


@pytest.fixture
def browser() -> Client:
    """Strict about forms, as a real site is."""
    return Client(enforce_csrf_checks=True)


def far_away(model: ModelVersion) -> GpuRun:
    made = runs.open_run(backend="runpod", model_version=model, texts=1, now=timezone.now())
    runs.started(made)
    runs.accepted(made, external_id="job-1-u1", attempt=1, seconds=300, now=timezone.now())
    GpuRun.objects.filter(pk=made.pk).update(next_look_at=timezone.now() + timedelta(seconds=FAR_SECONDS))
    made.refresh_from_db()
    return made


def hook_of(run_id: object) -> str:
    return urlsplit(runpod_hooks.address("https://inkcloak.example", str(run_id))).path


def is_due(run: GpuRun) -> bool:
    run.refresh_from_db()
    return run.next_look_at is not None and run.next_look_at <= timezone.now()


def wake_ups(broker: redis.Redis) -> list[tuple[str, str]]:
    """(task, arguments) of the messages to workers."""
    headers = [json.loads(raw)["headers"] for raw in broker.lrange("default", 0, -1)]
    return [(header["task"], header["argsrepr"]) for header in headers]


# --- A call of RunPod's -----------------------------------------------------------------------------------------


def test_it_has_the_run_looked_at_now(run: GpuRun, browser: Client, broker: redis.Redis) -> None:
    answer = browser.post(hook_of(run.pk), {"id": "job-1-u1", "status": "COMPLETED"}, content_type="application/json")
    assert (answer.status_code, answer.content) == (200, b"")
    assert is_due(run)
    assert wake_ups(broker) == [("detector.tasks.look_after", f"['{run.pk}']")]


def test_it_answers_without_holding_a_thread(run: GpuRun) -> None:
    answer = async_to_sync(AsyncClient(enforce_csrf_checks=True).post)(hook_of(run.pk))
    assert answer.status_code == 200
    assert is_due(run)


def test_a_doubled_call_costs_one_statement(run: GpuRun, browser: Client, broker: redis.Redis) -> None:
    browser.post(hook_of(run.pk))
    with CaptureQueriesContext(connection) as asked:
        assert browser.post(hook_of(run.pk)).status_code == 200
    assert [query["sql"].split()[0] for query in asked] == ["UPDATE"]
    assert len(wake_ups(broker)) == 1


def test_it_counts_no_call_against_a_visitor(run: GpuRun, browser: Client, settings) -> None:
    settings.POSTS_PER_MINUTE = 1
    assert {browser.post(hook_of(run.pk)).status_code for _ in range(3)} == {200}


def test_it_changes_nothing_of_a_run_that_has_ended(run: GpuRun, browser: Client, broker: redis.Redis) -> None:
    runs.fail(run, "gave_up_waiting", now=timezone.now())
    before = run.next_look_at
    assert browser.post(hook_of(run.pk)).status_code == 200
    run.refresh_from_db()
    assert (run.status, run.next_look_at) == ("failed", before)
    assert wake_ups(broker) == []


def test_it_changes_nothing_of_a_run_that_somebody_waits_for(
    champion: ModelVersion, browser: Client, broker: redis.Redis
) -> None:
    waited_for = runs.open_run(backend="runpod", model_version=champion, texts=1, now=timezone.now())
    for _ in ("starting", "running"):
        assert browser.post(hook_of(waited_for.pk)).status_code == 200
        runs.started(waited_for)
    waited_for.refresh_from_db()
    assert (waited_for.status, waited_for.next_look_at) == ("running", None)
    assert wake_ups(broker) == []


def test_it_takes_a_run_that_is_gone_as_done(browser: Client, db: None, broker: redis.Redis) -> None:
    assert browser.post(hook_of(uuid.uuid4())).status_code == 200
    assert wake_ups(broker) == []


def test_the_run_is_looked_at_later_when_no_broker_can_be_told(run: GpuRun, browser: Client, monkeypatch) -> None:
    def away(*_args: object, **_kwargs: object) -> None:
        raise redis.ConnectionError

    monkeypatch.setattr("detector.wakeups.app.send_task", away)
    assert browser.post(hook_of(run.pk)).status_code == 200
    later = timezone.now() + timedelta(seconds=runs.UNATTENDED_SECONDS + 1)
    assert runs.unattended(later) == [run]


# --- Strangers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bend",
    [
        lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"),
        lambda token: f"{uuid.uuid4()}.{token.partition('.')[2]}",  # another run under this signature
        lambda token: token.partition(".")[0],
        lambda token: signing.TimestampSigner(sep=".", salt="another").sign(token.partition(".")[0]),
        lambda token: signing.TimestampSigner(key="guessed" * 9, sep=".", salt=runpod_hooks.SALT).sign(token[:36]),
        lambda _token: "%00%FF",
        lambda _token: "ñ" * 5_000,
        lambda _token: "..",
        lambda _token: hook_of("no-number-of-a-run").rpartition("/")[2],
    ],
    ids=["bent", "another run", "no signature", "another salt", "another key", "bytes", "long", "dots", "no run"],
)
def test_it_knows_no_address_but_its_own(run: GpuRun, browser: Client, broker: redis.Redis, bend) -> None:
    path, _, token = hook_of(run.pk).rpartition("/")
    answer = browser.post(f"{path}/{bend(token)}")
    assert (answer.status_code, answer.content) == (404, b"")
    assert not is_due(run)
    assert wake_ups(broker) == []


def test_an_address_is_good_for_a_day(run: GpuRun, browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hook_of(run.pk)
    for hours, status in ((25, 404), (23, 200)):
        monkeypatch.setattr(signing, "time", SimpleNamespace(time=lambda hours=hours: time.time() + hours * 3600))
        assert browser.post(path).status_code == status
        assert is_due(run) is (status == 200)


def test_an_address_wakes_its_own_run_only(run: GpuRun, champion: ModelVersion, browser: Client) -> None:
    other = far_away(champion)
    browser.post(hook_of(other.pk))
    assert (is_due(run), is_due(other)) == (False, True)


def test_it_survives_a_change_of_the_secret_key(run: GpuRun, browser: Client, settings) -> None:
    path = hook_of(run.pk)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new" * 20, [settings.SECRET_KEY]
    assert browser.post(path).status_code == 200
    assert is_due(run)


@pytest.mark.parametrize("method", ["get", "head", "put", "delete", "options"])
def test_it_takes_posts_only(run: GpuRun, browser: Client, method: str) -> None:
    answer = getattr(browser, method)(hook_of(run.pk))
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert not is_due(run)


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_it_never_reads_what_is_posted(run: GpuRun, browser: Client, settings, kind: str) -> None:
    """A body over the limit raises as soon as somebody reads it; so does a form without its boundary."""
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    answer = browser.post(hook_of(run.pk), b'{"status": "FAILED", ' * 50_000, content_type=kind)
    assert answer.status_code == 200
    assert is_due(run)


def test_no_log_knows_an_address_or_what_was_posted(
    run: GpuRun, browser: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = hook_of(run.pk).rpartition("/")[2]
    for path in (hook_of(run.pk), f"/hooks/runpod/x{token}"):
        browser.post(path, {"output": "planted words"}, content_type="application/json")
        browser.get(path)
    assert token not in caplog.text
    assert "planted" not in caplog.text

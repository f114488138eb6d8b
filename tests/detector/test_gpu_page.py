"""The staff's page about the GPU: for staff alone, in every state of the endpoint, and RunPod is asked once for all."""

import re
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import factories
import page_reading as pages
import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from billing.models import User
from detector.models import Submission
from gpujobs import runs
from gpujobs.backends.runpod import BREAKER_NAME
from gpujobs.breaker import Breaker
from gpujobs.models import GpuRun, ModelVersion
from tests.loopback.runpod.client import eventually
from tests.loopback.runpod.serve import LoopbackRunPod

pytest_plugins = ["tests.loopback.runpod.fixtures"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

NOWHERE = "http://127.0.0.1:1"
JOB = {"texts": []}


@pytest.fixture
def staff(db: None) -> Client:
    client = Client()
    client.force_login(factories.person("dora", is_staff=True))
    return client


@pytest.fixture(autouse=True)
def closed_breaker(settings: Any) -> Iterator[Breaker]:
    """No endpoint, a closed breaker, and all for the GPU, unless the test says otherwise."""
    settings.SCORING_POLICY = "gpu"
    settings.RUNPOD_ENDPOINT_ID = settings.RUNPOD_API_KEY = ""
    breaker = Breaker(BREAKER_NAME)
    breaker.succeeded()
    yield breaker
    breaker.succeeded()


@pytest.fixture
def configure(settings: Any) -> Callable[..., None]:
    """configure(address, endpoint, key): what the environment says."""

    def put(address: str = NOWHERE, endpoint: str = "4m7x", key: str = "rpa_planted") -> None:
        settings.RUNPOD_BASE_URL = settings.RUNPOD_REST_URL = f"{address}/v2"
        settings.RUNPOD_GRAPHQL_URL = f"{address}/graphql"
        settings.RUNPOD_ENDPOINT_ID, settings.RUNPOD_API_KEY = endpoint, key

    return put


def waiting(count: int = 1, **fields: Any) -> None:
    """Texts in the queue."""
    made = [factories.accepted(factories.visitor(), now=timezone.now() - timedelta(seconds=290)) for _ in range(count)]
    Submission.objects.filter(pk__in=[each.pk for each in made]).update(**fields)


def words(client: Client, language: str = "en") -> str:
    page = client.get("/staff/gpu/", headers={"accept-language": language})
    assert page.status_code == 200
    assert pages.broken_rules(page) == []
    return pages.words(page)


# --- Who may ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/staff/gpu/", "/staff/gpu/figures"])
def test_it_is_for_staff_alone(
    client: Client, staff: Client, client_of: Callable[[User], Client], alice: User, address: str
) -> None:
    visitor = client.get(address)
    assert (visitor.status_code, visitor["Location"]) == (302, f"/accounts/login/?next={address}")
    assert client_of(alice).get(address).status_code == 403
    page = staff.get(address)
    assert (page.status_code, page["Cache-Control"]) == (200, "no-store, private")
    assert staff.post(address).status_code == 405


def test_a_page_left_open_after_signing_out_leads_to_the_login(client: Client) -> None:
    answer = client.get("/staff/gpu/figures", headers={"hx-request": "true"})
    assert (answer.status_code, answer["HX-Refresh"], answer.content) == (200, "true", b"")


def test_staff_find_it(staff: Client, client_of: Callable[[User], Client], alice: User) -> None:
    assert pages.elements(staff.get("/"), "a", href="/staff/gpu/")
    assert not pages.elements(client_of(alice).get("/"), "a", href="/staff/gpu/")
    boss = client_of(factories.person("erna", is_staff=True, is_superuser=True))
    assert pages.elements(boss.get("/staff/"), "a", href="/staff/gpu/")


# --- States -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "es"])
def test_it_keeps_the_rules_and_renews_itself(staff: Client, language: str) -> None:
    page = staff.get("/staff/gpu/", headers={"accept-language": language})
    assert pages.broken_rules(page) == []
    assert "unsafe" not in page["Content-Security-Policy"]
    (place,) = pages.elements(page, "div", id="gpu")
    assert place.attributes["hx-get"] == "/staff/gpu/figures"
    assert "<html" not in pages.html(staff.get("/staff/gpu/figures"))


def test_without_an_endpoint_it_says_so_and_shows_the_cpu(staff: Client, champion: ModelVersion) -> None:
    waiting(2)
    run = runs.open_run(backend="local", model_version=champion, texts=3, now=timezone.now())
    runs.succeed(run, result={}, tokens=9, execution_ms=1234, now=timezone.now())
    said = words(staff)
    assert "No GPU endpoint is configured" in said
    assert "docs/runpod.md" in said
    assert "They wait for this machine's CPU" in said
    assert "Pasted texts 2 texts the oldest: 5 minutes" in said
    assert "CPU (this machine) 1 0 3 – – 1.2 s 1.2 s" in said


def test_it_says_that_runpod_cannot_be_asked(staff: Client, configure: Callable[..., None]) -> None:
    configure()
    waiting()
    said = words(staff)
    assert "RunPod can't be asked at the moment. RunPod does not answer. (runpod_unreachable)" in said
    assert "so only its own pages know why" in said
    assert "rpa_planted" not in said


def test_it_shows_an_open_breaker(staff: Client, configure: Callable[..., None]) -> None:
    configure()
    waiting()
    Breaker(BREAKER_NAME, now=lambda: time.time() + 40).failed("runpod_unauthorized", at_once=True)
    said = words(staff)
    assert "open: RunPod is not asked" in said
    assert "After several failures in a row RunPod is not asked for a while." in said
    assert "Failures in a row 1 runpod_unauthorized" in said
    assert re.search(r"Since .* Next try in \d+ seconds", said)


def test_it_lists_runs_workers_and_texts_without_their_words(
    staff: Client, configure: Callable[..., None], champion: ModelVersion
) -> None:
    configure()
    now = timezone.now()
    done = runs.open_run(backend="runpod", model_version=champion, texts=1234, now=now)
    usage = {"delay_ms": 16_000, "worker_id": "worker-7"}
    runs.succeed(done, result={"texts": [{"padding": 25}]}, tokens=75, execution_ms=900, now=now, usage=usage)
    GpuRun.objects.filter(pk=done.pk).update(created_at=now - timedelta(seconds=18))
    flying = runs.open_run(backend="runpod", model_version=champion, texts=2, now=now)
    runs.started(flying, external_id="job-77")
    page = staff.get("/staff/gpu/", headers={"accept-language": "es"})
    html, said = pages.html(page), pages.words(page)
    assert "1\xa0234</td>" in html
    assert "worker-7" in said
    assert "16,0 s" in said
    assert "25,0" in said
    assert str(flying.pk)[:8] in said
    assert "job-77" in said


def test_it_knows_the_policy_and_the_budget(
    staff: Client, configure: Callable[..., None], runpod: LoopbackRunPod, endpoint: str, settings: Any
) -> None:
    configure(runpod.url, endpoint, runpod.key)
    waiting()
    settings.BUDGETS_NANOUSD = {"inference-day": 1}
    said = words(staff)
    assert "The budget for checks on GPUs in a day is used up. GPU work starts again on" in said
    assert "override" in said
    settings.SCORING_POLICY = "cpu"
    said = words(staff)
    assert "They wait for this machine's CPU." in said
    assert "Scoring policy: CPU only." in said


def test_it_counts_a_long_queue_up_to_a_limit(staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detector.views.gpu.COUNTED_TEXTS", 2)
    waiting(3, lane=Submission.Lane.BULK)
    assert "Bulk 2 texts and more" in words(staff)


# --- With a RunPod ------------------------------------------------------------------------------------------


def queue_a_job(runpod: LoopbackRunPod, endpoint: str) -> None:
    runpod.run(endpoint, JOB)


def test_ten_pages_ask_runpod_once(
    staff: Client, configure: Callable[..., None], runpod: LoopbackRunPod, endpoint: str
) -> None:
    configure(runpod.url, endpoint, runpod.key)
    assert "none: scaled to zero" in words(staff)
    said = [words(staff) for _ in range(9)]
    assert "No work waits." in said[-1]
    assert "closed: RunPod is asked" in said[-1]
    assert runpod.count("health") == 1


def throttled(runpod: LoopbackRunPod) -> str:
    runpod.fault("throttled")
    endpoint = runpod.played(workers={"min": 1, "max": 1})
    eventually(lambda: runpod.health(endpoint)["workers"].get("throttled"))
    return endpoint


def crashing(runpod: LoopbackRunPod) -> str:
    runpod.fault("unhealthy")
    endpoint = runpod.endpoint(workers={"min": 1, "max": 1})
    eventually(lambda: runpod.health(endpoint)["workers"].get("unhealthy"))
    return endpoint


def without_workers(runpod: LoopbackRunPod) -> str:
    endpoint = runpod.played()
    runpod.fault("max_workers_zero")
    return endpoint


def without_credit(runpod: LoopbackRunPod) -> str:
    endpoint = runpod.played()
    runpod.fault("balance", usd=0)
    return endpoint


@pytest.mark.parametrize(
    ("broken", "state", "said", "fix"),
    [
        (throttled, "waiting for a card 1", "Throttled: no card of these pools is free.", "RUNPOD_GPU_POOLS"),
        (crashing, "failing 1", "Crash loop: workers fail at their start.", "worker's log"),
        (without_workers, "scaled to zero", "Max workers is 0: no worker will come.", "runpod_deploy --yes raises it"),
        (without_credit, "scaled to zero", "The account has no credit: no worker starts.", "Add credit"),
    ],
)
def test_it_says_why_a_batch_waits(
    staff: Client,
    configure: Callable[..., None],
    runpod: LoopbackRunPod,
    broken: Callable[[LoopbackRunPod], str],
    state: str,
    said: str,
    fix: str,
) -> None:
    endpoint = broken(runpod)
    configure(runpod.url, endpoint, runpod.key)
    queue_a_job(runpod, endpoint)
    found = words(staff)
    assert said in found
    assert fix in found
    assert state in found
    assert "1 waiting, 0 running" in found


def test_a_shut_door_is_named(
    staff: Client, configure: Callable[..., None], runpod: LoopbackRunPod, endpoint: str
) -> None:
    configure(runpod.url, endpoint, "rpa_wrong")
    assert "RunPod refuses the key. (runpod_unauthorized)" in words(staff)


def test_a_fault_is_told_at_once(
    staff: Client, configure: Callable[..., None], runpod: LoopbackRunPod, endpoint: str
) -> None:
    configure(runpod.url, endpoint, runpod.key)
    runpod.fault("server_error", where={"op": "health"})
    response: HttpResponse = staff.get("/staff/gpu/")
    assert "runpod_unavailable" in pages.words(response)
    assert runpod.count("health") == 1  # no second try while somebody waits


def test_it_stands_while_redis_is_away(staff: Client, configure: Callable[..., None], settings: Any) -> None:
    configure()
    settings.CACHE_URL = "redis://127.0.0.1:1/0"
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": settings.CACHE_URL}
    }
    assert "RunPod does not answer. (runpod_unreachable)" in words(staff)

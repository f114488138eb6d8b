"""The client against the running application: the same verdicts, cursors and files as any other way in."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import factories
import httpx
import pytest
import samples
from asgiref.sync import async_to_sync
from django.core.asgi import get_asgi_application
from django.db import connections
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User
from detector import dispatch
from detector.models import Submission
from inkcloak.client import AsyncClient, Client, KeyRefused, LimitReached, NotFinished, NotFound, Problem, Upload

pytestmark = pytest.mark.django_db(transaction=True)

STEP_SECONDS = 0.05
Connected = Callable[..., Client]


@pytest.fixture
def scorer(transactional_db: None) -> Iterator[None]:
    """A worker: scores whatever is queued, as AI."""
    factories.champion()
    over = threading.Event()

    def work() -> None:
        try:
            while not over.wait(STEP_SECONDS):
                dispatch.next_batch(now=timezone.now(), backend=factories.ScriptedBackend())
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    over.set()
    thread.join(20)
    assert not thread.is_alive()


def token(user: User, **fields: object) -> str:
    usual = {"name": "client", "scopes": Scope.values, "now": timezone.now()}
    return keys.issue(account=account_of(user), **usual | fields).token


@pytest.fixture
def connected(live_server: LiveServer) -> Iterator[Connected]:
    """connected(alice): a client with a key of hers."""
    made: list[Client] = []

    def connect(user: User, transport: httpx.BaseTransport | None = None, **fields: object) -> Client:
        made.append(Client(token(user, **fields), live_server.url, transport=transport))
        return made[-1]

    yield connect
    for client in made:
        client.close()


@pytest.mark.usefixtures("scorer")
def test_a_verdict_comes_with_everything_that_it_rests_on(connected: Connected, alice: User) -> None:
    text = f"```\nx = 1\n```\n\n{samples.AI}\u200b"
    found = connected(alice).detect(text, wait=30, max_fpr=0.01, metadata={"course": "7b"})
    assert (found.status, found.verdict, found.probability, found.live) == ("done", "ai", 0.99, True)
    assert found.ai_fraction is not None
    marked = [part for part in found.segments or () if part.label == "ai"]
    assert marked
    assert text[marked[0].start : marked[0].end].startswith("In today's")
    assert [part.kind for part in found.left_out or ()] == ["code"]
    assert "invisible" in [part.kind for part in found.cleaned or ()]
    assert found.rate_card is not None
    assert found.rate_card.n > found.rate_card.k
    assert found.rate_card.group["language"] == "en"
    assert (found.max_fpr, found.tier, found.degraded) == (0.01, "cpu", False)
    assert found.model_version == "test-version-1"
    assert found.usage.words_charged == found.words > 0
    assert found.usage.balance is not None
    assert dict(found.metadata) == {"course": "7b"}
    assert found.created_at <= (found.finished_at or found.created_at)
    assert Submission.objects.get().text == text


@pytest.mark.usefixtures("scorer")
def test_reading_deleting_and_running_again(connected: Connected, alice: User, bob: User) -> None:
    client = connected(alice)
    made = client.detect(samples.AI, wait=30)
    assert client.get(made.id).probability == made.probability
    again = client.rerun(made.id, wait=30)
    assert (again.rerun_of, again.verdict) == (made.id, "ai")
    with pytest.raises(NotFound):
        connected(bob).get(made.id)
    client.delete(made.id)
    with pytest.raises(NotFound):
        client.get(made.id)


@pytest.mark.usefixtures("champion")
def test_nobody_scores_and_the_wait_ends(connected: Connected, alice: User) -> None:
    with pytest.raises(NotFinished) as late:
        connected(alice).detect(samples.AI, wait=1)
    assert late.value.detection.status == "queued"
    assert connected(alice).get(late.value.detection.id).is_finished is False


@pytest.mark.usefixtures("champion")
def test_lists_are_walked_page_by_page(connected: Connected, alice: User) -> None:
    client = connected(alice)
    made = [client.detect(f"{samples.HUMAN} Number {n}.", wait=0).id for n in range(5)]
    assert [one.id for one in client.list(page_size=2)] == made[::-1]
    assert next(client.list()).segments is None


class LosesAnswers(httpx.HTTPTransport):
    """The connection breaks after the service did what it was asked, the first time."""

    lost = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        if request.method == "POST" and not self.lost:
            self.lost += 1
            answer.read()
            raise httpx.ReadError("reset")
        return answer


@pytest.mark.usefixtures("scorer")
def test_an_answer_that_got_lost_is_no_second_check(connected: Connected, alice: User) -> None:
    transport = LosesAnswers()
    client = connected(alice, transport)
    found = client.detect(samples.AI, wait=30)
    assert (transport.lost, found.verdict) == (1, "ai")
    assert Submission.objects.count() == 1
    assert client.usage().words.used == found.words


@pytest.mark.usefixtures("scorer")
def test_many_texts_fail_alone(connected: Connected, alice: User) -> None:
    told: list[tuple[int, int]] = []
    texts = [f"{samples.AI} One.", "", samples.SHORT, f"{samples.AI} Two."]
    items = connected(alice).detect_many(texts, wait=30, progress=lambda *counts: told.append(counts))
    assert [item.place for item in items] == [0, 1, 2, 3]
    assert [item.detection and item.detection.verdict for item in items] == ["ai", None, "insufficient", "ai"]
    assert items[1].problem is not None
    assert items[1].problem.code in ("empty", "invalid")
    assert items[2].detection is not None
    assert (items[2].detection.reason, items[2].detection.usage.words_charged) == ("too_short", 0)
    assert told[-1] == (4, 4)


@pytest.mark.usefixtures("scorer")
def test_files_fail_alone_and_tables_have_rows(connected: Connected, alice: User, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<title>x</title><p>{samples.AI}</p>")
    (tmp_path / "two.csv").write_text(f'id,text\n1,"{samples.AI} A."\n2,"{samples.AI} B."\n')
    (tmp_path / "photo.pdf").write_bytes(b"\x89PNG\r\n" + bytes(99))
    files = [tmp_path / "page.html", str(tmp_path / "two.csv"), tmp_path / "photo.pdf", Upload("ñ.txt", b"   ")]
    items = connected(alice).detect_files(files, wait=30, store=False)
    assert [(item.file.name, item.row) for item in items] == [
        ("page.html", None),
        ("two.csv", 2),
        ("two.csv", 3),
        ("photo.pdf", None),
        ("ñ.txt", None),
    ]
    assert [item.detection and item.detection.verdict for item in items] == ["ai", "ai", "ai", None, None]
    assert [item.problem and item.problem.code for item in items[3:]] == ["file_type", "file_empty"]
    assert items[0].file.kind == "html"
    assert [item.place for item in items] == list(range(5))
    assert set(Submission.objects.values_list("text", "file_name")) == {("", "")}


def test_a_file_that_no_request_can_carry_is_not_read(connected: Connected, alice: User, tmp_path: Path) -> None:
    with (tmp_path / "huge.pdf").open("wb") as file:
        file.truncate(11 * 1024 * 1024)
    (item,) = connected(alice).detect_files([tmp_path / "huge.pdf"])
    assert isinstance(item.problem, Problem)
    assert (item.problem.code, item.file.name) == ("file_size", "huge.pdf")
    with pytest.raises(FileNotFoundError):
        connected(alice).detect_files([tmp_path / "huge.pdf", tmp_path / "none.pdf"])


@pytest.mark.usefixtures("champion")
def test_usage_models_and_quotes(connected: Connected, alice: User) -> None:
    client = connected(alice)
    quote = client.quote(samples.AI)
    assert (quote.sufficient, quote.words_to_charge) == (True, quote.words)
    assert (quote.affordable, client.quote(samples.SHORT).reason) == (True, "too_short")
    usage = client.usage()
    assert usage.words.used == 0
    assert usage.words.left == usage.words.limit
    assert usage.requests.left < usage.requests.limit
    (model,) = client.models()
    assert (model.version, model.default, model.languages) == ("test-version-1", True, ("en", "es"))
    assert model.max_fprs["en"] == (0.005, 0.01, 0.05)
    assert not Submission.objects.exists()


@pytest.mark.usefixtures("champion")
def test_problems_say_what_is_wrong(connected: Connected, alice: User, settings: object) -> None:
    settings.FREE_WORDS_PER_MONTH = 10  # type: ignore[attr-defined]
    client = connected(alice)
    with pytest.raises(LimitReached) as used:
        client.detect(samples.AI)
    assert used.value.code == "words_used"
    with pytest.raises(Problem) as wrong:
        client.detect(samples.AI, language="english")
    assert (wrong.value.code, wrong.value.errors[0].pointer) == ("invalid", "/language")
    assert wrong.value.request_id.startswith("req_")
    with pytest.raises(KeyRefused) as refused:
        connected(alice, scopes=[Scope.USAGE_READ]).detect(samples.AI)
    assert refused.value.code == "missing_scope"
    assert samples.AI[:40] not in str(used.value) + str(wrong.value)


def test_test_keys_answer_at_once_and_cost_nothing(connected: Connected, alice: User) -> None:
    client = connected(alice, live=False)
    assert client.detect("inkcloak-test:mixed").verdict == "mixed"
    assert client.detect("inkcloak-test:mixed").live is False
    items = client.detect_many(["inkcloak-test:ai", "inkcloak-test:too_long"])
    assert items[0].detection is not None
    assert items[0].detection.verdict == "ai"
    assert isinstance(items[1].problem, Problem)
    assert client.usage().live is False
    assert len(list(client.list())) > 5
    with pytest.raises(NotFinished):
        client.detect("inkcloak-test:queued", wait=0.1)


@pytest.mark.usefixtures("scorer")
def test_the_client_that_is_awaited_speaks_to_the_asgi_application(alice: User) -> None:
    key = token(alice)

    async def calls() -> tuple[object, ...]:
        transport = httpx.ASGITransport(app=get_asgi_application())
        async with AsyncClient(key, "http://localhost", transport=transport) as client:
            made = await client.detect(samples.AI, wait=30)
            items = await client.detect_many([f"{samples.AI} {n}" for n in range(3)], wait=30)
            listed = [one.id async for one in client.list(page_size=2)]
            usage, models = await client.usage(), await client.models()
            again = await client.rerun(made.id, wait=30)
            await client.delete(again.id)
            seen = await client.get(made.id)
            files = await client.detect_files([Upload("a.txt", samples.AI.encode())], wait=30)
            quote = await client.quote(samples.SHORT)
        verdicts = [item.detection and item.detection.verdict for item in (*items, *files)]
        return (
            made.verdict,
            verdicts,
            len(listed),
            usage.words.used > 0,
            models[0].version,
            seen.id == made.id,
            quote.words,
        )

    found = async_to_sync(calls)()
    assert found == ("ai", ["ai"] * 4, 4, True, "test-version-1", True, len(samples.SHORT.split()))

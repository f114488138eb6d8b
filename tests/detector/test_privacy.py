"""A customer's words are in one table, and in no message, log line or error."""

import base64
import json
import logging
import uuid
from collections.abc import Callable

import factories
import pytest
import redis
import samples
from django.conf import settings
from factories import NOW, ScriptedBackend

from detector import dispatch, intake, wakeups
from detector.models import Submission
from gpujobs.models import GpuRun, RunEvent
from inkcloak.errors import DomainError

pytestmark = pytest.mark.django_db(transaction=True)

PLANTED = "quixotic zeppelin marmalade"
TEXT = f"{samples.HUMAN} The {PLANTED} was sold. {samples.AI}"


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


def all_of_redis() -> str:
    """Every key and value of both databases, as far as they are text."""
    found: list[str] = []
    for url in {settings.REDIS_URL, settings.CACHE_URL}:
        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter():
                kind = client.type(key)
                value = client.lrange(key, 0, -1) if kind == b"list" else client.dump(key)
                found.append(f"{key!r} {value!r}")
    return "\n".join(found)


def test_no_message_and_no_log_line_quotes_a_text(logs: pytest.LogCaptureFixture, broker: redis.Redis) -> None:
    factories.champion()
    factories.accepted(factories.visitor(), TEXT)
    with redis.Redis.from_url(settings.CACHE_URL) as client:
        hints = client.pubsub()
        hints.psubscribe("*")
        dispatch.next_batch(now=NOW, backend=ScriptedBackend())
        heard = [message for _ in range(10) if (message := hints.get_message(timeout=0.2))]
        hints.close()
    assert Submission.objects.get().status == "done"
    assert broker.llen("score") == 1
    (message,) = (json.loads(raw) for raw in broker.lrange("score", 0, -1))
    arguments, keywords, _embedded = json.loads(base64.b64decode(message["body"]))
    assert (arguments, keywords) == ([], {})
    assert any(hint["data"] == b"finished" for hint in heard)
    for words in (PLANTED, "zeppelin", "Woodhouse"):
        assert words not in all_of_redis()
        assert words not in str(heard)
        assert words not in logs.text


def test_no_run_quotes_a_text() -> None:
    factories.champion()
    factories.accepted(factories.visitor(), TEXT)
    dispatch.next_batch(now=NOW, backend=ScriptedBackend())
    for model in (GpuRun, RunEvent):
        assert "zeppelin" not in str(list(model.objects.values()))


def test_an_engines_error_is_named_and_not_quoted(logs: pytest.LogCaptureFixture) -> None:
    """Its own words might quote what it was given; only their kind is kept."""
    factories.champion()  # a version whose files are not on this machine
    factories.accepted(factories.visitor(), TEXT)
    while dispatch.next_batch(now=NOW):
        pass
    assert Submission.objects.get().failure_code == "local_lookuperror"
    assert "local_lookuperror" in logs.text
    assert "zeppelin" not in logs.text


@pytest.mark.parametrize(
    "refused",
    [
        lambda: factories.accepted(factories.visitor(), TEXT * 200),
        lambda: factories.accepted(factories.visitor(), TEXT, max_fpr="0.3"),
        lambda: intake.decode(f"{TEXT} ñ".encode("latin-1")),
        lambda: intake.decode(TEXT.encode() * 1_000),
    ],
    ids=["too long", "unknown cap", "bad encoding", "too many bytes"],
)
def test_no_error_quotes_a_text(refused: Callable[[], object], logs: pytest.LogCaptureFixture) -> None:
    factories.champion()
    with pytest.raises(DomainError) as error:
        refused()
    assert "zeppelin" not in str(error.value.message) + str(error.value)
    assert "zeppelin" not in logs.text


def test_a_wake_up_that_is_lost_names_no_text(logs: pytest.LogCaptureFixture, monkeypatch) -> None:
    monkeypatch.setattr(wakeups, "_shared", redis.Redis.from_url("redis://127.0.0.1:1/0", retry=None))
    wakeups.announce(uuid.uuid4())
    assert "no announcement sent: ConnectionError" in logs.text

"""One message over the wire, to a real server on loopback: pinned to an address, in bounded time, following nothing."""

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from detector.webhook_sending import Message, Outcome, Wire, send_all
from tests.loopback import webhook_receiver
from tests.loopback.webhook_receiver import Receiver, Says

BODY = b'{"type":"webhook.test"}'
NAME = "hooks.example.com"


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    settings.WEBHOOK_ALLOWED_HOSTS = ["127.0.0.1", NAME]
    with webhook_receiver.receiver() as made:
        yield made


def here(_host: str, _port: int) -> list[str]:
    return ["127.0.0.1"]


def sent(url: str, wire: Wire | None = None) -> Outcome:
    message = Message(url, {"webhook-id": "evt_1"}, BODY)
    return send_all([message], wire or Wire(seconds=3.0))[0]


def test_it_posts_the_body_as_it_was_signed(receiver: Receiver) -> None:
    assert sent(receiver.url) == Outcome(200)
    (got,) = receiver.got
    assert (got.path, got.body, got.webhook_id) == ("/hooks?from=inkcloak", BODY, "evt_1")
    assert got.headers["content-type"] == "application/json"
    assert got.headers["user-agent"] == "InkCloak-Webhooks/1"
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_a_delivery(receiver: Receiver, status: int) -> None:
    receiver.says(status)
    assert sent(receiver.url) == Outcome(status)


@pytest.mark.parametrize(
    ("status", "error"), [(400, "status"), (404, "status"), (500, "status"), (599, "status"), (410, "gone")]
)
def test_other_answers_are_none(receiver: Receiver, status: int, error: str) -> None:
    receiver.says(status)
    assert sent(receiver.url) == Outcome(status, error)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_it_follows_no_redirect(receiver: Receiver, status: int) -> None:
    receiver.script.append(Says(status, {"Location": "http://127.0.0.1/elsewhere"}))
    assert sent(receiver.url) == Outcome(status, "redirect")
    assert len(receiver.got) == 1


@pytest.mark.parametrize(
    ("status", "said", "seconds"),
    [(429, "120", 120), (503, "7", 7), (503, "99999999", 86_400), (503, "soon", 0), (503, "-5", 0), (500, "120", 0)],
)
def test_it_hears_how_long_to_wait(receiver: Receiver, status: int, said: str, seconds: int) -> None:
    receiver.script.append(Says(status, {"Retry-After": said}))
    assert sent(receiver.url).wait_seconds == seconds


def test_a_silent_receiver_costs_no_more_than_the_limit(receiver: Receiver) -> None:
    receiver.default = Says(seconds=20)
    begin = time.monotonic()
    assert sent(receiver.url, Wire(seconds=0.3)) == Outcome(error="timeout")
    assert time.monotonic() - begin < 3


def test_a_receiver_that_drips_costs_no_more_either(receiver: Receiver) -> None:
    """Each byte comes in time; together they would take minutes."""
    receiver.default = Says(drip=0.1)
    begin = time.monotonic()
    assert sent(receiver.url, Wire(seconds=0.5)) == Outcome(error="timeout")
    assert time.monotonic() - begin < 3


def test_a_body_without_an_end_does_not_matter(receiver: Receiver) -> None:
    receiver.script.append(Says(200, {"Content-Length": str(10**9)}, b"x" * 5_000_000))
    assert sent(receiver.url) == Outcome(200)


def test_a_body_that_breaks_off_does_not_matter(receiver: Receiver) -> None:
    receiver.script.append(Says(200, {"Content-Length": "1000"}, b"x"))
    assert sent(receiver.url) == Outcome(200)


def test_nobody_at_the_door_is_said_so(settings) -> None:
    settings.WEBHOOK_ALLOWED_HOSTS = ["127.0.0.1"]
    assert sent("http://127.0.0.1:1/") == Outcome(error="connection_failed")


def test_it_goes_on_to_the_next_address_when_one_is_dead(receiver: Receiver) -> None:
    asked = Wire(ask=lambda _host, _port: ["127.0.0.9", "127.0.0.1"], seconds=3.0)
    assert sent(receiver.url.replace("127.0.0.1", NAME), asked) == Outcome(200)
    assert receiver.got[0].headers["host"] == f"{NAME}:{receiver.port}"


def test_it_asks_the_name_server_once_and_goes_where_it_was_told(receiver: Receiver) -> None:
    asked: list[str] = []

    def ask(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    assert sent(receiver.url.replace("127.0.0.1", NAME), Wire(ask=ask, seconds=3.0)) == Outcome(200)
    assert asked == [NAME]


def test_a_name_that_turned_private_gets_nothing(receiver: Receiver, settings) -> None:
    """DNS rebinding: public when the address was handed in, loopback when the message goes out."""
    settings.WEBHOOK_ALLOWED_HOSTS = []
    assert sent(f"https://{NAME}/", Wire(ask=here, seconds=3.0)) == Outcome(error="address_refused")
    assert sent(f"https://{NAME}/", Wire(ask=lambda _h, _p: [], seconds=3.0)) == Outcome(error="unresolvable")
    assert not receiver.got


def test_an_address_that_the_rules_no_longer_take_gets_nothing(receiver: Receiver, settings) -> None:
    settings.WEBHOOK_ALLOWED_HOSTS = []
    assert sent(receiver.url) == Outcome(error="address_refused")
    assert not receiver.got


def test_the_certificate_is_the_names_though_the_connection_is_an_addresss(tmp_path: Path, settings) -> None:
    settings.WEBHOOK_ALLOWED_HOSTS = [NAME]
    server, trust = webhook_receiver.certificate(tmp_path, NAME)
    with webhook_receiver.receiver(server) as made:
        url = f"https://{NAME}:{made.port}/hooks"
        assert sent(url, Wire(ask=here, trust=trust, seconds=5.0)) == Outcome(200)
        assert made.names == [NAME]
        assert sent(url, Wire(ask=here, seconds=5.0)) == Outcome(error="tls_failed"), "signed by nobody we trust"
        assert len(made.got) == 1


def test_a_certificate_of_another_name_gets_nothing(tmp_path: Path, settings) -> None:
    settings.WEBHOOK_ALLOWED_HOSTS = [NAME]
    server, trust = webhook_receiver.certificate(tmp_path, "other.example.com")
    with webhook_receiver.receiver(server) as made:
        outcome = sent(f"https://{NAME}:{made.port}/", Wire(ask=here, trust=trust, seconds=5.0))
        assert outcome == Outcome(error="tls_failed")
        assert not made.got


def test_no_proxy_of_the_environment_comes_between(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
        monkeypatch.setenv(name.lower(), "http://127.0.0.1:1")
    assert sent(receiver.url) == Outcome(200)


def test_slow_ones_hold_up_nobody(receiver: Receiver) -> None:
    receiver.default = Says(seconds=0.5)
    messages = [Message(receiver.url, {"webhook-id": f"evt_{number}"}, BODY) for number in range(10)]
    begin = time.monotonic()
    assert send_all(messages, Wire(seconds=10.0)) == [Outcome(200)] * 10
    assert time.monotonic() - begin < 4


def test_no_log_knows_the_address(receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # as settings.LOGGING has it
    sent(receiver.url)
    assert "hooks" not in caplog.text

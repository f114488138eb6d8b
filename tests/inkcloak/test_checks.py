"""The product refuses to start misconfigured, and names the fix."""

from typing import Any

import pytest

from inkcloak import checks

REAL = {"SCORING_POLICY": "gpu", "RUNPOD_ENDPOINT_ID": "4m7x", "RUNPOD_API_KEY": "rpa_secret", "DEBUG": False,
        "RUNPOD_BASE_URL": "https://api.runpod.ai/v2", "RUNPOD_REST_URL": "https://api.runpod.io/v2",
        "RUNPOD_GRAPHQL_URL": "https://api.runpod.io/graphql"}  # fmt: skip


def found(settings: Any, **changes: Any) -> list[str]:
    for name, value in (REAL | changes).items():
        setattr(settings, name, value)
    messages = checks.runpod_is_reachable(None)
    assert not any("rpa_secret" in str(message) for message in messages)
    return [str(message.id) for message in messages]


def test_it_starts_with_runpod_as_documented(settings: Any) -> None:
    assert found(settings) == []


def test_it_asks_for_nothing_of_runpod_when_it_scores_here(settings: Any) -> None:
    assert found(settings, SCORING_POLICY="cpu", RUNPOD_API_KEY="", RUNPOD_ENDPOINT_ID="") == []


def test_it_wants_endpoint_and_key(settings: Any) -> None:
    assert found(settings, RUNPOD_API_KEY="", RUNPOD_ENDPOINT_ID="") == ["inkcloak.E004", "inkcloak.E005"]


@pytest.mark.parametrize("host", ["127.0.0.1:8400", "localhost:8400", "[::1]:8400", "127.8.9.1", "runpod.localhost"])
def test_it_takes_no_rehearsal_for_the_real_service(settings: Any, host: str) -> None:
    assert found(settings, RUNPOD_BASE_URL=f"http://{host}/v2") == ["inkcloak.E006"]
    assert found(settings, RUNPOD_BASE_URL=f"http://{host}/v2", DEBUG=True) == []


def test_it_sends_no_text_in_the_clear(settings: Any) -> None:
    assert found(settings, RUNPOD_BASE_URL="http://api.runpod.ai/v2") == ["inkcloak.E007"]


@pytest.mark.parametrize("name", ["RUNPOD_REST_URL", "RUNPOD_GRAPHQL_URL"])
def test_it_guards_the_key_on_every_way(settings: Any, name: str) -> None:
    assert found(settings, **{name: "http://127.0.0.1:8400/v2"}) == ["inkcloak.E006"]
    assert found(settings, **{name: "http://api.runpod.io/v2"}) == ["inkcloak.E007"]


@pytest.mark.parametrize(
    ("debug", "hosts", "ids"), [(False, ["127.0.0.1"], ["inkcloak.W001"]), (False, [], []), (True, ["127.0.0.1"], [])]
)
def test_it_warns_of_webhooks_that_may_go_inside(settings: Any, debug: bool, hosts: list[str], ids: list[str]) -> None:
    settings.DEBUG, settings.WEBHOOK_ALLOWED_HOSTS = debug, hosts
    assert [message.id for message in checks.webhooks_stay_outside(None)] == ids

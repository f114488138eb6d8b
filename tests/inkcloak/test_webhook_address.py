"""The address under which RunPod shall reach this site: whole, and safe from listeners."""

from typing import Any

import pytest

from inkcloak import checks


def webhooks(settings: Any, address: str) -> list[str]:
    settings.RUNPOD_WEBHOOK_URL = address
    return [str(message.id) for message in checks.webhooks_reach_us(None)]


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://inkcloak.example",
        "https://inkcloak.example:8443/below",
        "http://127.0.0.1:8000",
        "http://[::1]:8000",
    ],
)
def test_it_takes_an_address_that_runpod_can_call(settings: Any, address: str) -> None:
    assert webhooks(settings, address) == []


@pytest.mark.parametrize(
    "address",
    ["inkcloak.example", "/hooks", "ftp://inkcloak.example", "https://", "https:///x", "https://inkcloak.example?a=1",
     "https://inkcloak.example/#x", "https://inkcloak.example:port", "https://[::1", "https://me:secret@inkcloak.example"],
)  # fmt: skip
def test_it_takes_no_half_of_an_address(settings: Any, address: str) -> None:
    assert webhooks(settings, address) == ["inkcloak.E008"]


def test_addresses_of_webhooks_do_not_travel_in_the_clear(settings: Any) -> None:
    assert webhooks(settings, "http://inkcloak.example") == ["inkcloak.E009"]

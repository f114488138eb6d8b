"""Django's middleware in the event loop: the same headers, sessions and refusals; a thread only where one may block."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.test import AsyncClient

from billing.models import User
from inkcloak import in_loop

HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Content-Language": "es",
    "Content-Length": "3",
}


@pytest.fixture
def hops(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps that went to a thread."""
    found: list[str] = []

    def counted(step: Any) -> Any:
        found.append(step.__qualname__)
        return sync_to_async(step)

    monkeypatch.setattr(in_loop, "sync_to_async", counted)
    return found


def test_a_page_without_a_session_takes_no_thread(hops: list[str]) -> None:
    answer = async_to_sync(AsyncClient().get)("/healthz", headers={"Accept-Language": "es"})
    assert {name: answer[name] for name in HEADERS} == HEADERS
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert hops == []


def test_a_program_takes_none_either(hops: list[str], db: None) -> None:
    assert async_to_sync(AsyncClient().get)("/api/v1/usage").status_code == 401
    assert hops == []


def test_a_session_is_stored_in_a_thread(hops: list[str], alice: User) -> None:
    client = AsyncClient()
    async_to_sync(client.aforce_login)(alice)
    answer = async_to_sync(client.get)("/history/")
    assert (answer.status_code, "Cookie" in answer["Vary"]) == (200, True)
    assert "SessionMiddleware.process_response" in hops


def test_a_form_without_its_token_is_refused(hops: list[str], db: None) -> None:
    """Nothing else of a forged form is looked at."""
    client = AsyncClient(enforce_csrf_checks=True)
    assert async_to_sync(client.post)("/check", {"text": "x"}).status_code == 403
    assert hops[0] == "CsrfViewMiddleware.process_view"


def test_a_host_that_is_not_ours_is_refused(db: None, hops: list[str]) -> None:
    assert async_to_sync(AsyncClient().get)("/healthz", headers={"Host": "elsewhere.example"}).status_code == 400

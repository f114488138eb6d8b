"""A log line says which request it belongs to, so that a quoted request_id finds it."""

import importlib
import logging

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from inkcloak import logs
from inkcloak.request_ids import request_ids


def line(words: str = "x") -> logging.LogRecord:
    record = logging.LogRecord("inkcloak", logging.INFO, "x.py", 1, words, None, None)
    assert logs.RequestId().filter(record)
    return record


def test_a_line_of_a_request_carries_its_name() -> None:
    seen: list[str] = []

    def view(_request: HttpRequest) -> HttpResponse:
        seen.append(line().request_id)  # type: ignore[attr-defined]
        return HttpResponse()

    answer = request_ids(view)(RequestFactory().get("/"))
    assert seen == [f"{answer['X-Request-ID']} "]  # type: ignore[index]


def test_a_line_of_no_request_carries_none() -> None:
    logs.current_request.set("")
    assert line().request_id == ""  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/s/zWb0c3nX/", "/s/…/"),
        ("/s/zWb0c3nX/?lang=es", "/s/…/?lang=es"),
        ("/s/zWb0c3nX", "/s/…"),
        ("/hooks/runpod/4f2a", "/hooks/runpod/…"),
        ("/static/inkcloak/ink.css", "/static/inkcloak/ink.css"),
        ("/checks/s/x/", "/checks/s/x/"),
    ],
)
def test_no_line_of_a_request_holds_an_address_that_is_a_secret(path: str, kept: str) -> None:
    line = '%s - "%s %s HTTP/%s" %d'
    record = logging.LogRecord(
        "uvicorn.access", logging.INFO, "", 0, line, ("10.0.0.1:5", "GET", path, "1.1", 200), None
    )
    assert logs.SecretAddresses().filter(record)
    assert record.getMessage() == f'10.0.0.1:5 - "GET {kept} HTTP/1.1" 200'


def test_the_servers_own_lines_pass_it() -> None:
    importlib.import_module("inkcloak.asgi")
    assert any(isinstance(one, logs.SecretAddresses) for one in logging.getLogger("uvicorn.access").filters)

"""A log line says which request it belongs to, so that a quoted request_id finds it."""

import logging

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

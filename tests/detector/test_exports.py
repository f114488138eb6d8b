"""The history as a file: every check once, numbers as numbers, nothing that a spreadsheet would run."""

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import factories
import page_reading as pages
import pytest
import samples
from api_calls import Caller, problem
from asgiref.sync import async_to_sync
from django.db import connection
from django.http import HttpResponse
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from factories import NOW

from billing.accounts import VISITOR_SESSION_KEY
from billing.models import Scope, User
from detector import exports, history, presenting
from detector.api import fixtures
from detector.models import Submission

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]


def body(answer: HttpResponse) -> str:
    content: str = answer.getvalue().decode()
    return content


def table(answer: HttpResponse) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(body(answer).removeprefix(exports.BOM), newline="")))


def lines(answer: HttpResponse) -> list[dict[str, Any]]:
    return [json.loads(line) for line in body(answer).splitlines()]


def test_json_lines_are_what_a_list_has_of_each_check(alice: User) -> None:
    by = factories.owner(alice)
    made = [factories.checked(by, samples.AI, now=NOW + timedelta(minutes=n)) for n in range(3)]
    answer = Caller(alice).get("/detections/export?format=jsonl")
    assert answer["Content-Type"] == "application/x-ndjson"
    assert answer["Content-Disposition"].endswith('.jsonl"')
    found = lines(answer)
    assert [row["id"] for row in found] == [str(row.pk) for row in reversed(made)]
    assert found == Caller(alice).get("/detections").json()["items"]
    assert "text" not in found[0]


def test_csv_has_a_mark_for_excel_numbers_as_numbers_and_texts_quoted(alice: User) -> None:
    submission = factories.checked(factories.owner(alice), samples.AI)
    answer = Caller(alice).get("/detections/export")
    whole = body(answer)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert whole.startswith('\ufeff"id","created_at",')
    row = table(Caller(alice).get("/detections/export"))[0]
    assert tuple(row) == exports.COLUMNS
    assert (row["id"], row["verdict"], float(row["probability"])) == (str(submission.pk), "ai", 0.99)
    assert f",{presenting.answer(submission)['probability']}," in whole
    assert (row["words_charged"], row["cached"]) == (str(submission.words), "false")


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_texts_are_in_it_where_their_owner_asks(alice: User, format: str) -> None:
    text = '=1+1\n"Ñandú";, 你好 ' + samples.HUMAN
    factories.checked(factories.owner(alice), text)
    read = table if format == "csv" else lines
    without = read(Caller(alice).get(f"/detections/export?format={format}"))[0]
    assert "text" not in without
    asked = read(Caller(alice).get(f"/detections/export?format={format}&include_text=true"))[0]
    assert asked["text"] == ("'" + text if format == "csv" else text)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("\nx", "'\nx"),
        ("＝1", "'＝1"),
        ("plain = text", "plain = text"),
        ("'=1", "'=1"),
        (-0.5, -0.5),
        (-3, -3),
        (0, 0),
        (True, "true"),
        (None, ""),
        ({}, ""),
        ({"a": "=1"}, '{"a": "=1"}'),
    ],
)
def test_a_text_is_no_formula_and_a_number_no_text(value: Any, shown: Any) -> None:
    assert exports.cell(value) == shown
    assert type(exports.cell(value)) is type(shown)


def test_names_of_files_and_metadata_are_texts_too(alice: User) -> None:
    submission = factories.checked(factories.owner(alice), samples.AI)
    Submission.objects.filter(pk=submission.pk).update(file_name="=HYPERLINK(1).txt", metadata={"essay": "=1"})
    row = table(Caller(alice).get("/detections/export"))[0]
    assert row["file_name"] == "'=HYPERLINK(1).txt"
    assert json.loads(row["metadata"]) == {"essay": "=1"}


def test_each_check_is_in_it_once_whatever_the_size_of_chunks(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    by = factories.owner(alice)
    for number in range(7):
        factories.accepted(by, f"{samples.SHORT} {number}", now=NOW + timedelta(minutes=number // 3))
    every = list(Submission.objects.order_by("-accepted_at", "id").values_list("pk", flat=True))
    for size in (1, 2, 3, 7, 8):
        monkeypatch.setattr(exports, "CHUNK_ROWS", size)
        assert [row["id"] for row in lines(Caller(alice).get("/detections/export?format=jsonl"))] == [*map(str, every)]
        assert [row["id"] for row in table(Caller(alice).get("/detections/export"))] == [*map(str, every)]


def test_it_is_read_in_chunks_as_it_is_taken(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    by = factories.owner(alice)
    for number in range(5):
        factories.accepted(by, f"{samples.SHORT} {number}", now=NOW + timedelta(minutes=number))
    monkeypatch.setattr(exports, "CHUNK_ROWS", 2)
    pieces = exports.chunks(history.of(by), exports.JSONL)
    with CaptureQueriesContext(connection) as asked:
        next(pieces)
        assert len(asked) == 1
        assert len(list(pieces)) == 2
        assert len(asked) == 3
    assert all('"text"' not in query["sql"] and '"segments"' not in query["sql"] for query in asked)


def test_it_can_be_searched_and_filtered(alice: User) -> None:
    by, caller = factories.owner(alice), Caller(alice)
    factories.checked(by, samples.AI)
    factories.accepted(by, samples.SHORT)
    batch = caller.post("/detections/batch", {"texts": [{"text": samples.HUMAN}]}).json()["id"]
    assert [row["verdict"] for row in table(caller.get("/detections/export?q=digital%20LANDSCAPE"))] == ["ai"]
    assert [row["verdict"] for row in table(caller.get("/detections/export?verdict=insufficient"))] == ["insufficient"]
    assert [row["batch"] for row in table(caller.get(f"/detections/export?batch={batch}"))] == [batch]
    assert table(caller.get("/detections/export?q=nowhere%00")) == []


@pytest.mark.parametrize(
    "query", ["format=xls", "include_text=1", "verdict=maybe", "batch=x", "text=true", "q=" + "x" * 201, "format="]
)
def test_nonsense_is_refused_by_name(alice: User, query: str) -> None:
    assert problem(Caller(alice).get(f"/detections/export?{query}")) == (400, "invalid")


def test_nobody_elses_checks_are_in_it(alice: User, charlie: User) -> None:
    factories.checked(factories.owner(alice), samples.AI)
    assert body(Caller(charlie).get("/detections/export?format=jsonl")) == ""
    assert table(Caller(charlie).get("/detections/export")) == []
    batch = Caller(alice).post("/detections/batch", {"texts": [{"text": samples.HUMAN}]}).json()["id"]
    assert table(Caller(charlie).get(f"/detections/export?batch={batch}")) == []


def test_it_takes_the_scope_for_reading_and_counts_as_a_request(alice: User) -> None:
    assert problem(Caller(alice, scopes=(Scope.CHECKS_WRITE,)).get("/detections/export")) == (403, "missing_scope")
    answer = Caller(alice).get("/detections/export")
    assert int(answer["X-RateLimit-Remaining"]) < int(answer["X-RateLimit-Limit"])


def test_a_test_key_exports_what_is_made_up(alice: User) -> None:
    factories.checked(factories.owner(alice), samples.AI)
    found = lines(Caller(alice, live=False).get("/detections/export?format=jsonl"))
    assert len(found) == len(fixtures.FIXTURES)
    assert not any(row["live"] for row in found)
    assert len(table(Caller(alice, live=False).get("/detections/export?include_text=true"))) == len(found)


def test_the_page_exports_what_it_shows(client_of: Callable[[User], Client], alice: User, charlie: User) -> None:
    by = factories.owner(alice)
    factories.checked(by, samples.AI)
    factories.accepted(by, samples.SHORT)
    browser = client_of(alice)
    answer = browser.get("/history/export", {"label": "ai", "format": "jsonl", "include_text": "true"})
    assert [row["text"] for row in lines(answer)] == [samples.AI]
    assert answer["Cache-Control"] == "no-store, private"
    assert len(table(browser.get("/history/export"))) == 2
    assert table(client_of(charlie).get("/history/export")) == table(Client().get("/history/export")) == []


def test_the_page_offers_what_is_searched_for(client_of: Callable[[User], Client], alice: User) -> None:
    browser = client_of(alice)
    assert "Download all checks" not in pages.words(browser.get("/history/"))
    factories.checked(factories.owner(alice), samples.AI)
    assert "Download all checks" in pages.words(browser.get("/history/"))
    page = browser.get("/history/", {"q": "landscape", "label": "ai"})
    assert "Download these checks" in pages.words(page)
    assert pages.form_fields(page, "/history/export") == {"q": "landscape", "label": "ai"}
    assert pages.broken_rules(page) == []


def test_a_visitor_was_charged_no_words(client: Client) -> None:
    visit = factories.visitor()
    factories.checked(visit, samples.AI)
    session = client.session
    session[VISITOR_SESSION_KEY] = str(visit.visitor)
    session.save()
    answer = client.get("/history/export", {"format": "jsonl"})
    assert [row["usage"]["words_charged"] for row in lines(answer)] == [0]


@pytest.mark.django_db(transaction=True)
def test_it_streams_from_the_event_loop_too(alice: User) -> None:
    factories.checked(factories.owner(alice), samples.AI)
    headers = Caller(alice).headers()

    async def taken() -> list[bytes]:
        answer = await AsyncClient().get("/api/v1/detections/export?format=jsonl", headers=headers)
        assert answer.is_async
        return [piece async for piece in answer.streaming_content]

    pieces = async_to_sync(taken)()
    assert [json.loads(piece)["verdict"] for piece in pieces] == ["ai"]

"""POST /detections/files: one batch of many files, each with its own verdict or its own problem."""

import json
from typing import Any

import file_builders as build
import pytest
import samples
from api_calls import V1, Caller, problem
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.utils import timezone
from factories import ScriptedBackend
from pytest_django import Settings

from billing.models import Meter, User
from detector import dispatch
from detector.api.files import MAX_BODY_BYTES
from detector.files.limits import MAX_FILES, MAX_TEXTS
from detector.models import Batch, Submission

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

PDF = ("ana.pdf", build.essay_pdf(samples.HUMAN))
DOCX = ("luis.docx", build.essay_docx(samples.AI))
SCAN = ("scan.pdf", build.pdf(b"q Q"))
CSV = ("class.csv", build.csv_of(samples.HUMAN, "", samples.SHORT))


@pytest.fixture
def caller(alice: User) -> Caller:
    return Caller(alice)


@pytest.fixture
def tester(alice: User) -> Caller:
    return Caller(alice, live=False)


def send(
    caller: Caller, *files: tuple[str, bytes], headers: dict[str, str] | None = None, **fields: Any
) -> HttpResponse:
    sent = [SimpleUploadedFile(name, data) for name, data in files]
    body = {"files": sent} if sent else {}
    return caller.client.post(f"{V1}/detections/files", body | fields, headers=caller.headers(**(headers or {})))


def taken(answer: HttpResponse) -> dict[str, Any]:
    assert answer.status_code == 202, answer.content
    found: dict[str, Any] = answer.json()
    return found


def work() -> None:
    while dispatch.next_batch(now=timezone.now(), backend=ScriptedBackend()):
        pass


def test_files_are_a_batch_of_checks(caller: Caller) -> None:
    answer = send(caller, PDF, DOCX, CSV, max_fpr="0.05", metadata='{"class": "3b"}')
    found = taken(answer)
    assert answer["Location"].endswith(f"/api/v1/batches/{found['id']}")
    assert [(file["name"], file["kind"], file["texts"]) for file in found["files"]] == [
        ("ana.pdf", "pdf", 1),
        ("luis.docx", "docx", 1),
        ("class.csv", "csv", 2),
    ]
    assert [(item["place"], item["file"], item["row"]) for item in found["items"]] == [
        (0, 0, None),
        (1, 1, None),
        (2, 2, 2),
        (3, 2, 4),
    ]
    assert [item["detection"]["file_name"] for item in found["items"]] == [
        "ana.pdf",
        "luis.docx",
        "class.csv #2",
        "class.csv #4",
    ]
    assert {(row.source, row.max_fpr, row.metadata["class"]) for row in Submission.objects.all()} == {
        ("api", "0.05", "3b")
    }


def test_the_batch_ends_with_its_verdicts(caller: Caller) -> None:
    made = taken(send(caller, PDF, DOCX))
    work()
    found = caller.get(f"/batches/{made['id']}").json()
    assert (found["status"], found["done"]) == ("finished", 2)
    assert [item["detection"]["file_name"] for item in found["items"]] == ["ana.pdf", "luis.docx"]


def test_each_file_fails_alone_and_by_name(caller: Caller) -> None:
    locked = ("locked.pdf", build.encrypted_pdf(samples.HUMAN))
    found = taken(send(caller, SCAN, PDF, locked, ("empty.txt", b"")))
    assert [file["problem"] and file["problem"]["code"] for file in found["files"]] == [
        "pdf_no_text",
        None,
        "file_encrypted",
        "file_empty",
    ]
    assert [item["problem"] and item["problem"]["code"] for item in found["items"]] == [
        "pdf_no_text",
        None,
        "file_encrypted",
        "file_empty",
    ]
    assert (found["texts"], found["refused"], found["in_flight"]) == (4, 3, 1)
    assert Submission.objects.get().file_name == "ana.pdf"


def test_each_row_fails_alone(caller: Caller) -> None:
    found = taken(send(caller, ("class.csv", build.csv_of(samples.HUMAN, "x" * 100_001, samples.AI))))
    assert [item["problem"] and item["problem"]["code"] for item in found["items"]] == [None, "too_long", None]


def test_hidden_text_and_a_guessed_encoding_are_named(caller: Caller) -> None:
    hidden = build.docx_of(build.run(samples.HUMAN) + build.run("secret", "<w:vanish/>"))
    macros = build.changed(hidden, {"word/vbaProject.bin": b"x"})
    found = taken(send(caller, ("a.docx", macros), ("b.txt", samples.SPANISH.encode("cp1252"))))
    assert (found["files"][0]["hidden"], found["files"][0]["notes"]) == ({"vanish": 6}, ["macros"])
    assert found["files"][1]["encoding"] == "cp1252"


def test_the_same_text_gets_the_same_verdict_as_by_itself(caller: Caller) -> None:
    taken(send(caller, ("a.txt", samples.HUMAN.encode())))
    work()
    again = caller.check(samples.HUMAN)
    assert again["cached"]
    assert again["usage"]["words_charged"] == 0


def test_words_are_reserved_text_by_text(caller: Caller, settings: Settings) -> None:
    settings.FREE_WORDS_PER_MONTH = len(samples.HUMAN.split()) + 10
    found = taken(send(caller, PDF, DOCX))
    assert [item["problem"] and item["problem"]["code"] for item in found["items"]] == [None, "words_used"]


def test_a_dry_run_says_the_price_and_stores_nothing(caller: Caller) -> None:
    answer = send(caller, PDF, SCAN, CSV, dry_run="true")
    found = answer.json()
    assert answer.status_code == 200
    assert [item["problem"] and item["problem"]["code"] for item in found["items"]] == [None, "pdf_no_text", None, None]
    assert found["words_to_charge"] == sum(item["quote"]["words_to_charge"] for item in found["items"] if item["quote"])
    assert not Submission.objects.exists()
    assert not Batch.objects.exists()
    assert not Meter.objects.exists()


def test_what_is_not_stored_has_no_name_either(caller: Caller) -> None:
    found = taken(send(caller, PDF, ("short.txt", samples.SHORT.encode()), store="false"))
    work()
    assert set(Submission.objects.values_list("text", "file_name")) == {("", "")}
    assert [file["name"] for file in found["files"]] == ["ana.pdf", "short.txt"]


# --- The same request again -------------------------------------------------------------------------------


def test_the_same_key_and_files_are_one_batch(caller: Caller) -> None:
    key = {"Idempotency-Key": "monday"}
    first, second = (send(caller, PDF, SCAN, headers=key) for _ in range(2))
    assert second["Idempotency-Replayed"] == "true"
    assert first.json()["files"] == second.json()["files"]
    assert [i["place"] for i in first.json()["items"]] == [i["place"] for i in second.json()["items"]] == [0, 1]
    assert (Batch.objects.count(), Submission.objects.count()) == (1, 1)


def test_the_same_key_with_another_file_is_refused(caller: Caller) -> None:
    key = {"Idempotency-Key": "monday"}
    send(caller, PDF, headers=key)
    assert problem(send(caller, DOCX, headers=key)) == (422, "idempotency_mismatch")


# --- Test keys ----------------------------------------------------------------------------------------------


def test_a_test_key_reads_files_and_stores_nothing(tester: Caller) -> None:
    named = ("a.txt", f"inkcloak-test:ai {samples.HUMAN}".encode())
    wrong = ("b.txt", f"inkcloak-test:words_used {samples.HUMAN}".encode())
    found = taken(send(tester, SCAN, named, wrong, CSV))
    assert not found["live"]
    assert [item["problem"] and item["problem"]["code"] for item in found["items"]] == [
        "pdf_no_text",
        None,
        "words_used",
        None,
        None,
    ]
    assert [item["file"] for item in found["items"]] == [0, 1, 2, 3, 3]
    assert found["items"][1]["detection"]["verdict"] == "ai"
    assert (found["texts"], found["refused"]) == (5, 2)
    assert not Submission.objects.exists()
    assert send(tester, SCAN, named, dry_run="true").json()["items"][0]["quote"] is None


# --- Bad requests -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "invalid"),
        ({"files": "a string"}, "invalid"),
        ({"surprise": "1", "files": SimpleUploadedFile("a.txt", b"x")}, "invalid"),
        ({"file": SimpleUploadedFile("a.txt", b"x")}, "invalid"),
        ({"files": SimpleUploadedFile("a.txt", b"x"), "store": "yes"}, "invalid"),
        ({"files": SimpleUploadedFile("a.txt", b"x"), "max_fpr": "NaN"}, "invalid"),
        ({"files": SimpleUploadedFile("a.txt", b"x"), "max_fpr": "one"}, "invalid"),
        ({"files": SimpleUploadedFile("a.txt", b"x"), "max_fpr": ["0.01", "0.05"]}, "invalid"),
        ({"files": SimpleUploadedFile("a.txt", b"x"), "metadata": "[1]"}, "not_an_object"),
        ({"files": SimpleUploadedFile("a.txt", b"x"), "metadata": '{"a": 1}'}, "invalid"),
        ({"files": SimpleUploadedFile("a.txt", b"x"), "model": "nobody"}, "unknown_model"),
        ({"files": SimpleUploadedFile("a.txt", b"x"), "api_key": "ink_live_x"}, "key_in_body"),
    ],
)
def test_a_wrong_form_is_refused_by_name(caller: Caller, fields: dict[str, Any], code: str) -> None:
    for value in fields.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    assert problem(send(caller, **fields)) == (400, code)
    assert not Batch.objects.exists()


def test_a_limit_that_was_not_measured_is_refused_text_by_text(caller: Caller) -> None:
    found = taken(send(caller, PDF, max_fpr="0.02"))
    assert found["items"][0]["problem"]["code"] == "unknown_max_fpr"


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (json.dumps({"files": []}), "application/json", (415, "unsupported_media_type")),
        ("files=x", "application/x-www-form-urlencoded", (415, "unsupported_media_type")),
        (b"", "", (400, "invalid")),
        (b"\x00", "multipart/form-data", (400, "bad_request")),
        (b"--x\r\nnonsense", "multipart/form-data; boundary=x", (400, "invalid")),
        (b"a" * (MAX_BODY_BYTES + 1), "multipart/form-data; boundary=x", (413, "too_large")),
    ],
)
def test_a_body_of_another_kind_is_refused(caller: Caller, body: Any, kind: str, expected: tuple[int, str]) -> None:
    assert problem(caller.send("/detections/files", body, kind)) == expected


def test_too_many_are_refused_with_their_limit(caller: Caller) -> None:
    many = [(f"{n}.txt", b"x") for n in range(MAX_FILES + 1)]
    assert problem(send(caller, *many)) == (400, "too_many_files")
    rows = ("class.csv", b"text\n" + b"x\n" * (MAX_TEXTS + 1))
    assert problem(send(caller, rows)) == (400, "too_many_texts")
    long = ("class.csv", b"text\n" + b"\n".join([b"x" * 90_000] * 60))
    assert problem(send(caller, long)) == (400, "too_long_together")
    assert not Batch.objects.exists()


def test_thousands_of_parts_are_refused(caller: Caller) -> None:
    status, _code = problem(send(caller, *[("a.txt", b"")] * 1_001))
    assert status == 400


def test_a_key_needs_its_scope(alice: User) -> None:
    assert problem(send(Caller(alice, scopes=("checks:read",)), PDF)) == (403, "missing_scope")


def test_nobody_elses_batch_is_found(caller: Caller, charlie: User) -> None:
    made = taken(send(caller, PDF))
    assert problem(Caller(charlie).get(f"/batches/{made['id']}")) == (404, "not_found")


def test_reasons_come_in_the_readers_language(caller: Caller) -> None:
    english, spanish = (taken(send(caller, SCAN, headers={"Accept-Language": tongue})) for tongue in ("en", "es"))
    details = [one["files"][0]["problem"]["detail"] for one in (english, spanish)]
    assert details[0] != details[1]
    assert {one["files"][0]["problem"]["code"] for one in (english, spanish)} == {"pdf_no_text"}


def test_a_text_of_a_file_can_be_read_deleted_and_run_again(caller: Caller) -> None:
    made = taken(send(caller, PDF))["items"][0]["detection"]
    work()
    assert caller.get(f"/detections/{made['id']}").json()["file_name"] == "ana.pdf"
    assert caller.post(f"/detections/{made['id']}/rerun").status_code == 202
    assert caller.delete(f"/detections/{made['id']}").status_code == 204

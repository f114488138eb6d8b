"""Whatever is sent: never a defect of ours, always a limit by its name, and nothing stored of what is refused."""

import json
from typing import Any

import pytest
import samples
from api_calls import Caller, problem
from django.db.models import Q
from pytest_django import Settings

from billing.models import Meter, User, WordEntry
from detector import intake
from detector.api import batches, files, serializers
from detector.models import Batch, Submission
from inkcloak import strict_json

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("champion")]

TEXT = samples.HUMAN


@pytest.fixture
def caller(alice: User) -> Caller:
    return Caller(alice)


def nothing_stored() -> bool:
    """Nor charged, nor held, nor written into the ledger."""
    used = Meter.objects.filter(Q(held__gt=0) | Q(used__gt=0))
    return not any(found.exists() for found in (Submission.objects, Batch.objects, WordEntry.objects, used))


REFUSED_TEXTS = {
    "nothing": ("", "empty"),
    "white space": (" \n\t\u00a0\u2003\u3000", "empty"),
    "over the limit": ("x" * (intake.MAX_CHARACTERS + 1), "too_long"),
    "over the limit in emoji": ("🙂" * (intake.MAX_CHARACTERS + 1), "too_long"),
    "over the limit in spaces": (" " * intake.MAX_CHARACTERS + "xy", "too_long"),
}
TAKEN_TEXTS = {
    "NUL": "\x00",
    "NUL inside": TEXT[:200] + "\x00" + TEXT[200:],
    "byte order mark": "\ufeff" + TEXT,
    "right to left": "\u202e" + TEXT + "\u202c",
    "Arabic": samples.ARABIC,
    "combining flood": "a" + "\u0301" * 5_000,
    "combining flood inside": TEXT.replace("e", "e" + "\u0301" * 20),
    "one word of the whole limit": "a" * intake.MAX_CHARACTERS,
    "emoji": samples.EMOJI,
    "invisible": "\u200b\u2060",
    "looks like a header": "\r\nX-Evil: 1\r\n\r\n" + TEXT,
    "looks like SQL": "'; DROP TABLE detector_submission; --",
}


@pytest.mark.parametrize(("text", "code"), REFUSED_TEXTS.values(), ids=REFUSED_TEXTS)
def test_it_refuses_a_text_that_is_none(caller: Caller, text: str, code: str) -> None:
    answer = caller.post("/detections", {"text": text})
    assert problem(answer) == (400, code)
    assert code == "empty" or str(intake.MAX_CHARACTERS) in answer.json()["detail"]
    assert nothing_stored()


@pytest.mark.parametrize("text", TAKEN_TEXTS.values(), ids=TAKEN_TEXTS)
def test_it_takes_an_odd_text_as_every_other_way_in_does(caller: Caller, text: str) -> None:
    answer = caller.post("/detections", {"text": text})
    assert answer.status_code in (201, 202)
    assert answer.json()["characters"] == len(text)


@pytest.mark.parametrize("text", ["\x00", "a" * intake.MAX_CHARACTERS, samples.EMOJI, "\u200b\u2060", samples.ARABIC])
def test_an_odd_text_without_a_verdict_costs_nothing(caller: Caller, text: str) -> None:
    found = caller.check(text)
    assert (found["status"], found["verdict"], found["usage"]["words_charged"]) == ("done", "insufficient", 0)
    assert caller.ledger() == [("abstained", 0)]
    assert not Meter.objects.filter(Q(held__gt=0) | Q(used__gt=0)).exists()


def test_it_takes_lone_surrogates(caller: Caller) -> None:
    body = json.dumps({"text": "\ud800" + TEXT + "\udfff"})  # as escapes: no UTF-8 carries them
    answer = caller.send("/detections", body)
    assert (answer.status_code, answer.json()["characters"]) == (202, len(TEXT) + 2)


BODIES: dict[str, tuple[bytes, tuple[int, str]]] = {
    "nothing": (b"", (400, "invalid")),
    "no JSON": (b"text=hello", (400, "malformed_json")),
    "half an object": (b'{"text": "a', (400, "malformed_json")),
    "an array": (b'[{"text": "a"}]', (400, "not_an_object")),
    "a string": (b'"text"', (400, "not_an_object")),
    "null": (b"null", (400, "not_an_object")),
    "a repeated name": (b'{"text": "a", "text": "b"}', (400, "duplicate_name")),
    "NaN": (b'{"text": "a", "max_fpr": NaN}', (400, "not_a_number")),
    "a number too large": (b'{"text": "a", "max_fpr": 1e999}', (400, "not_a_number")),
    "a number of 5,000 digits": (b'{"text": "a", "max_fpr": ' + b"1" * 5_000 + b"}", (400, "malformed_json")),
    "Latin-1": ('{"text": "año"}'.encode("latin-1"), (400, "bad_encoding")),
    "deep": (b'{"text": ' + b"[" * 40 + b"]" * 40 + b"}", (400, "too_deep")),
    "a byte order mark alone": (b"\xef\xbb\xbf", (400, "malformed_json")),
    "UTF-16": ('{"text": "a"}'.encode("utf-16"), (400, "bad_encoding")),
    "very deep": (b'{"text": ' + b"[" * 200_000, (400, "too_deep")),
    "three megabytes": (b'{"text": "' + b"a" * 3_000_000 + b'"}', (413, "too_large")),
    "a key in it": (b'{"text": "a", "api_key": "ink_live_x"}', (400, "key_in_body")),
}


LIMITS = {"too_deep": str(strict_json.MAX_DEPTH), "too_large": str(strict_json.MAX_BODY_BYTES)}


@pytest.mark.parametrize(("body", "expected"), BODIES.values(), ids=BODIES)
def test_it_refuses_a_body_that_is_none(caller: Caller, body: bytes, expected: tuple[int, str]) -> None:
    for path in ("/detections", "/detections/batch"):
        if path.endswith("batch") and expected[0] == 413:
            continue  # it takes more
        answer = caller.send(path, body)
        assert problem(answer) == expected
        assert LIMITS.get(expected[1], "") in answer.json()["detail"]
    assert nothing_stored()


@pytest.mark.parametrize(
    ("path", "kind", "limit"),
    [
        ("/detections", "application/json", strict_json.MAX_BODY_BYTES),
        ("/detections/batch", "application/json", batches.MAX_BODY_BYTES),
        ("/detections/files", "multipart/form-data; boundary=x", files.MAX_BODY_BYTES),
    ],
)
def test_a_hundred_megabytes_are_refused_with_the_limit(caller: Caller, path: str, kind: str, limit: int) -> None:
    answer = caller.send(path, b'{"text": "' + b"a" * 100_000_000 + b'"}', kind)
    assert problem(answer) == (413, "too_large")
    assert str(limit) in answer.json()["detail"]
    assert nothing_stored()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "x"])
def test_it_takes_json_only(caller: Caller, kind: str) -> None:
    assert problem(caller.send("/detections", b'{"text": "a"}', kind)) == (415, "unsupported_media_type")
    assert nothing_stored()


FIELDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "no text": ({"text": ...}, "/text", "required"),
    "null for a text": ({"text": None}, "/text", "null"),
    "a number for a text": ({"text": 17}, "/text", "invalid"),
    "true for a text": ({"text": True}, "/text", "invalid"),
    "an array for a text": ({"text": [TEXT]}, "/text", "invalid"),
    "an object for a text": ({"text": {"text": TEXT}}, "/text", "invalid"),
    "an unknown field": ({"txt": TEXT}, "/txt", "unknown_field"),
    "an unknown field with slashes": ({"a/b~c": 1}, "/a~1b~0c", "unknown_field"),
    "a limit as a string": ({"max_fpr": "0.01"}, "/max_fpr", "invalid"),
    "true for a limit": ({"max_fpr": True}, "/max_fpr", "invalid"),
    "a limit of nought": ({"max_fpr": 0}, "/max_fpr", "range"),
    "a limit above one": ({"max_fpr": 5}, "/max_fpr", "range"),
    "a negative limit": ({"max_fpr": -0.01}, "/max_fpr", "range"),
    "an array for a limit": ({"max_fpr": [0.01]}, "/max_fpr", "invalid"),
    "a string for a flag": ({"store": "false"}, "/store", "invalid"),
    "a number for a flag": ({"dry_run": 1}, "/dry_run", "invalid"),
    "an array for a flag": ({"store": []}, "/store", "invalid"),
    "a language in words": ({"language": "English"}, "/language", "pattern"),
    "a language in capitals": ({"language": "EN"}, "/language", "pattern"),
    "an empty language": ({"language": ""}, "/language", "pattern"),
    "a number for a language": ({"language": 1}, "/language", "invalid"),
    "a model with a slash": ({"model": "../../etc/passwd"}, "/model", "pattern"),
    "a model with a NUL": ({"model": "a\x00"}, "/model", "pattern"),
    "an endless model": ({"model": "a" * 1_000}, "/model", "pattern"),
    "an array for metadata": ({"metadata": ["a"]}, "/metadata", "invalid"),
    "a string for metadata": ({"metadata": "a"}, "/metadata", "invalid"),
    "numbers in metadata": ({"metadata": {"a": 1}}, "/metadata", "invalid"),
    "objects in metadata": ({"metadata": {"a": {"b": "c"}}}, "/metadata", "invalid"),
    "21 names in metadata": ({"metadata": {str(n): "" for n in range(21)}}, "/metadata", "names"),
    "a long name in metadata": ({"metadata": {"a" * 41: ""}}, "/metadata", "names"),
    "an empty name in metadata": ({"metadata": {"": ""}}, "/metadata", "names"),
    "too much metadata": ({"metadata": {"a": "b" * 2_048}}, "/metadata", "too_long"),
    "too much metadata in emoji": ({"metadata": {"a": "🙂" * 600}}, "/metadata", "too_long"),
    "NUL in metadata": ({"metadata": {"a": "\x00"}}, "/metadata", "characters"),
    "a surrogate in metadata": ({"metadata": {"\ud800": "a"}}, "/metadata", "characters"),
}


NAMED = {"names": "20", "too_long": "2048", "range": "between 0 and 1"}


@pytest.mark.parametrize(("change", "pointer", "code"), FIELDS.values(), ids=FIELDS)
def test_it_names_the_field_at_fault(caller: Caller, change: dict[str, Any], pointer: str, code: str) -> None:
    body = {name: value for name, value in ({"text": TEXT} | change).items() if value is not ...}
    answer = caller.post("/detections", body)
    assert problem(answer) == (400, "invalid")
    (fault,) = answer.json()["errors"]
    assert (fault["pointer"], fault["code"]) == (pointer, code)
    assert NAMED.get(code, "") in fault["detail"]
    assert fault["detail"]
    assert nothing_stored()


def test_it_names_all_fields_at_fault(caller: Caller) -> None:
    answer = caller.post("/detections", {"text": 1, "store": 1, "max_fpr": "x"})
    assert {fault["pointer"] for fault in answer.json()["errors"]} == {"/text", "/store", "/max_fpr"}


def test_it_never_quotes_a_text(caller: Caller) -> None:
    for body in ({"text": ["a marmalade zeppelin"]}, {"text": "", "metadata": "a marmalade zeppelin"}):
        assert "zeppelin" not in caller.post("/detections", body).content.decode()


def test_metadata_at_its_limits_is_taken(caller: Caller) -> None:
    metadata = {f"{n:040}": "ñ" * 25 for n in range(serializers.MAX_METADATA_NAMES)}
    assert caller.check(TEXT, metadata=metadata)["metadata"] == metadata


@pytest.mark.parametrize("model", ["nobody-made-this", "champion", "test-version-2"])
def test_it_refuses_a_model_that_is_none(caller: Caller, model: str) -> None:
    assert problem(caller.post("/detections", {"text": TEXT, "model": model})) == (400, "unknown_model")


IDS = [
    "1",
    "x" * 300,
    "00000000-0000-0000-0000-000000000000",
    "%00",
    "..%2f..",
    "🙂",
    "{id}",
    "f1c70000-0000-8000-8000",
]


@pytest.mark.parametrize("written", IDS)
def test_an_id_that_is_none_names_nothing(caller: Caller, written: str) -> None:
    answers = [caller.get(f"/detections/{written}"), caller.delete(f"/detections/{written}")]
    answers += [caller.post(f"/detections/{written}/rerun"), caller.get(f"/batches/{written}")]
    assert [problem(answer) for answer in answers] == [(404, "not_found")] * 4


QUERIES = {
    "a cursor of noise": ("cursor=noise", 400, "bad_cursor"),
    "a long cursor": (f"cursor={'a' * 5_000}", 400, "bad_cursor"),
    "somebody's idea of a cursor": ("cursor=WyIyMDI2IiwgIngiXQ", 400, "bad_cursor"),
    "a cursor with a NUL": ("cursor=%00", 400, "bad_cursor"),
    "no limit": ("limit=0", 400, "bad_limit"),
    "a negative limit": ("limit=-1", 400, "bad_limit"),
    "too high a limit": ("limit=101", 400, "bad_limit"),
    "a limit in words": ("limit=ten", 400, "bad_limit"),
    "a limit in other digits": ("limit=%D9%A3", 400, "bad_limit"),
    "a batch that is none": ("batch=7", 400, "bad_id"),
    "a batch of nothing": ("batch=", 400, "bad_id"),
}


@pytest.mark.parametrize(("query", "status", "code"), QUERIES.values(), ids=QUERIES)
def test_it_refuses_a_list_that_is_none(caller: Caller, query: str, status: int, code: str) -> None:
    answer = caller.get(f"/detections?{query}")
    assert problem(answer) == (status, code)
    assert code != "bad_limit" or "100" in answer.json()["detail"]


@pytest.mark.parametrize(
    "prefer", ["", "wait", "wait=", "wait=-1", "wait=abc", "respond-async", "wait=9" * 500, "\x7f"]
)
def test_a_preference_that_makes_no_sense_is_none(caller: Caller, prefer: str) -> None:
    assert caller.post("/detections", {"text": samples.SHORT}, prefer=prefer).status_code == 201


@pytest.mark.parametrize("key", ["", "a" * 256, "a b", "ñ"])
def test_it_refuses_an_idempotency_key_that_is_none(caller: Caller, key: str) -> None:
    answer = caller.post("/detections", {"text": TEXT}, **{"Idempotency-Key": key})
    assert problem(answer) == (400, "bad_idempotency_key")
    assert nothing_stored()


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_it_refuses_a_method_that_an_address_does_not_take(caller: Caller, method: str) -> None:
    answer = getattr(caller.client, method)("/api/v1/detections", headers=caller.headers())
    assert problem(answer) == (405, "method_not_allowed")
    assert "POST" in answer["Allow"]


def test_errors_speak_the_readers_language_and_codes_do_not(caller: Caller, settings: Settings) -> None:
    said = {
        language: caller.post("/detections", {"text": ""}, **{"Accept-Language": language}).json()
        for language in ("en", "es")
    }
    assert said["en"]["code"] == said["es"]["code"] == "empty"
    assert said["en"]["detail"] != said["es"]["detail"]

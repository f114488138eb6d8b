"""JSON has one meaning or is refused by name; nothing of it is quoted."""

import json
from io import BytesIO
from types import SimpleNamespace

import pytest

from inkcloak.errors import Invalid
from inkcloak.strict_json import MAX_BODY_BYTES, MAX_DEPTH, SafeJSONRenderer, StrictJSONParser, loads


def nested(depth: int) -> bytes:
    """An object with `depth` levels, the outermost counted."""
    return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed_json"),
        (b"   ", "malformed_json"),
        (b"{", "malformed_json"),
        (b"{'text': 1}", "malformed_json"),
        (b'{"text": "a\nb"}', "malformed_json"),
        (b'{"a": 1} {"a": 2}', "malformed_json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "malformed_json"),
        (b'{"text": "\xff"}', "bad_encoding"),
        ('{"text": "x"}'.encode("utf-16"), "bad_encoding"),
        (b"[]", "not_an_object"),
        (b'"text"', "not_an_object"),
        (b"null", "not_an_object"),
        (b"17", "not_an_object"),
        (b'{"text": 1, "text": 2}', "duplicate_name"),
        (b'{"a": {"b": 1, "b": 1}}', "duplicate_name"),
        (b'{"a": NaN}', "not_a_number"),
        (b'{"a": -Infinity}', "not_a_number"),
        (b'{"a": 1e999}', "not_a_number"),
        (nested(MAX_DEPTH + 1), "too_deep"),
        (b'{"a":' + b"[" * 100_000, "too_deep"),
        (b'{"api_key": "ink_live_x", "text": "x"}', "key_in_body"),
        (b'{"Authorization": "Bearer x"}', "key_in_body"),
    ],
)
def test_it_names_what_is_wrong(body: bytes, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        loads(body)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"text": "x"}', {"text": "x"}),
        (b'\xef\xbb\xbf{"text": "x"}', {"text": "x"}),
        (b'{"text": "ink_live_ is how a key begins"}', {"text": "ink_live_ is how a key begins"}),
        (b'{"text": "a\\u0000b\\ud800"}', {"text": "a\x00b\ud800"}),
        (b'{"max_fpr": 0.01, "n": 1e3}', {"max_fpr": 0.01, "n": 1000.0}),
    ],
)
def test_it_reads_what_has_one_meaning(body: bytes, value: dict) -> None:
    assert loads(body) == value


def test_the_deepest_body_that_may_be_is_read() -> None:
    assert loads(nested(MAX_DEPTH))["a"]


def test_a_fault_is_named_without_its_text() -> None:
    with pytest.raises(Invalid) as refused:
        loads(b'{"text": "a secret of mine" oops}')
    assert str(refused.value.message) == "The body is not valid JSON (line:column 1:29)."


def parse(content: bytes, announced: int | None = None, limit: int | None = None) -> dict:
    length = len(content) if announced is None else announced
    request = SimpleNamespace(META={"CONTENT_LENGTH": str(length)})
    view = SimpleNamespace() if limit is None else SimpleNamespace(max_body_bytes=limit)
    return StrictJSONParser().parse(BytesIO(content), "application/json", {"view": view, "request": request})


@pytest.mark.parametrize("announced", [None, 0, -5])
def test_it_reads_no_more_than_the_limit(announced: int | None) -> None:
    with pytest.raises(Invalid) as refused:
        parse(b'{"text": "' + b"x" * MAX_BODY_BYTES + b'"}', announced)
    assert refused.value.code == "too_large"
    assert str(MAX_BODY_BYTES) in str(refused.value.message)


def test_it_refuses_by_the_announced_length_before_it_reads() -> None:
    with pytest.raises(Invalid) as refused:
        parse(b"", announced=100_000_000)
    assert refused.value.code == "too_large"


def test_a_view_may_have_its_own_limit() -> None:
    body = b'{"text": "' + b"x" * 50 + b'"}'
    assert parse(body, limit=len(body))
    with pytest.raises(Invalid):
        parse(body, limit=len(body) - 1)


@pytest.mark.parametrize("text", ["ñandú", "\ud800", "\u2028"])
def test_any_text_can_be_answered(text: str) -> None:
    assert json.loads(SafeJSONRenderer().render({"text": text})) == {"text": text}

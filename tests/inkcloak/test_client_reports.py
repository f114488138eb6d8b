"""Signed reports: what was signed is believed, what was changed is not, and any language writes the same bytes."""

import json
import struct
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from inkcloak.client import reports
from inkcloak.client.reports import PublicKey, ReportError, canonical, read_json, read_keys, sign, verify

# RFC 8032, section 7.1, test 1.
SEED = reports.encode(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
OTHER = reports.new_seed()
ISSUED = datetime(2026, 6, 15, 12, tzinfo=UTC)
REPORT: dict[str, Any] = {
    "issued_at": ISSUED.isoformat(),
    "verdict": "ai",
    "probability": 0.9812,
    "ai_fraction": 1.0,
    "max_fpr": 1e-7,
    "segments": [{"start": 0, "end": 12, "label": "ai"}],
    "title": 'Ñandú «🙂» \u2028"\\\x1f',
    "reason": None,
    "degraded": False,
}


def key(**limits: Any) -> PublicKey:
    return reports.public_key(SEED, **limits)


def refusal(document: Any, *keys: PublicKey) -> str:
    with pytest.raises(ReportError) as refused:
        verify(document, keys or (key(),))
    return refused.value.code


def test_what_was_signed_is_believed() -> None:
    signed = sign(REPORT, SEED)
    assert signed["signature"]["alg"] == "Ed25519"
    assert signed["signature"]["key_id"] == key().key_id
    assert key().key == PUBLIC
    for document in (signed, json.dumps(signed), json.dumps(signed, indent=4, ensure_ascii=False).encode()):
        assert verify(document, [reports.public_key(OTHER), key()]) == REPORT


def test_order_spaces_and_spelling_of_numbers_do_not_matter() -> None:
    """Another language reads and writes the file: it has the same values, not the same bytes."""
    signed = sign(REPORT, SEED)
    turned = {"signature": signed["signature"], "report": dict(reversed(signed["report"].items()))}
    assert verify(json.dumps(turned).replace("1.0,", "1,"), [key()]) == REPORT


@pytest.mark.parametrize(
    ("name", "value"), [("probability", 0.0188), ("verdict", "human"), ("reason", ""), ("degraded", None), ("new", 1)]
)
def test_a_changed_report_is_not_believed(name: str, value: Any) -> None:
    signed = sign(REPORT, SEED)
    signed["report"][name] = value
    assert refusal(signed) == "bad_signature"


def test_a_changed_segment_is_not_believed() -> None:
    signed = deepcopy(sign(REPORT, SEED))
    signed["report"]["segments"][0]["end"] = 13
    assert refusal(signed) == "bad_signature"


def test_another_key_under_the_same_name_is_not_believed() -> None:
    assert refusal(sign(REPORT, OTHER, key_id=key().key_id)) == "bad_signature"
    assert refusal(sign(REPORT, OTHER)) == "unknown_key"


@pytest.mark.parametrize("value", ["", "AAAA", "!", "ä", sign({}, SEED)["signature"]["value"]])
def test_a_signature_that_is_none_or_another_reports(value: str) -> None:
    signed = sign(REPORT, SEED)
    signed["signature"]["value"] = value
    assert refusal(signed) == "bad_signature"


def test_a_key_counts_for_reports_of_its_time() -> None:
    day = timedelta(days=1)
    signed = sign(REPORT, SEED)
    for limits in (
        {"valid_from": ISSUED},
        {"valid_until": ISSUED},
        {"valid_from": ISSUED - day, "valid_until": ISSUED + day},
    ):
        assert verify(signed, [key(**limits)]) == REPORT
    for limits in ({"valid_from": ISSUED + day}, {"valid_until": ISSUED - day}):
        assert refusal(signed, key(**limits)) == "key_not_valid_then"
    undated = sign({"verdict": "ai"}, SEED)
    assert verify(undated, [key()]) == {"verdict": "ai"}
    assert refusal(undated, key(valid_until=ISSUED)) == "key_not_valid_then"
    assert refusal(sign({"issued_at": "soon"}, SEED)) == "not_a_report"


def test_what_is_beside_the_report_was_not_signed_and_is_refused() -> None:
    assert refusal(sign(REPORT, SEED) | {"note": "the author is guilty"}) == "not_a_report"
    signed = sign(REPORT, SEED)
    signed["signature"]["by"] = "InkCloak"
    assert refusal(signed) == "not_a_report"


@pytest.mark.parametrize("algorithm", ["none", "HS256", "ed25519", ""])
def test_the_file_does_not_choose_how_it_is_checked(algorithm: str) -> None:
    signed = sign(REPORT, SEED)
    signed["signature"]["alg"] = algorithm
    assert refusal(signed) == "unknown_algorithm"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "bad_json"),
        (b"\xff", "bad_json"),
        (b"[1]", "bad_json"),
        (b"[" * 100_000, "bad_json"),
        (b'{"report": {"p": NaN}, "signature": {}}', "bad_json"),
        (b'{"report": {"verdict": "human", "verdict": "ai"}, "signature": {}}', "bad_json"),
        (b" " * (reports.MAX_BYTES + 1), "bad_json"),
        (b"{}", "not_a_report"),
        (b'{"report": [], "signature": {}}', "not_a_report"),
        (b'{"report": {}, "signature": {"alg": "Ed25519", "key_id": 1, "value": ""}}', "not_a_report"),
    ],
)
def test_it_refuses_nonsense(content: bytes, code: str) -> None:
    assert refusal(content) == code


def test_published_keys_are_read_back() -> None:
    made = key(valid_from=ISSUED)
    published = {"keys": [made.as_json(), {"alg": "ES256", "key_id": "x"}]}
    assert published["keys"][0]["public_key"] == reports.encode(PUBLIC)
    assert read_keys(json.dumps(published)) == (made,)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b'{"keys": 1}',
        b'{"keys": [1]}',
        b'{"keys": [{"alg": "Ed25519", "key_id": "a", "public_key": "AA"}]}',
    ],
)
def test_it_refuses_a_list_of_keys_that_is_none(content: bytes) -> None:
    with pytest.raises(ReportError) as refused:
        read_keys(content)
    assert refused.value.code == "bad_keys"


@pytest.mark.parametrize("seed", ["", "AAAA", "ä", SEED + "AAAA"])
def test_a_private_key_that_is_none_is_not_repeated(seed: str) -> None:
    with pytest.raises(ValueError, match="32 bytes") as refused:
        sign({}, seed)
    assert not seed or seed not in str(refused.value)


# --- RFC 8785 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "written"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555557", "333333333.33333343"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_numbers_are_written_as_in_the_standards_appendix(bits: str, written: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(value).decode() == written


def test_names_have_the_order_of_the_standards_example() -> None:
    names = ["€", "\r", "\ufb33", "1", "\U0001f600", "\x80", "ö"]
    written = canonical(dict.fromkeys(names, True)).decode()
    assert list(read_json(written)) == ["\r", "1", "\x80", "ö", "€", "\U0001f600", "\ufb33"]


def test_strings_have_as_few_escapes_as_there_can_be() -> None:
    assert canonical('€$\x0f\nA\'B"\\\\"/\x7f').decode() == '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/\x7f"'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, "\ud800", {1: 2}, object(), [object()]])
def test_what_other_languages_could_not_read_is_not_signed(value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of several kinds
        canonical(value)

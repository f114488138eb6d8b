"""Signed reports: made by the service, checked by anybody, offline.

    {"report": {…}, "signature": {"alg": "Ed25519", "key_id": "…", "value": "<base64url>"}}

The signature is over `canonical(report)`: the JSON of RFC 8785, so that any language writes the same bytes. Public keys
are at `/.well-known/inkcloak-keys.json`:

    {"keys": [{"key_id": "…", "alg": "Ed25519", "public_key": "<base64url of 32 bytes>",
               "valid_from": "…", "valid_until": null}]}

A report says when it was made in `issued_at` (RFC 3339); a key counts for reports of its own time. A good signature
means that the holder of the key made this report: not that its verdict is right, nor who wrote the text.
"""

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ALGORITHM = "Ed25519"
KEYS_PATH = "/.well-known/inkcloak-keys.json"
SEED_BYTES = 32
MAX_BYTES = 4 * 1024 * 1024  # of a report's file
MAX_SAFE_INTEGER = 2**53 - 1  # RFC 8785: what every language reads as the same number
LARGEST_PLAIN, SMALLEST_PLAIN = 1e21, 1e-6  # beyond these ECMAScript writes exponents


class ReportError(Exception):
    """This report must not be believed.

    code: bad_json, not_a_report, unknown_algorithm, unknown_key, key_not_valid_then, bad_signature; bad_keys for a file
    of keys that is none.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that reports may be signed with. valid_from, valid_until: of the reports' `issued_at`; None is no limit."""

    key_id: str
    key: bytes
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    def counts_at(self, issued_at: datetime | None) -> bool:
        """Whether it may have signed a report of that moment. Without one, only a key without limits may."""
        if issued_at is None:
            return self.valid_from is None and self.valid_until is None
        late_enough = self.valid_from is None or issued_at >= self.valid_from
        return late_enough and (self.valid_until is None or issued_at <= self.valid_until)

    def as_json(self) -> dict[str, Any]:
        """As `/.well-known/inkcloak-keys.json` lists it."""
        return {
            "key_id": self.key_id,
            "alg": ALGORITHM,
            "public_key": encode(self.key),
            "valid_from": _written(self.valid_from),
            "valid_until": _written(self.valid_until),
        }


# --- Signing ------------------------------------------------------------------------------------------------


def new_seed() -> str:
    """A new private key: its 32 bytes in base64url, to be kept secret."""
    return encode(Ed25519PrivateKey.generate().private_bytes_raw())


def private_key(seed: str) -> Ed25519PrivateKey:
    """Raises ValueError for what is no seed, without saying what it was."""
    try:
        raw = decode(seed)
    except ValueError:
        raw = b""
    if len(raw) != SEED_BYTES:
        raise ValueError("a signing key is 32 bytes in base64url")
    return Ed25519PrivateKey.from_private_bytes(raw)


def public_key(
    seed: str, *, valid_from: datetime | None = None, valid_until: datetime | None = None, key_id: str = ""
) -> PublicKey:
    """What to publish for a private key. key_id: made of the public key unless given."""
    raw = private_key(seed).public_key().public_bytes_raw()
    return PublicKey(key_id or key_id_of(raw), raw, valid_from, valid_until)


def key_id_of(raw: bytes) -> str:
    """A short name of a public key that two keys don't share."""
    return encode(hashlib.sha256(raw).digest())[:16]


def sign(report: Mapping[str, Any], seed: str, *, key_id: str = "") -> dict[str, Any]:
    """The report with its signature. Raises ValueError for what has no canonical form: see `canonical`."""
    key = private_key(seed)
    value = encode(key.sign(canonical(report)))
    named = key_id or key_id_of(key.public_key().public_bytes_raw())
    return {"report": dict(report), "signature": {"alg": ALGORITHM, "key_id": named, "value": value}}


# --- Checking -----------------------------------------------------------------------------------------------


def verify(document: bytes | str | Mapping[str, Any], keys: Iterable[PublicKey]) -> dict[str, Any]:
    """The report inside, once its signature is that of one of the keys. document: the file, or what was read of it.

    Raises ReportError. Only what this returns was signed: whatever else the file holds is refused.
    """
    report, signature = _parts(document if isinstance(document, Mapping) else read_json(document))
    if signature["alg"] != ALGORITHM:
        raise ReportError("unknown_algorithm", "the signature is of a kind that this client does not know")
    named = [key for key in keys if key.key_id == signature["key_id"]]
    if not named:
        raise ReportError("unknown_key", "the report names a key that is not among those known here")
    issued_at = _issued_at(report)
    current = [key for key in named if key.counts_at(issued_at)]
    if not current:
        raise ReportError("key_not_valid_then", "the key did not sign reports at the time that this one says")
    if not any(_is_signed(report, signature["value"], key) for key in current):
        raise ReportError("bad_signature", "the report was changed, or was not made by the holder of the key")
    return report


def key_id_in(document: Mapping[str, Any]) -> str:
    """Which key a report says it was signed with. Raises ReportError (not_a_report)."""
    return str(_parts(document)[1]["key_id"])


def read_json(content: bytes | str) -> dict[str, Any]:
    """Strict: a name that appears twice could be shown as one value and checked as another. Raises ReportError."""
    if len(content) > MAX_BYTES:
        raise ReportError("bad_json", f"the file has more than {MAX_BYTES} bytes")
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ReportError("bad_json", "the file is not JSON, or says a name twice") from None
    if not isinstance(found, dict):
        raise ReportError("bad_json", "the file is JSON, but no object")
    return found


def read_keys(content: bytes | str | Mapping[str, Any]) -> tuple[PublicKey, ...]:
    """The keys of a `inkcloak-keys.json`; those of other algorithms are passed over. Raises ReportError (bad_keys)."""
    try:
        found = content if isinstance(content, Mapping) else read_json(content)
        return tuple(_key(entry) for entry in found["keys"] if entry["alg"] == ALGORITHM)
    except (ReportError, KeyError, TypeError, ValueError, AttributeError):
        raise ReportError("bad_keys", "this is no list of keys as the service publishes it") from None


def _key(entry: Mapping[str, Any]) -> PublicKey:
    raw = decode(entry["public_key"])
    Ed25519PublicKey.from_public_bytes(raw)
    return PublicKey(str(entry["key_id"]), raw, _moment(entry.get("valid_from")), _moment(entry.get("valid_until")))


def _parts(document: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    report, signature = document.get("report"), document.get("signature")
    names = ("alg", "key_id", "value")
    if (
        set(document) != {"report", "signature"}
        or not isinstance(report, dict)
        or not isinstance(signature, dict)
        or set(signature) != set(names)
        or not all(isinstance(signature[name], str) for name in names)
    ):
        raise ReportError("not_a_report", "the file is JSON, but no signed report")
    return report, signature


def _issued_at(report: Mapping[str, Any]) -> datetime | None:
    try:
        return _moment(report.get("issued_at"))
    except (TypeError, ValueError):
        raise ReportError("not_a_report", "issued_at is no moment") from None


def _is_signed(report: Mapping[str, Any], value: str, key: PublicKey) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key.key).verify(decode(value), canonical(report))
    except (InvalidSignature, ValueError, RecursionError):
        return False
    return True


# --- Canonical JSON (RFC 8785) -------------------------------------------------------------------------------


def canonical(value: Any) -> bytes:
    """UTF-8, names in the order of their UTF-16 units, no spaces, numbers as ECMAScript writes them.

    Raises ValueError for NaN, infinities, whole numbers beyond 2^53, lone surrogates, and what JSON doesn't have.
    """
    return _text(value).encode()


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        if abs(value) > MAX_SAFE_INTEGER:
            raise ValueError("a number is too large to be the same in every language")
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("names must be strings")
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{_text(name)}:{_text(value[name])}" for name in names) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(map(_text, value)) + "]"
    raise ValueError(f"{type(value).__name__} has no JSON")


def _number(value: float) -> str:
    """Python finds the same shortest digits as ECMAScript; only where it puts the point differs."""
    if not math.isfinite(value):
        raise ValueError("JSON has neither NaN nor infinity")
    if value == 0:
        return "0"  # also for -0
    sign, digits, exponent = _digits(value)
    point = len(digits) + exponent  # digits before the decimal point
    size = abs(value)
    if SMALLEST_PLAIN <= size < LARGEST_PLAIN:
        if exponent >= 0:
            return sign + digits + "0" * exponent
        return sign + (f"{digits[:point]}.{digits[point:]}" if point > 0 else f"0.{'0' * -point}{digits}")
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{sign}{mantissa}e{point - 1:+d}"


def _digits(value: float) -> tuple[str, str, int]:
    """sign, digits and exponent: value = sign digits * 10^exponent, without zeros at either end of the digits."""
    mantissa, _e, exponent = repr(abs(value)).partition("e")
    whole, _point, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    power = int(exponent or 0) - len(fraction)
    stripped = digits.rstrip("0")
    return "-" if value < 0 else "", stripped, power + len(digits) - len(stripped)


# --- Small things --------------------------------------------------------------------------------------------


def encode(raw: bytes) -> str:
    """base64url without padding."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def decode(written: str) -> bytes:
    """Raises ValueError for what is no base64url."""
    if not isinstance(written, str) or not written.isascii():
        raise ValueError("no base64url")
    try:
        return base64.b64decode(written + "=" * (-len(written) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError("no base64url") from None


def _moment(written: str | None) -> datetime | None:
    if written is None:
        return None
    found = datetime.fromisoformat(written)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name appears twice")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(name)

"""Is this webhook from InkCloak, whole, and new? For receivers; and the same formula for the sender.

    from inkcloak.client.webhooks import WebhookError, verify

    try:
        event = verify(request.body, request.headers, "whsec_…")
    except WebhookError as error:
        return 400  # error.code says why; "replayed" deserves a 2xx, since you have it already

The signature is Standard Webhooks' (https://www.standardwebhooks.com): HMAC-SHA256 over `id.timestamp.body`, written
`v1,<base64>`, one for each secret in force. Standard library only.
"""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

TOLERANCE_SECONDS = 300
PREFIX = "whsec_"
VERSION = "v1"
ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
MAX_TIMESTAMP_DIGITS = 12


class WebhookError(Exception):
    """This message must not be believed.

    code: missing_header, bad_timestamp, too_old, too_new, bad_signature, replayed, bad_payload.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def verify(
    payload: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: float = TOLERANCE_SECONDS,
    seen: Callable[[str], bool] | None = None,
    now: float | None = None,
) -> dict[str, Any]:
    """The event, `{"type", "timestamp", "data"}`, of a message that deserves belief.

    payload: the body as it came; parsed and written again it would have other bytes.
    headers: names in any case.
    secrets: one, or several while they are being rotated: any of them will do.
    tolerance: seconds that the sender's clock and the way here may take.
    seen: remembers an id for at least twice `tolerance`, and says whether it knew it before. A message that we send
        again because your answer was lost has the same id, so this also does each thing once.
    now: seconds since 1970; the clock's unless given.

    Raises WebhookError; ValueError for a secret that is none.
    """
    keys = [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("no secret to verify with")
    body = payload.encode() if isinstance(payload, str) else payload
    message_id, timestamp, signatures = _read(headers)
    _check_time(timestamp, time.time() if now is None else now, tolerance)
    if not _is_signed(signatures, [_digest(key, message_id, timestamp, body) for key in keys]):
        raise WebhookError("bad_signature")
    event = _parse(body)
    if seen is not None and seen(message_id):
        raise WebhookError("replayed")
    return event


def sign(secrets: str | Sequence[str], message_id: str, timestamp: int, payload: bytes) -> dict[str, str]:
    """The three headers of a message, signed with each of the secrets. Raises ValueError for one that is none."""
    keys = [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    digests = [_digest(key, message_id, str(timestamp), payload) for key in keys]
    written = [f"{VERSION},{base64.b64encode(digest).decode()}" for digest in digests]
    return {ID: message_id, TIMESTAMP: str(timestamp), SIGNATURE: " ".join(written)}


def _key(secret: str) -> bytes:
    encoded = secret.strip().removeprefix(PREFIX)
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise ValueError("a webhook secret is whsec_ and base64")
    return key


def _read(headers: Mapping[str, str]) -> tuple[str, str, str]:
    found = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (found.get(name, "") for name in (ID, TIMESTAMP, SIGNATURE))
    if not (message_id and timestamp and signatures):
        raise WebhookError("missing_header")
    return message_id, timestamp, signatures


def _check_time(timestamp: str, now: float, tolerance: float) -> None:
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= MAX_TIMESTAMP_DIGITS):
        raise WebhookError("bad_timestamp")
    if int(timestamp) < now - tolerance:
        raise WebhookError("too_old")
    if int(timestamp) > now + tolerance:
        raise WebhookError("too_new")


def _digest(key: bytes, message_id: str, timestamp: str, body: bytes) -> bytes:
    return hmac.new(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()


def _is_signed(signatures: str, digests: Sequence[bytes]) -> bool:
    """Whether one of the signatures is one of the digests; those of other versions say nothing."""
    given = [_decoded(entry) for entry in signatures.split(" ")]
    return any(hmac.compare_digest(one, other) for one in given for other in digests)


def _decoded(entry: str) -> bytes:
    version, _comma, signature = entry.partition(",")
    if version != VERSION:
        return b""
    try:
        return base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _parse(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise WebhookError("bad_payload") from None
    if not isinstance(event, dict):
        raise WebhookError("bad_payload")
    return event

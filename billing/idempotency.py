"""The same request twice is one request: `Idempotency-Key` on a POST.

    run_once(request, handler)          the whole of a POST that answers at once
    begin(request) … call.keep(answer)  where the answer is waited for: keep it as often as it gets better

Answers are stored when they succeed; a refused request may be repeated with the same key, since it did nothing. Where
a process dies between doing and storing, `call.nonce` is the same for whoever takes the call over, so that intake finds
what was made before.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, cast

from django.core.files.uploadedfile import UploadedFile
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request
from rest_framework.response import Response

from billing import ledger
from billing.models import ApiKey, IdempotentCall
from billing.models.idempotency import KEPT_HOURS
from inkcloak.api import Refused
from inkcloak.errors import Invalid

HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotency-Replayed"
KEY_FORMAT = re.compile(r"[\x21-\x7e]{1,255}")
BUSY_SECONDS = 150  # longer than any request waits
RETRY_SECONDS = 1
KEPT_HEADERS = ("Location", "Preference-Applied")


class Call:
    """The one request that does the work."""

    def __init__(self, row: IdempotentCall) -> None:
        self._row = row
        self.nonce: uuid.UUID = row.pk

    def keep(self, answer: Response, resource: str = "") -> None:
        """Stores the answer for those that ask again, in the place of an earlier one.

        resource: `check:<id>` or `batch:<id>`: who deletes that deletes the answer by it.
        """
        IdempotentCall.objects.filter(pk=self._row.pk).update(
            status=answer.status_code,
            headers={name: answer[name] for name in KEPT_HEADERS if name in answer},
            body=json.dumps(answer.data, cls=DjangoJSONEncoder),
            resource=resource,
        )

    def abandon(self) -> None:
        """Nothing was done: the key is free again."""
        IdempotentCall.objects.filter(pk=self._row.pk, status__isnull=True).delete()


def run_once(request: Request, handler: Callable[[], Response], *, kind: str = "check") -> Response:
    """handler's answer, or the stored one of the same request before.

    kind: what the answer's `id` names, `check` or `batch`.
    Raises Refused: 422 for another request under the same key, 409 while the first is under way; Invalid for a key that
    is none.
    """
    call = begin(request)
    if isinstance(call, Response):
        return call
    if call is None:
        return handler()
    try:
        answer = handler()
    except BaseException:
        call.abandon()
        raise
    if answer.status_code < 300:
        made = answer.data.get("id") if isinstance(answer.data, dict) else None
        call.keep(answer, f"{kind}:{made}" if made else "")
    else:
        call.abandon()
    return answer


def begin(request: Request, *, now: datetime | None = None) -> Call | Response | None:
    """None without the header; the stored answer; or the call that this request is to do and to keep.

    Raises as run_once does.
    """
    name = request.headers.get(HEADER)
    if name is None:
        return None
    if not KEY_FORMAT.fullmatch(name):
        message = _("Idempotency-Key must be 1 to 255 visible ASCII characters.")
        raise Invalid("bad_idempotency_key", message)
    now = now or timezone.now()
    key = cast(ApiKey, request.auth)
    fresh = IdempotentCall(
        account=key.account,
        live=key.live,
        key=name,
        fingerprint=fingerprint(request),
        created_at=now,
        busy_until=now + timedelta(seconds=BUSY_SECONDS),
    )
    return _claim(fresh, now)


def fingerprint(request: Request) -> str:
    """SHA-256 of what was asked: method, address and body, without regard to the order of names."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    data = request.data
    if not hasattr(data, "lists"):
        digest.update(json.dumps(data, sort_keys=True).encode())
        return digest.hexdigest()
    for name, values in sorted(data.lists()):
        for value in values:
            digest.update(f"\n{name!r}: ".encode(errors="surrogatepass"))
            digest.update(_content(value))
    return digest.hexdigest()


def _content(value: Any) -> bytes:
    """A field as it is, a file as name and digest of its bytes; the file is wound back."""
    if not isinstance(value, UploadedFile):
        return repr(value).encode(errors="surrogatepass")
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return repr(value.name).encode(errors="surrogatepass") + digest.digest()


def _claim(fresh: IdempotentCall, now: datetime) -> Call | Response:
    """Who inserts the row does the work; everybody else reads it."""
    mine = {"account_id": fresh.account_id, "live": fresh.live, "key": fresh.key}
    expired = IdempotentCall.objects.filter(**mine, created_at__lt=now - timedelta(hours=KEPT_HOURS))
    expired.delete()
    IdempotentCall.objects.bulk_create([fresh], ignore_conflicts=True)
    row = IdempotentCall.objects.filter(**mine).first()
    if row is None:  # abandoned or forgotten between the two statements
        raise _busy()
    if row.pk == fresh.pk:
        return Call(row)
    if row.fingerprint != fresh.fingerprint:
        message = _("This Idempotency-Key was used for another request. Take a new one.")
        raise Refused(422, "idempotency_mismatch", message)
    if row.status is not None:
        return _replay(row)
    stale = IdempotentCall.objects.filter(pk=row.pk, status__isnull=True, busy_until__lt=now)
    if not stale.update(busy_until=fresh.busy_until):
        raise _busy()
    return Call(row)


def _replay(row: IdempotentCall) -> Response:
    what, _colon, made = row.resource.partition(":")
    if what == "check":
        ledger.note(row.account, uuid.UUID(made), ledger.Kind.REPLAYED)
    return Response(json.loads(row.body), row.status, headers={**row.headers, REPLAYED_HEADER: "true"})


def _busy() -> Refused:
    message = _("The first request with this Idempotency-Key is still under way.")
    return Refused(409, "idempotency_in_flight", message, retry_after=RETRY_SECONDS)

"""API keys: issue, verify, rotate, revoke.

A key reads `ink_live_` or `ink_test_`, 32 random characters, and six of a checksum: scanners for leaked secrets know it
by its shape, and a mistyped one is refused without a query. Shown once; stored is its HMAC, so that who reads the table
can use nothing of it.
"""

import hashlib
import hmac
import re
import secrets
import string
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from billing.models import Account, ApiKey, Scope, User
from inkcloak.errors import Forbidden, Invalid

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
SECRET_CHARACTERS = 32  # 190 bits
CHECKSUM_CHARACTERS = 6  # 62 ** 6 > 2 ** 32
HINT_CHARACTERS = len("ink_live_") + 4
FORMAT = re.compile(rf"ink_(live|test)_[0-9A-Za-z]{{{SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}}")
LOOKS_LIKE_A_KEY = re.compile(r"ink_(live|test)_")
MAX_KEYS = 100  # good ones, of one account
MAX_NAME_CHARACTERS = 100
LAST_USED_SECONDS = 60
OVERLAP_HOURS = 24
MAX_OVERLAP_HOURS = 24 * 30


class BadKey(Forbidden):
    """No good key. `code` says why; whoever lacks the secret only ever learns `malformed_key` or `unknown_key`."""


@dataclass(frozen=True, slots=True)
class Issued:
    """`token` is the key itself: the only time that anybody sees it."""

    key: ApiKey
    token: str


@transaction.atomic
def issue(
    *,
    account: Account,
    name: str,
    scopes: Iterable[str],
    now: datetime,
    live: bool = True,
    created_by: User | None = None,
    expires_at: datetime | None = None,
    replaces: ApiKey | None = None,
) -> Issued:
    """A new key. Raises Invalid for a bad name, scope or time, and when the account has MAX_KEYS."""
    Account.objects.select_for_update().get(pk=account.pk)  # two at once would pass the limit together
    if good(account, now).count() >= MAX_KEYS:
        raise Invalid("too_many_keys", _("This account has %(limit)d keys. Revoke one first.") % {"limit": MAX_KEYS})
    if expires_at is not None and expires_at <= now:
        raise Invalid("bad_expiry", _("The key would be expired already."))
    token = new_token(live=live)
    key = ApiKey.objects.create(
        account=account,
        created_by=created_by,
        name=_name(name),
        live=live,
        hint=token[:HINT_CHARACTERS],
        digest=digests(token)[0],
        scopes=_known(scopes),
        expires_at=expires_at,
        replaces=replaces,
    )
    return Issued(key, token)


def verify(token: str, now: datetime) -> ApiKey:
    """The key that this is, with its account. Raises BadKey. One HMAC (two after a change of pepper), one query."""
    if not FORMAT.fullmatch(token) or checksum(token[:-CHECKSUM_CHARACTERS]) != token[-CHECKSUM_CHARACTERS:]:
        raise BadKey("malformed_key", _("This is no API key of ours, or a part of it is missing."))
    rows = ApiKey.objects.select_related("account", "created_by").filter(digest__in=digests(token))
    key = next(iter(rows), None)  # without an order, which `first` would ask for: one key has one row
    if key is None:
        raise BadKey("unknown_key", _("This API key does not exist here."))
    if key.revoked_at is not None or (key.created_by is not None and not key.created_by.is_active):
        raise BadKey("revoked_key", _("This API key was revoked."))
    if not key.is_good(now):
        raise BadKey("expired_key", _("This API key has expired."))
    _used(key, now)
    return key


@transaction.atomic
def rotate(key: ApiKey, *, now: datetime, overlap_hours: int = OVERLAP_HOURS, by: User | None = None) -> Issued:
    """A successor with the same rights; the old key works for `overlap_hours` more.

    Raises Invalid for a key that is no longer good or has a successor already.
    """
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        limit = {"limit": MAX_OVERLAP_HOURS}
        raise Invalid("bad_overlap", _("The old key can work for 0 to %(limit)d more hours.") % limit)
    old = ApiKey.objects.select_for_update(of=("self",)).select_related("account").get(pk=key.pk)
    if not old.is_good(now) or old.replaced_by.exists():
        raise Invalid("key_not_rotatable", _("This key has ended or has a successor already."))
    lifetime = old.expires_at - old.created_at if old.expires_at else None
    issued = issue(
        account=old.account,
        name=old.name,
        scopes=old.scopes,
        now=now,
        live=old.live,
        created_by=by or old.created_by,
        expires_at=now + lifetime if lifetime else None,
        replaces=old,
    )
    end = now + timedelta(hours=overlap_hours)
    ApiKey.objects.filter(pk=old.pk).update(expires_at=min(end, old.expires_at) if old.expires_at else end)
    return issued


def revoke(key: ApiKey, *, now: datetime) -> bool:
    """From the next request on. False if it was revoked before."""
    return bool(ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=now))


def rename(key: ApiKey, name: str) -> None:
    """Raises Invalid for an empty or too long name."""
    ApiKey.objects.filter(pk=key.pk).update(name=_name(name))


def good(account: Account, now: datetime) -> "QuerySet[ApiKey]":
    """The account's keys that work."""
    lasting = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
    return ApiKey.objects.filter(lasting, account=account, revoked_at__isnull=True)


def new_token(*, live: bool) -> str:
    """A fresh key with its checksum."""
    start = f"ink_{'live' if live else 'test'}_" + "".join(secrets.choice(ALPHABET) for _n in range(SECRET_CHARACTERS))
    return start + checksum(start)


def checksum(start: str) -> str:
    """CRC-32 of everything before it, in base 62."""
    number = zlib.crc32(start.encode())
    found = ""
    for _n in range(CHECKSUM_CHARACTERS):
        number, digit = divmod(number, len(ALPHABET))
        found = ALPHABET[digit] + found
    return found


def digests(token: str) -> list[str]:
    """The HMAC to store, then those under secrets that were in use before."""
    return [hmac.new(pepper, token.encode(), hashlib.sha256).hexdigest() for pepper in _peppers()]


def _peppers() -> list[bytes]:
    """API_KEY_PEPPER; unset, derived from SECRET_KEY, whose fallbacks keep old keys good when it changes."""
    if settings.API_KEY_PEPPER:
        return [settings.API_KEY_PEPPER.encode()]
    known = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [hmac.new(secret.encode(), b"inkcloak api keys", hashlib.sha256).digest() for secret in known]


def _name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        limit = {"limit": MAX_NAME_CHARACTERS}
        raise Invalid("bad_key_name", _("Give the key a name of at most %(limit)d characters.") % limit)
    return name


def _known(scopes: Iterable[str]) -> list[str]:
    found = sorted(set(scopes))
    if not found or not set(found) <= set(Scope.values):
        names = {"scopes": ", ".join(Scope.values)}
        raise Invalid("unknown_scope", _("A key needs at least one of these scopes: %(scopes)s") % names)
    return found


def _used(key: ApiKey, now: datetime) -> None:
    """Once a minute: a row that every request writes would be the slowest part of each."""
    stale = now - timedelta(seconds=LAST_USED_SECONDS)
    if key.last_used_at is None or key.last_used_at < stale:
        unwritten = Q(last_used_at__isnull=True) | Q(last_used_at__lt=stale)
        ApiKey.objects.filter(unwritten, pk=key.pk).update(last_used_at=now)

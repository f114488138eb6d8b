"""The keys of signed reports: the one that signs, and those that a reader may check a report with.

REPORT_SIGNING_KEY signs; its public half is published as long as it does. REPORT_OLD_KEYS are public halves of keys
that signed before: they stay published, so that reports of their time can be checked for ever, and each counts only
for reports issued until its last moment.
"""

from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from inkcloak.client import reports
from inkcloak.client.reports import PublicKey
from inkcloak.errors import Unavailable

KEY_BYTES = 32


def signing_seed() -> str:
    """The private key. Raises Unavailable where this installation has none."""
    if not settings.REPORT_SIGNING_KEY:
        raise Unavailable("no_signing_key", _("This installation has no key to sign reports with yet."))
    return str(settings.REPORT_SIGNING_KEY)


def published() -> tuple[PublicKey, ...]:
    """All keys that a report may be signed with, the present one first. Raises ValueError for bad settings."""
    current = (reports.public_key(settings.REPORT_SIGNING_KEY),) if settings.REPORT_SIGNING_KEY else ()
    return current + tuple(old_key(written) for written in settings.REPORT_OLD_KEYS)


def old_key(written: str) -> PublicKey:
    """`PUBLIC_KEY@LAST_MOMENT`, as REPORT_OLD_KEYS has it. Raises ValueError."""
    public, at, last = written.partition("@")
    raw = reports.decode(public)
    until = datetime.fromisoformat(last) if at else None
    if len(raw) != KEY_BYTES or until is None or until.tzinfo is None:
        raise ValueError("an old key is PUBLIC_KEY@LAST_MOMENT, with the zone of that moment")
    return PublicKey(reports.key_id_of(raw), raw, None, until)


def as_old_key(seed: str, until: datetime) -> str:
    """What REPORT_OLD_KEYS needs of a key that will sign nothing after `until`. Raises ValueError."""
    return f"{reports.encode(reports.public_key(seed).key)}@{until.isoformat(timespec='seconds')}"

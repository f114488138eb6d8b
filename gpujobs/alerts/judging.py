"""What the staff do with alerts: say whether one was useful, and keep a series quiet for a while, with a reason."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from gpujobs import auditing
from gpujobs.models import Alert, AlertMute, AlertVote, AuditEntry
from inkcloak.errors import Invalid

LONGEST_MUTE = timedelta(days=92)
LONGEST_REASON = 200


def vote(alert_id: int, user: Any, *, useful: bool) -> AlertVote:
    """One of each of the staff; another one takes its place. Raises Invalid where there is no such alert."""
    if not Alert.objects.filter(pk=alert_id).exists():
        raise Invalid("no_alert", _("There is no such alert."))
    row, _new = AlertVote.objects.update_or_create(alert_id=alert_id, user=user, defaults={"useful": useful})
    return row


@transaction.atomic
def mute(series: str, *, until: datetime, reason: str, user: Any, now: datetime) -> AlertMute:
    """No alert of this series until then; what fires goes on being watched. until not after now: ends an earlier mute.

    Raises Invalid.
    """
    reason = reason.strip()
    if not reason or len(reason) > LONGEST_REASON:
        raise Invalid("bad_reason", _("Say why, in at most 200 characters: it is kept in the audit log."))
    if until > now + LONGEST_MUTE:
        raise Invalid("bad_until", _("At most three months ahead."))
    if not Alert.objects.filter(series=series).exists():
        raise Invalid("no_series", _("No alert was ever raised of that."))
    made = AlertMute.objects.create(series=series, until=until, reason=reason, made_by=user)
    auditing.note(
        AuditEntry.Action.ALERTS_MUTED,
        series[:120],
        actor=user.email,
        reason=reason,
        after={"until": until.isoformat()},
    )
    return made

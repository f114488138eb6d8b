"""note(): one line in the audit log, in the transaction of what it tells of. The only writer of AuditEntry."""

from collections.abc import Mapping
from typing import Any

from gpujobs.models import AuditEntry

COMMAND, SYSTEM = "command", "system"  # actors that are no user


def note(
    action: AuditEntry.Action,
    subject: str,
    *,
    actor: str,
    reason: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """actor: a user's address, COMMAND or SYSTEM.  before, after: what changed, as JSON."""
    return AuditEntry.objects.create(
        action=action,
        subject=subject,
        actor=actor,
        reason=reason,
        before=dict(before or {}),
        after=dict(after or {}),
    )

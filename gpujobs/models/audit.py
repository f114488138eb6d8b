"""AuditEntry: who did what to the money's limits, why and when. Append-only: the database refuses all else.

Without a foreign key to users on purpose: an entry outlives who made it, and is never touched again.
"""

from django.db import models


class AuditEntry(models.Model):
    """actor: an address, or "command" for whoever may run manage.py, or "system".  subject: the thing's own name.

    before, after: values that changed, as JSON; amounts in nano-dollars, moments as ISO 8601.
    """

    class Action(models.TextChoices):
        BUDGET_MADE = "budget_made"
        BUDGET_CHANGED = "budget_changed"
        BUDGET_OVERRIDDEN = "budget_overridden"
        WORKERS_STOPPED = "workers_stopped"  # min workers to 0, as the budget is used up
        WORKERS_RESTORED = "workers_restored"
        ALERTS_MUTED = "alerts_muted"  # of a series, until a moment

    action = models.CharField(max_length=24, choices=Action.choices)
    subject = models.CharField(max_length=120)
    actor = models.CharField(max_length=254)
    reason = models.CharField(max_length=200)
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.action}: {self.subject}"

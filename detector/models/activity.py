"""Who was active when, and which weekly reports went out.

Activity is kept apart from the checks: these are deleted, and days must not be rewritten by that. A trigger of the
database writes a line with each check (migration 0011_activity), so that no way in can forget it, and without a lock
that others would wait for; detector.activity folds the lines into quarters of an hour, which days of any zone are
made of.
"""

from django.db import models


class ActivityLine(models.Model):
    """A check that was taken, not folded yet. Written by the trigger alone. visitor: see ActivityQuarter.who."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    account_id = models.UUIDField(null=True)
    user_id = models.BigIntegerField(null=True)
    visitor = models.CharField(max_length=36, blank=True)
    words = models.PositiveIntegerField()


class ActivityQuarter(models.Model):
    """Checks of one account, person or visitor in a quarter of an hour (UTC).

    who: the account's id, the user's number, or of a visitor a hash that changes with the UTC day: it tells two
    browsers of a day apart and follows nobody into the next. None is a foreign key: what is deleted stays counted.
    """

    class Kind(models.TextChoices):
        ACCOUNT = "account"
        USER = "user"  # signed in; their checks are their account's too
        VISITOR = "visitor"

    id = models.BigAutoField(primary_key=True)
    start = models.DateTimeField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    who = models.CharField(max_length=36)
    checks = models.PositiveIntegerField()
    words = models.PositiveBigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["start", "kind", "who"], name="activity_quarter_once")]


class WeeklyReport(models.Model):
    """That the report of a week was mailed to the staff: one row a week, whoever tries.

    claimed_at: somebody is at it; taken over by another one after a while, unless `sent_at` says that it went out.
    """

    week = models.DateField(primary_key=True)  # its Monday
    claimed_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    recipients = models.PositiveIntegerField(default=0)

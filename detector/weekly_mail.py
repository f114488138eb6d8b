"""The week's report as a mail to the staff: once a week, whoever tries. A row a week says that it went out."""

import logging
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from billing.models import User
from detector import weekly
from detector.models import WeeklyReport
from detector.views import costs_week
from gpujobs import date_ranges
from gpujobs.models import CostQuarter

log = logging.getLogger(__name__)

MAIL_HOUR = 7  # of Monday, in the zone of the budgets
AGAIN_AFTER = timedelta(hours=2)  # whoever began to send and was never heard of again


def send(now: datetime) -> bool:
    """True if the report of last week went out just now. Nothing is sent while nothing was ever spent."""
    week = weekly.last_week(now)
    if now < _due(week) or not CostQuarter.objects.exists():
        return False
    people = list(User.objects.filter(is_staff=True, is_active=True).order_by("pk").values_list("email", flat=True))
    if not people or not _claim(week, now):
        return False
    _mail(week, now, people).send()
    WeeklyReport.objects.filter(week=week).update(sent_at=now, recipients=len(people))
    log.info("the report of the week of %s went to %d people", week, len(people))
    return True


def _due(week: date) -> datetime:
    return date_ranges.start_of(week + weekly.WEEK, weekly.zone()) + timedelta(hours=MAIL_HOUR)


@transaction.atomic
def _claim(week: date, now: datetime) -> bool:
    """Mine to send: nobody has, and nobody is at it. One row decides."""
    row, made = WeeklyReport.objects.select_for_update().get_or_create(week=week, defaults={"claimed_at": now})
    if made:
        return True
    if row.sent_at is not None or row.claimed_at > now - AGAIN_AFTER:
        return False
    row.claimed_at = now
    row.save(update_fields=["claimed_at"])
    return True


def _mail(week: date, now: datetime, people: Sequence[str]) -> EmailMessage:
    """One message to all of them, none of whom sees the others' addresses."""
    with translation.override(settings.LANGUAGE_CODE):
        context = costs_week.context(weekly.report(week, now)) | {"public_url": settings.PUBLIC_URL}
        body = render_to_string("gpujobs/costs_week.txt", context)
        subject = _("InkCloak's week from %(day)s: %(total)s") % {"day": context["from"], "total": context["total"]}
    return EmailMessage(subject, body, bcc=list(people), to=[settings.DEFAULT_FROM_EMAIL])

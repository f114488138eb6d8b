"""Alerts leave: by mail to the staff, to a chat's incoming webhook. Each delivery is a row that one worker claims.

A failed one comes again, later each time, up to six times. Whoever died while sending is waited for: such a message may
come twice, all others once. The webhook's address is an operator's setting: https, no redirects, within a time.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import httpx
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db.models import F
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from gpujobs.alerts import telling
from gpujobs.models import Alert, AlertDelivery
from inkcloak.lifecycle import advance

log = logging.getLogger(__name__)

Status = AlertDelivery.Status
WAITS = tuple(timedelta(minutes=minutes) for minutes in (10, 30, 60, 180, 360))  # after the first failure, second, ...
GONE_AFTER = timedelta(minutes=30)  # whoever claimed it and was never heard of again
AT_ONCE = 100
TIMEOUT_SECONDS = 10.0
MAIL_TIMEOUT_SECONDS = 20
LONGEST_CHAT_TEXT = 2900  # of a block: Slack takes 3,000 characters
BETWEEN = "\n\n- - -\n\n"
Clock = Callable[[], datetime]


def deliver_due(*, clock: Clock, transport: httpx.BaseTransport | None = None) -> int:
    """How many left. transport: a stand-in for the network. Raises nothing for what a server does."""
    now = clock()
    due = AlertDelivery.objects.filter(status__in=(Status.DUE, Status.SENDING), next_at__lte=now)
    ids = list(due.order_by("next_at", "pk").values_list("pk", flat=True)[:AT_ONCE])
    return sum(_deliver(pk, clock(), transport) for pk in ids)


def _deliver(pk: int, now: datetime, transport: httpx.BaseTransport | None) -> bool:
    if not _claim(pk, now):
        return False
    delivery = AlertDelivery.objects.select_related("alert", "recipient").get(pk=pk)
    error = _mail(delivery) if delivery.recipient_id else _post(delivery.alert, transport)
    mine = AlertDelivery.objects.filter(pk=pk, status=Status.SENDING, tries=delivery.tries)
    if not error:
        return bool(advance(mine, Status.SENT, error=""))
    log.warning("alert %d: not delivered by %s: %s", delivery.alert_id, delivery.channel, error)
    if delivery.tries > len(WAITS):
        advance(mine, Status.FAILED, error=error)
    else:
        advance(mine, Status.DUE, error=error, next_at=now + WAITS[delivery.tries - 1])
    return False


def _claim(pk: int, now: datetime) -> bool:
    lost = AlertDelivery.objects.filter(pk=pk, status=Status.SENDING, next_at__lte=now)
    advance(lost, Status.DUE)
    mine = AlertDelivery.objects.filter(pk=pk, status=Status.DUE, next_at__lte=now)
    return bool(advance(mine, Status.SENDING, tries=F("tries") + 1, next_at=now + GONE_AFTER))


def _mail(delivery: AlertDelivery) -> str:
    """Its error, "" where it was taken. Nobody's language is stored: it says everything in each."""
    recipient: Any = delivery.recipient
    if not (recipient.is_staff and recipient.is_active):
        return ""  # no longer of the staff: nothing to tell
    subject, body = written(delivery.alert)
    mail = EmailMessage(f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{subject}", body, to=[recipient.email])
    try:
        return "" if get_connection(timeout=MAIL_TIMEOUT_SECONDS).send_messages([mail]) else "mail_not_taken"
    except OSError as error:  # smtplib's are such
        return type(error).__name__


def written(alert: Alert) -> tuple[str, str]:
    """Subject, in the product's own language, and body in each, without what would be said twice."""
    subjects, bodies = [], []
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            told = telling.told(alert)
            log_page = _("All alerts, and whether they were useful: %(link)s") % {"link": telling.absolute(page(alert))}
            bodies.append("\n".join([told.title, "", *told.lines, "", telling.absolute(told.link), log_page]))
            subjects.append(told.title)
    return subjects[0], BETWEEN.join(dict.fromkeys(bodies))


def page(alert: Alert) -> str:
    return f"{reverse('staff:alerts')}#alert-{alert.pk}"


def _post(alert: Alert, transport: httpx.BaseTransport | None) -> str:
    if not settings.ALERT_WEBHOOK_URL.startswith("https://"):
        return "no_address"
    try:
        with httpx.Client(
            timeout=TIMEOUT_SECONDS, follow_redirects=False, trust_env=False, transport=transport, verify=_trust()
        ) as client:
            answer = client.post(settings.ALERT_WEBHOOK_URL, json=chat(alert))
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return type(error).__name__
    return "" if answer.is_success else f"status_{answer.status_code}"


def chat(alert: Alert) -> dict[str, Any]:
    """Slack's shape, which others take too: `text` for what notifies, `blocks` for what is shown."""
    with translation.override(settings.LANGUAGE_CODE):
        told = telling.told(alert)
        places = ((told.link, _("What it consists of")), (page(alert), _("Alerts")))
        links = " · ".join(f"<{telling.absolute(path)}|{says}>" for path, says in places)
    body = "\n".join(map(_escaped, told.lines))[:LONGEST_CHAT_TEXT]
    return {
        "text": told.title,
        "blocks": [
            {"type": "section", "text": {"type": "mrkdwn", "text": f"*{_escaped(told.title)}*"}},
            {"type": "section", "text": {"type": "mrkdwn", "text": body}},
            {"type": "section", "text": {"type": "mrkdwn", "text": links}},
        ],
    }


def _escaped(text: str) -> str:
    """Slack's three special characters: reasons are written by people."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@lru_cache(maxsize=1)
def _trust() -> Any:
    """Made once: it reads some hundred certificates."""
    return httpx.create_ssl_context(trust_env=False)

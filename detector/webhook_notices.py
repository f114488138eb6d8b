"""Whoever owns an account hears by e-mail that we have disabled one of its webhooks.

Nobody's language is stored, so the mail says it in each of the product's. Of the address only the host is named: paths
of webhooks are often secrets.
"""

import logging
import uuid
from urllib.parse import urlsplit

import redis
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from billing.models import Membership, User
from detector.models import WebhookEndpoint
from inkcloak.celery import app

log = logging.getLogger(__name__)

TASK = "detector.tasks.tell_webhook_disabled"
BETWEEN = "\n- - -\n\n"
MAIL_TIMEOUT_SECONDS = 20


def ask(endpoint_id: uuid.UUID) -> None:
    """Has a worker tell them. Lost while the broker is away; the endpoint itself says it in any case."""
    try:
        app.send_task(TASK, args=[str(endpoint_id)])
    except (OperationalError, redis.RedisError) as error:
        log.warning("webhook endpoint %s: nobody is told: %s", endpoint_id, type(error).__name__)


def tell_owners(endpoint_id: uuid.UUID) -> int:
    """Sends a mail to each owner of its account. Returns how many.

    None for an endpoint that is enabled again, deleted, or that they disabled themselves. Raises OSError (smtplib's
    errors are such) where the mail server takes none.
    """
    ours = (WebhookEndpoint.Reason.GONE, WebhookEndpoint.Reason.FAILING)
    endpoint = WebhookEndpoint.objects.filter(pk=endpoint_id, disabled_reason__in=ours).first()
    if endpoint is None:
        return 0
    owners = User.objects.filter(
        is_active=True, memberships__account=endpoint.account_id, memberships__role=Membership.Role.OWNER
    )
    subject, body = _written(endpoint)
    mails = [EmailMessage(subject, body, to=[owner.email]) for owner in owners]
    return get_connection(timeout=MAIL_TIMEOUT_SECONDS).send_messages(mails) or 0


def _written(endpoint: WebhookEndpoint) -> tuple[str, str]:
    host = urlsplit(endpoint.url).hostname or ""
    path = reverse("detector_api:webhook", args=[str(endpoint.pk)])
    context = {"host": host, "reason": endpoint.disabled_reason, "api": f"{settings.PUBLIC_URL}{path}"}
    subjects: list[str] = []
    bodies: list[str] = []
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            subjects.append(_("Webhook disabled: %(host)s") % {"host": host})
            bodies.append(render_to_string("detector/email/webhook_disabled.txt", context))
    # Each once: what is not translated would be said twice.
    subject = " / ".join(dict.fromkeys(subjects))
    return f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{subject}", BETWEEN.join(dict.fromkeys(bodies))

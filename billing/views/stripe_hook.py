"""Where Stripe tells us what happened: /hooks/stripe/. Bare answers; Stripe reads the status only."""

import logging

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from billing import webhooks
from billing.stripe_client import BadWebhook

log = logging.getLogger(__name__)

MAX_BYTES = 1024 * 1024  # Stripe's events have some ten thousand


@csrf_exempt
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    """200 once the event is stored, also the second time; 400 for what Stripe didn't sign, and sign just now; 503 while
    it can't be stored, so that it comes again."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BYTES:
        return HttpResponse(status=413)
    try:
        webhooks.receive(request.body, request.headers.get("Stripe-Signature", ""), now=timezone.now())
    except BadWebhook as error:
        log.warning("refused a Stripe webhook: %s", error.code)
        return HttpResponse(status=400)
    except DatabaseError as error:
        log.error("a Stripe event is not stored: %s", type(error).__name__)
        return HttpResponse(status=503)
    return HttpResponse()

"""System checks about payment: key, mode and address must agree, or nothing starts."""

import ipaddress
import re
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import Error as DatabaseProblem

from billing import revenue, stripe_client
from billing.models import StripeCustomer

KEY = re.compile(r"(sk|rk)_(test|live)_\S{4,}")


@register()
def key_is_one(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """A publishable key, or half of one, would be refused with every payment."""
    if not stripe_client.is_set_up() or KEY.fullmatch(settings.STRIPE_SECRET_KEY):
        return []
    hint = "Take the secret key (sk_…) or a restricted one (rk_…) from Stripe's dashboard, or leave it empty."
    return [Error("STRIPE_SECRET_KEY is no secret key of Stripe's", hint=hint, id="billing.E001")]


@register()
def key_and_address_agree(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """A live key is for Stripe alone; a rehearsal's address never for production."""
    if not stripe_client.is_set_up():
        return []
    found: list[CheckMessage] = []
    address = urlsplit(settings.STRIPE_API_BASE)
    loopback = _is_loopback(address.hostname or "")
    if stripe_client.livemode() and (settings.DEBUG or loopback):
        hint = "Live keys belong to production: no DEBUG, and STRIPE_API_BASE unset."
        found.append(Error("STRIPE_SECRET_KEY is a live key, here", hint=hint, id="billing.E002"))
    if loopback and not settings.DEBUG:
        hint = "Unset it: Stripe's own address is the default."
        found.append(Error("STRIPE_API_BASE is a loopback Stripe, with DEBUG off", hint=hint, id="billing.E003"))
    if not loopback and address.scheme != "https":
        hint = "The key would travel in the clear."
        found.append(Error("STRIPE_API_BASE is no https address", hint=hint, id="billing.E004"))
    return found


@register()
def key_and_rows_agree(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """Live customers and a test key: their plans would look unpaid."""
    if not stripe_client.is_set_up() or stripe_client.livemode():
        return []
    try:
        live = StripeCustomer.objects.filter(livemode=True).exists()
    except DatabaseProblem:  # before the first migration, or without a database
        return []
    hint = "This database belongs to the live key. Use that, or another database."
    return [Error("STRIPE_SECRET_KEY is a test key, with live customers", hint=hint, id="billing.E005")] if live else []


@register()
def webhooks_can_be_verified(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """Without a secret every webhook is refused, and plans follow an hour late."""
    secrets = settings.STRIPE_WEBHOOK_SECRETS
    if strange := [each for each in secrets if not each.startswith("whsec_")]:
        hint = "Each begins with whsec_; several are separated by commas."
        return [Error(f"{len(strange)} of STRIPE_WEBHOOK_SECRETS are none", hint=hint, id="billing.E006")]
    if secrets or not stripe_client.is_set_up():
        return []
    hint = "`manage.py stripe_sync_catalogue --apply` makes the endpoint and prints its secret."
    return [Warning("STRIPE_WEBHOOK_SECRETS is not set", hint=hint, id="billing.W001")]


@register()
def exchange_rates_are_rates(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """A margin must not be computed by nonsense."""
    try:
        revenue.exchange_rates()
    except ValueError:
        hint = "As in EUR=1.08,GBP=1.27: dollars for one unit."
        return [Error("EXCHANGE_RATES can't be read", hint=hint, id="billing.E007")]
    return []


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")

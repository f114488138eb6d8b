"""Stripe's own pages about cards, invoices, tax ids and cancelling: always reachable for who ever paid."""

from django.conf import settings

from billing import customers, payment_errors, stripe_client
from billing.models import Account

RETURN_PATH = "/plan/"
CONFIGURED = "inkcloak_portal"  # metadata of the configuration that stripe_sync_catalogue makes


def address(account: Account, *, language: str = "en") -> str:
    """Where to send the reader; good for a few minutes. Raises Conflict for an account that never paid, Unavailable."""
    with payment_errors.spoken():
        customer = customers.of(account)
        if customer is None:
            raise payment_errors.not_subscribed()
        params = {
            "customer": customer.stripe_id,
            "return_url": f"{settings.PUBLIC_URL}{RETURN_PATH}",
            "locale": language if language in ("en", "es") else "auto",
        }
        if (configuration := _configuration()) is not None:
            params["configuration"] = configuration
        return stripe_client.create_portal(params)


def _configuration() -> str | None:
    """Ours if the catalogue was synced; else the account's default."""
    found = stripe_client.catalogue("portal", active=True)
    ours = [str(each["id"]) for each in found if (each.get("metadata") or {}).get(CONFIGURED)]
    return ours[0] if ours else None

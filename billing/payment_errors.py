"""What people hear when a payment doesn't work: our own words and codes for what Stripe answered."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.utils.translation import gettext_lazy as _

from billing import stripe_client
from billing.stripe_client import StripeError
from inkcloak.errors import Conflict, DomainError, Invalid, Unavailable

log = logging.getLogger(__name__)


@contextmanager
def spoken() -> Iterator[None]:
    """Raises a DomainError in the place of a StripeError."""
    try:
        yield
    except StripeError as error:
        log.warning("payment: %s", error)  # codes alone
        raise translated(error) from None


def translated(error: StripeError) -> DomainError:
    if error.code == stripe_client.NOT_SET_UP:
        return Unavailable("payment_not_set_up", _("Payment isn't set up here yet: everybody is on Free."))
    if error.code == stripe_client.DECLINED:
        message = _("The payment was declined, and nothing was changed. Choose another card, or ask your bank.")
        return Conflict("payment_declined", message)
    return Unavailable(
        "payment_unavailable", _("The payment service doesn't answer as it should. Please try again in a minute.")
    )


def not_for_sale() -> DomainError:
    return Invalid("not_for_sale", _("There is no such plan in this currency and interval."))


def already_subscribed() -> DomainError:
    return Conflict("already_subscribed", _("This account has a plan already: change it instead."))


def not_subscribed() -> DomainError:
    return Conflict("not_subscribed", _("This account has no paid plan."))

from billing.models.account import Account, Membership
from billing.models.apikey import ApiKey, Scope
from billing.models.customer import Checkout, StripeCustomer
from billing.models.idempotency import IdempotentCall
from billing.models.invitation import Invitation
from billing.models.invoice import Invoice, RevenueEntry
from billing.models.ledger import WordEntry
from billing.models.stripe_event import StripeEvent
from billing.models.subscription import Subscription
from billing.models.usage import Meter, Reservation
from billing.models.user import User

__all__ = [
    "Account",
    "ApiKey",
    "Checkout",
    "IdempotentCall",
    "Invitation",
    "Invoice",
    "Membership",
    "Meter",
    "Reservation",
    "RevenueEntry",
    "Scope",
    "StripeCustomer",
    "StripeEvent",
    "Subscription",
    "User",
    "WordEntry",
]

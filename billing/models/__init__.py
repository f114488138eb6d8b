from billing.models.account import Account, Membership
from billing.models.apikey import ApiKey, Scope
from billing.models.idempotency import IdempotentCall
from billing.models.ledger import WordEntry
from billing.models.usage import Meter, Reservation
from billing.models.user import User

__all__ = [
    "Account",
    "ApiKey",
    "IdempotentCall",
    "Membership",
    "Meter",
    "Reservation",
    "Scope",
    "User",
    "WordEntry",
]

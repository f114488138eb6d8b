from billing.models.account import Account, Membership
from billing.models.usage import Meter, Reservation
from billing.models.user import User

__all__ = ["Account", "Membership", "Meter", "Reservation", "User"]

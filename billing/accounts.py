"""Whose account is this? Owners of checks, membership, and the allowance that each owner has."""

import hashlib
import hmac
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from billing.models import Account, Membership, Meter, User
from billing.plans import plan_of
from billing.quota import Allowance
from inkcloak.errors import Forbidden

VISITOR_SESSION_KEY = "visitor"


@dataclass(frozen=True, slots=True)
class Owner:
    """Exactly one of account and visitor is set. `address_key` is a keyed hash: addresses are not stored."""

    account: Account | None = None
    visitor: uuid.UUID | None = None
    user: User | None = None
    address_key: str = ""

    def __post_init__(self) -> None:
        if (self.account is None) == (self.visitor is None):
            raise ValueError("an owner is an account or a visitor")


def account_of(user: User) -> Account:
    """The account that the person works in: the one they chose last, at first their own."""
    return membership_of(user).account


def membership_of(user: User) -> Membership:
    """The same as what they are in it. Their own account is made on first use."""
    rows = Membership.objects.select_related("account").filter(user=user)
    mine = rows.filter(Q(chosen_at__isnull=False) | Q(account__personal_of=user))
    return mine.order_by(F("chosen_at").desc(nulls_last=True)).first() or _own(user)


@transaction.atomic
def _own(user: User) -> Membership:
    """Safe when two requests come first together."""
    account, _made = Account.objects.get_or_create(personal_of=user, defaults={"name": user.email})
    membership, _new = Membership.objects.select_related("account").get_or_create(
        account=account, user=user, defaults={"role": Membership.Role.OWNER}
    )
    return membership


def paying_account(user: User) -> Account:
    """The account whose plan this person may see and change. Raises Forbidden for a member without that role."""
    membership = membership_of(user)
    if membership.role not in (Membership.Role.OWNER, Membership.Role.BILLING):
        message = _("Only an owner of the account, or somebody with the billing role, can see and change its plan.")
        raise Forbidden("forbidden", message)
    return membership.account


def owned_account(user: User) -> Account:
    """The account whose members this person may choose. Raises Forbidden for everybody but owners."""
    membership = membership_of(user)
    if membership.role != Membership.Role.OWNER:
        raise Forbidden("forbidden", _("Only an owner of the account can change who belongs to it."))
    return membership.account


def internal_account() -> Account:
    """Our own account: the command line and canaries. Never limited, never billed."""
    account, _made = Account.objects.get_or_create(internal=True, defaults={"name": "InkCloak"})
    return account


def owner_of(request: HttpRequest) -> Owner:
    """Who is asking: the signed-in person's account, or a visitor known by a random number in the session."""
    address_key = keyed_address(request)
    if request.user.is_authenticated:
        return Owner(account=account_of(request.user), user=request.user, address_key=address_key)
    known = request.session.get(VISITOR_SESSION_KEY)
    if known is None:
        known = request.session[VISITOR_SESSION_KEY] = str(uuid.uuid4())
    return Owner(visitor=uuid.UUID(known), address_key=address_key)


def reader_of(request: HttpRequest) -> Owner | None:
    """Like owner_of, for reading: None for a visitor who has never checked anything, and no session is made."""
    if not request.user.is_authenticated and VISITOR_SESSION_KEY not in request.session:
        return None
    return owner_of(request)


def client_address(request: HttpRequest) -> str:
    """The client's address, counted from the right past our own proxies: the leftmost entry is the sender's word."""
    direct = str(request.META.get("REMOTE_ADDR", ""))
    proxies: int = settings.TRUSTED_PROXY_COUNT
    forwarded = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    if proxies == 0 or not forwarded:
        return direct
    return forwarded[-min(proxies, len(forwarded))]


def keyed_address(request: HttpRequest) -> str:
    """HMAC of the client's address: enough to count by, useless to whoever reads the table."""
    return hmac.new(settings.SECRET_KEY.encode(), client_address(request).encode(), hashlib.sha256).hexdigest()[:32]


def allowance_of(owner: Owner, now: datetime) -> Allowance:
    """Words a month for an account, checks a day for a visitor's address; periods are UTC."""
    if owner.account is None:
        start = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        limit = settings.VISITOR_CHECKS_PER_DAY
        return Allowance(f"visitor:{owner.address_key}", Meter.Unit.CHECKS, limit, start, start + timedelta(days=1))
    start = now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    end = (start + timedelta(days=32)).replace(day=1)
    words = plan_of(owner.account).words_per_month
    return Allowance(f"account:{owner.account.pk}", Meter.Unit.WORDS, words, start, end)

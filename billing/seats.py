"""Who belongs to an account: invite by mail, accept, change roles, leave. A plan has so many seats.

The mail carries a signed link that ends after INVITATION_DAYS; only the address that it went to may use it, once. An
account never loses its last owner. Whoever goes loses the API keys that they made here; what they checked stays.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.models import Account, ApiKey, Invitation, Membership, User
from billing.plans import plan_of
from inkcloak.errors import Conflict

INVITATION_DAYS = 7
EMAIL_CHARACTERS = 254
RESENT_MINUTES = 5  # so often one address gets a mail from one account
MAX_INVITATIONS_PER_DAY = 50  # of one account: nobody sends mail to strangers through us
SALT = "billing.invitation"
Role = Membership.Role


class Refused(Conflict):
    """What can't be done with these members now; the message says why."""


@dataclass(frozen=True, slots=True)
class Seats:
    """taken: members and open invitations. It is above `limit` after a change to a smaller plan."""

    limit: int
    taken: int

    @property
    def free(self) -> int:
        return max(0, self.limit - self.taken)


def members(account: Account) -> Sequence[Membership]:
    """Owners first, then as they came."""
    rows = Membership.objects.filter(account=account).select_related("user").order_by("created_at", "pk")
    return sorted(rows, key=lambda row: row.role != Role.OWNER)


def invitations(account: Account, now: datetime) -> "QuerySet[Invitation]":
    """Those that can still be accepted, newest first."""
    rows = Invitation.objects.filter(account=account, accepted_at=None, revoked_at=None, expires_at__gt=now)
    return rows.order_by("-created_at", "pk")


def of(account: Account, now: datetime) -> Seats:
    taken = Membership.objects.filter(account=account).count() + invitations(account, now).count()
    return Seats(plan_of(account, now).seats, taken)


@transaction.atomic
def invite(*, account: Account, email: str, role: str, by: User, now: datetime) -> Invitation:
    """For `send` to tell them of. The same address again gets a new link; the old one ends.

    Raises Refused without a free seat, for who is a member already, and for an address that was just written to.
    """
    _lock(account)
    email = email.strip().lower()
    try:
        if len(email) > EMAIL_CHARACTERS:
            raise ValidationError("too long")
        validate_email(email)
    except ValidationError:
        raise Refused("bad_email", gettext_lazy("That is not an e-mail address.")) from None
    if role not in Role.values:
        raise Refused("bad_role", gettext_lazy("There is no such role."))
    if Membership.objects.filter(account=account, user__email__iexact=email).exists():
        raise Refused("already_member", gettext_lazy("This person belongs to the account already."))
    unanswered = Invitation.objects.filter(account=account, email=email, accepted_at=None, revoked_at=None).first()
    _refuse_too_many(account, unanswered, now)
    ends = now + timedelta(days=INVITATION_DAYS)
    if unanswered is None:
        row = Invitation(account=account, email=email)
    else:
        row = unanswered
        row.number += 1
    row.role, row.invited_by, row.expires_at = role, by, ends
    row.save()
    return row


def send(row: Invitation, *, now: datetime) -> None:
    """The mail with the link. Raises Refused where it can't be sent; the invitation is none then."""
    try:
        _mail(row).send()
    except (OSError, SMTPException):
        Invitation.objects.filter(pk=row.pk, accepted_at=None).update(revoked_at=now)
        message = gettext_lazy("The mail could not be sent, so nobody is invited. Please try again later.")
        raise Refused("mail_failed", message) from None


def _refuse_too_many(account: Account, unanswered: Invitation | None, now: datetime) -> None:
    if unanswered is None or not unanswered.is_open(now):  # an open one has its seat
        if of(account, now).free < 1:
            raise Refused("no_seat", gettext_lazy("The plan has no free seat. Remove somebody, or take a larger plan."))
    elif now - _sent_at(unanswered) < timedelta(minutes=RESENT_MINUTES):
        raise Refused("just_sent", gettext_lazy("This address was just written to. Please wait a few minutes."))
    first = now + timedelta(days=INVITATION_DAYS) - timedelta(days=1)
    if Invitation.objects.filter(account=account, expires_at__gt=first).count() >= MAX_INVITATIONS_PER_DAY:
        raise Refused("too_many_invitations", gettext_lazy("That is enough invitations for one day."))


def _sent_at(row: Invitation) -> datetime:
    return row.expires_at - timedelta(days=INVITATION_DAYS)


def _mail(row: Invitation) -> EmailMessage:
    context = {
        "inviter": row.invited_by.email if row.invited_by else "",
        "link": settings.PUBLIC_URL + reverse("billing:join", args=[token_of(row)]),
        "days": INVITATION_DAYS,
    }
    text = render_to_string("billing/email/invitation.txt", context)
    subject = settings.ACCOUNT_EMAIL_SUBJECT_PREFIX + _("you are invited to a team")
    return EmailMessage(subject, text, to=[row.email])


def token_of(row: Invitation) -> str:
    """What the mail's link carries: which invitation, and which of its mails."""
    return signing.dumps([str(row.pk), row.number], salt=SALT)


def find(token: str, now: datetime) -> Invitation:
    """The open invitation that this is. Raises Refused, saying what became of it."""
    try:
        key, number = signing.loads(token, salt=SALT, max_age=timedelta(days=INVITATION_DAYS))
        row = Invitation.objects.select_related("account", "invited_by").get(pk=key)
    except signing.SignatureExpired:
        raise Refused("invitation_over", gettext_lazy("This invitation has ended. Ask for another one.")) from None
    except (signing.BadSignature, Invitation.DoesNotExist, ValidationError, ValueError, TypeError):
        message = gettext_lazy("This is no invitation of ours. Open the link exactly as it stands in the mail.")
        raise Refused("no_invitation", message) from None
    if row.accepted_at is not None:
        raise Refused("invitation_used", gettext_lazy("This invitation was accepted already."))
    if row.number != number or not row.is_open(now):
        raise Refused("invitation_over", gettext_lazy("This invitation has ended. Ask for another one."))
    return row


@transaction.atomic
def accept(token: str, *, user: User, now: datetime) -> Membership:
    """A member from now on, who works in this account until they choose another.

    Raises Refused for a link that ended, for another address, and when the plan has fewer seats by now.
    """
    _lock(find(token, now).account)
    row = find(token, now)  # again: two clicks came this far together
    if not is_for(row, user):
        message = gettext_lazy(
            "This invitation went to another address than the one you are signed in with. Sign in with that one."
        )
        raise Refused("invitation_for_another", message)
    if Membership.objects.filter(account=row.account).count() >= plan_of(row.account, now).seats:
        raise Refused("no_seat", gettext_lazy("The team's plan has no free seat any more. Ask whoever invited you."))
    membership, _made = Membership.objects.get_or_create(account=row.account, user=user, defaults={"role": row.role})
    row.accepted_at, row.accepted_by = now, user
    row.save(update_fields=["accepted_at", "accepted_by"])
    choose(membership, now)
    return membership


def is_for(row: Invitation, user: User) -> bool:
    """Whoever opens the link of a mail has read that mail; so the address needs no other proof."""
    return user.email.lower() == row.email


@transaction.atomic
def revoke(*, account: Account, invitation_id: uuid.UUID, now: datetime) -> bool:
    """Its link ends. False if there was nothing to end."""
    _lock(account)
    rows = Invitation.objects.filter(account=account, pk=invitation_id, accepted_at=None, revoked_at=None)
    return bool(rows.update(revoked_at=now))


def choose(membership: Membership, now: datetime) -> None:
    """Work in this account from now on."""
    Membership.objects.filter(pk=membership.pk).update(chosen_at=now)
    membership.chosen_at = now


def accounts_of(user: User) -> Sequence[Membership]:
    """Where this person may work."""
    rows = Membership.objects.filter(user=user).select_related("account", "account__personal_of")
    return list(rows.order_by("created_at", "pk"))


@transaction.atomic
def set_role(*, account: Account, membership_id: int, role: str) -> Membership:
    """Raises Refused for the last owner, Membership.DoesNotExist for who is none of this account."""
    _lock(account)
    row = Membership.objects.select_related("user").get(account=account, pk=membership_id)
    if role not in Role.values:
        raise Refused("bad_role", gettext_lazy("There is no such role."))
    if role != Role.OWNER:
        _refuse_last_owner(row)
    row.role = role
    row.save(update_fields=["role"])
    return row


@transaction.atomic
def remove(*, account: Account, membership_id: int, now: datetime) -> Membership:
    """The person's membership and keys end; a new account of their own awaits them if this one was it.

    Raises Refused for the last owner, Membership.DoesNotExist for who is none of this account.
    """
    _lock(account)
    row = Membership.objects.select_related("user").get(account=account, pk=membership_id)
    _refuse_last_owner(row)
    ApiKey.objects.filter(account=account, created_by=row.user, revoked_at=None).update(revoked_at=now)
    Account.objects.filter(pk=account.pk, personal_of=row.user).update(personal_of=None)
    row.delete()
    return row


def _refuse_last_owner(row: Membership) -> None:
    others = Membership.objects.filter(account=row.account_id, role=Role.OWNER).exclude(pk=row.pk)
    if row.role == Role.OWNER and not others.exists():
        message = gettext_lazy("An account needs an owner. Make somebody else an owner first.")
        raise Refused("last_owner", message)


def _lock(account: Account) -> None:
    """Everything about one account's members happens one after the other. Rows that only refer to it don't wait."""
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)

"""Seats: invitations that one person takes once, roles, and owners who stay."""

import re
from datetime import timedelta

import factories
import pytest
from django.core import mail
from django.utils import timezone

from billing import keys, plans, seats
from billing.accounts import account_of, membership_of
from billing.models import Account, ApiKey, Invitation, Membership, Scope, User

NOW = timezone.now()
Role = Membership.Role
LINK = re.compile(r"http://\S+/team/join/(\S+)/")


@pytest.fixture
def team(alice: User) -> Account:
    """Alice's account with a plan of three seats."""
    account = account_of(alice)
    Account.objects.filter(pk=account.pk).update(plan_name="pro", plan_version=1)
    return account_of(alice)


def invite(team: Account, email: str = "bob@example.com", *, role: str = "member", now=NOW) -> Invitation:
    return seats.invite(account=team, email=email, role=role, by=team.personal_of, now=now)


def joined(team: Account, user: User, role: str = "member") -> Membership:
    return seats.accept(seats.token_of(invite(team, user.email, role=role)), user=user, now=NOW)


def test_it_mails_a_link_that_lets_in(team: Account, bob: User) -> None:
    seats.send(invite(team, "  BOB@example.com ", role="billing"), now=NOW)
    (sent,) = mail.outbox
    assert sent.to == ["bob@example.com"]
    found = LINK.search(str(sent.body))
    assert found is not None
    membership = seats.accept(found[1], user=bob, now=NOW)
    assert (membership.account, membership.role) == (team, Role.BILLING)
    assert account_of(bob) == team, "works there from now on"


def test_a_mail_that_cannot_be_sent_invites_nobody(team: Account, settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # where nobody listens
    with pytest.raises(seats.Refused, match="mail_failed"):
        seats.send(invite(team), now=NOW)
    assert seats.of(team, NOW).taken == 1


def test_it_takes_a_seat_as_soon_as_somebody_is_invited(team: Account) -> None:
    invite(team, "one@example.com")
    invite(team, "two@example.com")
    assert seats.of(team, NOW) == seats.Seats(limit=3, taken=3)
    with pytest.raises(seats.Refused, match="no_seat"):
        invite(team, "three@example.com")
    assert seats.revoke(account=team, invitation_id=Invitation.objects.get(email="one@example.com").pk, now=NOW)
    invite(team, "three@example.com")


def test_a_plan_with_one_seat_invites_nobody(alice: User) -> None:
    with pytest.raises(seats.Refused, match="no_seat"):
        invite(account_of(alice))


def test_an_invitation_is_taken_once(team: Account, bob: User, charlie: User) -> None:
    token = seats.token_of(invite(team))
    seats.accept(token, user=bob, now=NOW)
    for somebody in (bob, charlie):
        with pytest.raises(seats.Refused, match="invitation_used"):
            seats.accept(token, user=somebody, now=NOW)
    assert Membership.objects.filter(account=team).count() == 2


def test_another_address_is_refused(team: Account, charlie: User) -> None:
    token = seats.token_of(invite(team))
    with pytest.raises(seats.Refused, match="invitation_for_another"):
        seats.accept(token, user=charlie, now=NOW)
    assert account_of(charlie) != team


@pytest.mark.parametrize(
    ("token", "code"),
    [("", "no_invitation"), ("x", "no_invitation"), ("a:b:c", "no_invitation"), ("é", "no_invitation")],
)
def test_a_made_up_link_is_refused(db: None, token: str, code: str) -> None:
    with pytest.raises(seats.Refused, match=code):
        seats.find(token, NOW)


def test_it_ends(team: Account, bob: User) -> None:
    row = invite(team)
    token = seats.token_of(row)
    after = row.expires_at + timedelta(seconds=1)
    with pytest.raises(seats.Refused, match="invitation_over"):
        seats.accept(token, user=bob, now=after)
    assert seats.of(team, after).taken == 1


def test_a_revoked_one_is_over(team: Account, bob: User) -> None:
    row = invite(team)
    assert seats.revoke(account=team, invitation_id=row.pk, now=NOW)
    assert not seats.revoke(account=team, invitation_id=row.pk, now=NOW)
    with pytest.raises(seats.Refused, match="invitation_over"):
        seats.accept(seats.token_of(row), user=bob, now=NOW)


def test_sent_again_the_old_link_ends(team: Account, bob: User) -> None:
    old = seats.token_of(invite(team))
    with pytest.raises(seats.Refused, match="just_sent"):
        invite(team)
    later = NOW + timedelta(minutes=6)
    new = seats.token_of(invite(team, role="billing", now=later))
    with pytest.raises(seats.Refused, match="invitation_over"):
        seats.accept(old, user=bob, now=later)
    assert seats.accept(new, user=bob, now=later).role == Role.BILLING


def test_it_stops_at_so_many_mails_a_day(team: Account) -> None:
    Account.objects.filter(pk=team.pk).update(plan_name="team")
    for n in range(seats.MAX_INVITATIONS_PER_DAY):
        row = invite(team, f"somebody-{n}@example.com")
        seats.revoke(account=team, invitation_id=row.pk, now=NOW)
    with pytest.raises(seats.Refused, match="too_many_invitations"):
        invite(team, "one-more@example.com")
    invite(team, "one-more@example.com", now=NOW + timedelta(days=1, minutes=1))


def test_a_member_is_not_invited_again(team: Account, bob: User) -> None:
    joined(team, bob)
    with pytest.raises(seats.Refused, match="already_member"):
        invite(team)


@pytest.mark.parametrize("email", ["", "bob", "bob@", "a\x00b@example.com", "@example.com", "x" * 300 + "@example.com"])
def test_it_refuses_what_is_no_address(team: Account, email: str) -> None:
    with pytest.raises(seats.Refused, match="bad_email"):
        invite(team, email)


def test_a_seat_that_went_meanwhile_is_refused(team: Account, bob: User) -> None:
    token = seats.token_of(invite(team))
    Account.objects.filter(pk=team.pk).update(plan_name="free")
    with pytest.raises(seats.Refused, match="no_seat"):
        seats.accept(token, user=bob, now=NOW)


def test_a_smaller_plan_removes_nobody(team: Account, bob: User) -> None:
    joined(team, bob)
    Account.objects.filter(pk=team.pk).update(plan_name="free")
    assert seats.of(account_of(bob), NOW) == seats.Seats(limit=1, taken=2)
    assert seats.of(account_of(bob), NOW).free == 0


def test_the_last_owner_stays(team: Account, alice: User, bob: User) -> None:
    hers = membership_of(alice)
    joined(team, bob)
    with pytest.raises(seats.Refused, match="last_owner"):
        seats.remove(account=team, membership_id=hers.pk, now=NOW)
    with pytest.raises(seats.Refused, match="last_owner"):
        seats.set_role(account=team, membership_id=hers.pk, role="member")
    seats.set_role(account=team, membership_id=membership_of(bob).pk, role="owner")
    seats.remove(account=team, membership_id=hers.pk, now=NOW)
    assert [row.user for row in seats.members(team)] == [bob]


def test_an_owner_who_left_begins_anew(team: Account, alice: User, bob: User) -> None:
    joined(team, bob, role="owner")
    seats.remove(account=team, membership_id=membership_of(alice).pk, now=NOW)
    mine = membership_of(alice)
    assert (mine.account == team, mine.role, plans.plan_of(mine.account).name) == (False, Role.OWNER, "free")


def test_who_goes_loses_the_keys_of_that_account_alone(team: Account, bob: User) -> None:
    own = keys.issue(account=account_of(bob), name="own", scopes=Scope.values, now=NOW, created_by=bob).key
    membership = joined(team, bob)
    theirs = keys.issue(account=team, name="team's", scopes=Scope.values, now=NOW, created_by=bob).key
    seats.remove(account=team, membership_id=membership.pk, now=timezone.now())
    assert [ApiKey.objects.get(pk=key.pk).revoked_at is None for key in (own, theirs)] == [True, False]
    assert account_of(bob).personal_of == bob


def test_it_knows_only_its_own_members(team: Account, charlie: User) -> None:
    stranger = membership_of(charlie)
    with pytest.raises(Membership.DoesNotExist):
        seats.remove(account=team, membership_id=stranger.pk, now=NOW)
    with pytest.raises(Membership.DoesNotExist):
        seats.set_role(account=team, membership_id=stranger.pk, role="owner")


def test_one_can_work_in_each_of_ones_accounts(team: Account, bob: User) -> None:
    own = membership_of(bob)
    joined(team, bob)
    seats.choose(own, NOW + timedelta(seconds=1))
    assert account_of(bob) == own.account


@pytest.mark.django_db(transaction=True)
def test_the_last_seat_goes_to_one_of_many(alice: User) -> None:
    Account.objects.filter(pk=account_of(alice).pk).update(plan_name="pro")
    team = account_of(alice)
    found = factories.together(lambda n: invite(team, f"somebody-{n}@example.com"), 6)
    assert sum(isinstance(each, Invitation) for each in found) == 2
    assert seats.of(team, NOW).taken == 3


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_leave_at_once_leave_one(alice: User, bob: User) -> None:
    team = account_of(alice)
    both = [membership_of(alice), Membership.objects.create(account=team, user=bob, role=Role.OWNER)]
    found = factories.together(
        lambda n: seats.remove(account=team, membership_id=both[n].pk, now=NOW),
        2,
    )
    assert sum(isinstance(each, Membership) for each in found) == 1
    assert Membership.objects.filter(account=team, role=Role.OWNER).count() == 1

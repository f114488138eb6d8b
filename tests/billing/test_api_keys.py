"""Keys are known by their shape, stored as HMAC, rotated with overlap, revoked for good."""

import io
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.utils import timezone
from factories import together

from billing import keys
from billing.accounts import account_of
from billing.models import Account, ApiKey, Scope, User
from inkcloak.errors import Invalid

NOW = timezone.now()


def issue(account: Account, **fields: object) -> keys.Issued:
    return keys.issue(account=account, **{"name": "laptop", "scopes": ["checks:read"], "now": NOW} | fields)


@pytest.fixture
def account(alice: User) -> Account:
    return account_of(alice)


@pytest.mark.parametrize(("live", "start"), [(True, "ink_live_"), (False, "ink_test_")])
def test_a_key_shows_its_kind_and_carries_a_checksum(live: bool, start: str) -> None:
    token = keys.new_token(live=live)
    assert token.startswith(start)
    assert re.fullmatch(r"ink_(live|test)_[0-9A-Za-z]{38}", token)
    assert keys.checksum(token[:-6]) == token[-6:]


def test_the_checksum_is_crc32_in_base_62() -> None:
    """Whoever scans for leaked keys needs this to stay."""
    assert keys.checksum("ink_live_" + "0" * 32) == "18ZYUo"


def test_no_key_comes_twice() -> None:
    assert len({keys.new_token(live=True) for _n in range(1000)}) == 1000


def test_the_key_itself_is_stored_nowhere(account: Account) -> None:
    token = issue(account).token
    row = ApiKey.objects.values().get()
    assert token not in str(row)
    assert token[13:] not in str(row)
    assert row["hint"] == token[:13]


def test_another_pepper_knows_no_key(account: Account, settings) -> None:
    token = issue(account).token
    settings.API_KEY_PEPPER = "something else"
    with pytest.raises(keys.BadKey) as refused:
        keys.verify(token, NOW)
    assert refused.value.code == "unknown_key"


def test_a_key_survives_the_rotation_of_the_secret_key(account: Account, settings) -> None:
    token = issue(account).token
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, [settings.SECRET_KEY]
    assert keys.verify(token, NOW).account == account


def test_a_live_key_does_not_pass_for_a_test_key(account: Account) -> None:
    token = issue(account).token
    body = "ink_test_" + token.removeprefix("ink_live_")[:-6]
    with pytest.raises(keys.BadKey) as refused:
        keys.verify(body + keys.checksum(body), NOW)
    assert refused.value.code == "unknown_key"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": "  "}, "bad_key_name"),
        ({"name": "x" * 101}, "bad_key_name"),
        ({"name": "a\x00b"}, "bad_key_name"),
        ({"scopes": []}, "unknown_scope"),
        ({"scopes": ["checks:write", "everything"]}, "unknown_scope"),
        ({"expires_at": NOW}, "bad_expiry"),
    ],
)
def test_it_refuses_a_key_that_makes_no_sense(account: Account, fields: dict, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        issue(account, **fields)
    assert refused.value.code == code
    assert not ApiKey.objects.exists()


def test_an_account_has_a_limit_of_keys_that_ended_ones_do_not_count_in(account: Account, monkeypatch) -> None:
    monkeypatch.setattr(keys, "MAX_KEYS", 2)
    first = issue(account)
    issue(account)
    with pytest.raises(Invalid) as refused:
        issue(account)
    assert refused.value.code == "too_many_keys"
    keys.revoke(first.key, now=NOW)
    issue(account)


@pytest.mark.django_db(transaction=True)
def test_keys_made_at_once_pass_no_limit_together(alice: User, monkeypatch) -> None:
    account = account_of(alice)
    monkeypatch.setattr(keys, "MAX_KEYS", 3)
    made = together(lambda _n: issue(account), 8)
    assert sum(isinstance(one, keys.Issued) for one in made) == 3


def test_a_rotated_key_and_its_successor_both_work_for_a_while(account: Account) -> None:
    old = issue(account, scopes=["usage:read"], live=False)
    new = keys.rotate(old.key, now=NOW, overlap_hours=2)
    assert (new.key.scopes, new.key.live, new.key.name) == (["usage:read"], False, "laptop")
    soon, later = NOW + timedelta(hours=1), NOW + timedelta(hours=2)
    assert {keys.verify(one.token, soon).pk for one in (old, new)} == {old.key.pk, new.key.pk}
    assert keys.verify(new.token, later)
    with pytest.raises(keys.BadKey) as refused:
        keys.verify(old.token, later)
    assert refused.value.code == "expired_key"


def test_rotation_never_prolongs_the_old_key(account: Account) -> None:
    end = NOW + timedelta(hours=1)
    old = issue(account, expires_at=end)
    new = keys.rotate(old.key, now=NOW, overlap_hours=24)
    old.key.refresh_from_db()
    assert old.key.expires_at == end
    assert new.key.expires_at is not None


@pytest.mark.parametrize("hours", [-1, 721])
def test_the_overlap_has_limits(account: Account, hours: int) -> None:
    with pytest.raises(Invalid) as refused:
        keys.rotate(issue(account).key, now=NOW, overlap_hours=hours)
    assert refused.value.code == "bad_overlap"


def test_a_key_is_rotated_once(account: Account) -> None:
    old = issue(account)
    keys.rotate(old.key, now=NOW)
    with pytest.raises(Invalid) as refused:
        keys.rotate(old.key, now=NOW)
    assert refused.value.code == "key_not_rotatable"


def test_a_revoked_key_is_not_rotated(account: Account) -> None:
    old = issue(account)
    assert keys.revoke(old.key, now=NOW)
    assert not keys.revoke(old.key, now=NOW)
    with pytest.raises(Invalid):
        keys.rotate(old.key, now=NOW)


# --- manage.py create_api_key --------------------------------------------------------------------------------


def create(*arguments: str) -> str:
    out = io.StringIO()
    call_command("create_api_key", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


def test_the_command_prints_a_key_that_works(alice: User) -> None:
    key = keys.verify(create("--email", "ALICE@example.com", "--scopes", "usage:read,checks:read"), timezone.now())
    assert key.account == account_of(alice)
    assert (key.scopes, key.live, key.expires_at) == (["checks:read", "usage:read"], True, None)


def test_the_command_makes_test_keys_that_end(alice: User) -> None:
    token = create("--email", alice.email, "--test", "--days", "7", "--name", "ci")
    key = keys.verify(token, timezone.now())
    assert token.startswith("ink_test_")
    assert (key.live, key.name) == (False, "ci")
    assert timedelta(days=6) < key.expires_at - timezone.now() <= timedelta(days=7)
    assert Scope.WEBHOOKS_MANAGE not in key.scopes


def test_the_command_refuses_strangers_and_unknown_scopes(alice: User) -> None:
    with pytest.raises(CommandError, match="nobody"):
        create("--email", "nobody@example.com")
    with pytest.raises(CommandError, match="checks:read"):
        create("--email", alice.email, "--scopes", "everything")


# --- The staff's view -------------------------------------------------------------------------------------------


def test_staff_revoke_a_leaked_key_and_never_see_its_digest(account: Account, client_of) -> None:
    issued = issue(account)
    staff = client_of(User.objects.create_superuser("staff@example.com", "a long enough password"))
    page = staff.get(f"/staff/billing/apikey/{issued.key.pk}/change/").content.decode()
    assert issued.key.hint in page
    assert issued.key.digest not in page
    staff.post("/staff/billing/apikey/", {"action": "revoke", "_selected_action": [str(issued.key.pk)]})
    issued.key.refresh_from_db()
    assert issued.key.revoked_at is not None


def test_staff_without_that_right_revoke_nothing(account: Account, client_of) -> None:
    issued = issue(account)
    helper = User.objects.create_user("helper@example.com", "a long enough password", is_staff=True)
    helper.user_permissions.add(Permission.objects.get(codename="view_apikey"))
    client_of(helper).post("/staff/billing/apikey/", {"action": "revoke", "_selected_action": [str(issued.key.pk)]})
    issued.key.refresh_from_db()
    assert issued.key.revoked_at is None

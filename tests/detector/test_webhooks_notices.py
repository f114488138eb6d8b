"""Owners of an account hear by mail that we disabled its webhook; staff see webhooks, and none of their secrets."""

from collections.abc import Callable

import factories
import page_reading as pages
import pytest
import redis
import samples
import webhook_rows
from django.conf import settings
from django.core import mail
from django.test import Client
from factories import NOW
from webhook_rows import Clock, a_message, deliver

from billing.accounts import account_of
from billing.models import Membership, User
from detector import sharing, tasks, webhook_endpoints, webhook_notices
from detector.models import Share, WebhookDelivery, WebhookEndpoint
from detector.webhook_endpoints import Secret

pytestmark = pytest.mark.django_db

ADDRESS = "https://hooks.example.com/in/9f8e7d-secret-path?token=also-secret"


@pytest.fixture
def known(alice: User) -> Secret:
    return webhook_rows.endpoint(alice, ADDRESS)


def disable(known: Secret, reason: str = "gone") -> None:
    assert webhook_endpoints.disable(known.endpoint, reason, now=NOW)


@pytest.mark.parametrize(
    ("reason", "said"), [("gone", "answered with status 410"), ("failing", "none of them arrived")]
)
def test_the_owner_gets_a_mail_that_says_why_and_what_to_do(known: Secret, reason: str, said: str) -> None:
    disable(known, reason)
    tasks.tell_webhook_disabled(str(known.endpoint.pk))
    (sent,) = mail.outbox
    assert sent.to == ["alice@example.com"]
    assert sent.subject.startswith("InkCloak: Webhook disabled: hooks.example.com")
    assert said in sent.body
    assert f"{settings.PUBLIC_URL}/api/v1/webhooks/{known.endpoint.pk}" in sent.body
    for secret in ("secret", "token", known.secret):
        assert secret not in sent.body + sent.subject


def test_each_owner_gets_one_and_members_and_strangers_none(known: Secret, alice: User, bob: User) -> None:
    account = account_of(alice)
    Membership.objects.create(account=account, user=bob, role=Membership.Role.OWNER)
    colleague = User.objects.create_user("eve@example.com")
    Membership.objects.create(account=account, user=colleague)
    disable(known)
    assert webhook_notices.tell_owners(known.endpoint.pk) == 2
    assert sorted(sent.to for sent in mail.outbox) == [["alice@example.com"], ["bob@example.com"]]


@pytest.mark.parametrize("what", ["by_owner", "enabled again", "deleted", "left"])
def test_nobody_gets_one_for_what_is_no_news(known: Secret, alice: User, what: str) -> None:
    disable(known, "by_owner" if what == "by_owner" else "gone")
    if what == "enabled again":
        webhook_endpoints.update(known.endpoint, disabled=False, now=NOW)
    elif what == "deleted":
        webhook_endpoints.delete(known.endpoint)
    elif what == "left":
        User.objects.filter(pk=alice.pk).update(is_active=False)
    assert webhook_notices.tell_owners(known.endpoint.pk) == 0
    assert not mail.outbox


def test_a_delivery_that_disables_asks_a_worker_to_tell(
    alice: User, broker: redis.Redis, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    known = webhook_rows.endpoint(alice, "https://hooks.example.com/in", events=())
    delivery = a_message(known.endpoint)
    WebhookDelivery.objects.filter(pk=delivery.pk).update(attempts=8)
    with django_capture_on_commit_callbacks(execute=True):
        deliver(Clock())  # nobody answers under that name here, for the ninth time
    assert WebhookEndpoint.objects.get().disabled_reason == "failing"
    waiting = b"".join(broker.lrange("default", 0, -1))
    assert webhook_notices.TASK.encode() in waiting


# --- Staff --------------------------------------------------------------------------------------------------


@pytest.fixture
def staff(client_of: Callable[[User], Client]) -> Client:
    return client_of(User.objects.create_superuser("staff@example.com"))


def test_staff_see_webhooks_and_their_log_without_secrets_or_messages(known: Secret, staff: Client) -> None:
    delivery = a_message(known.endpoint)
    disable(known)
    addresses = [
        "/staff/detector/webhookendpoint/",
        f"/staff/detector/webhookendpoint/{known.endpoint.pk}/change/",
        "/staff/detector/webhookdelivery/",
        f"/staff/detector/webhookdelivery/{delivery.pk}/change/",
    ]
    for address in addresses:
        page = staff.get(address)
        content = pages.html(page)
        assert page.status_code == 200
        assert "hooks.example.com" in content
        for hidden in ("secret", "whsec_", known.endpoint.sealed_secret, "timestamp"):
            assert hidden not in content, address
    assert "Gone" in pages.html(staff.get(addresses[0]))
    assert delivery.event.message_id in pages.html(staff.get(addresses[3]))


@pytest.mark.parametrize("name", ["webhookendpoint", "webhookdelivery", "share"])
@pytest.mark.usefixtures("champion")
def test_staff_change_nothing_there(known: Secret, alice: User, staff: Client, name: str) -> None:
    rows = {
        "webhookendpoint": known.endpoint,
        "webhookdelivery": a_message(known.endpoint),
        "share": sharing.create(factories.checked(factories.owner(alice), samples.AI), now=NOW),
    }
    row = rows[name]
    before = type(row).objects.filter(pk=row.pk).values().get()
    assert staff.get(f"/staff/detector/{name}/add/").status_code == 403
    for verb in ("change", "delete"):
        assert staff.post(f"/staff/detector/{name}/{row.pk}/{verb}/", {"post": "yes"}).status_code == 403
    assert type(row).objects.filter(pk=row.pk).values().get() == before


@pytest.mark.usefixtures("champion")
def test_a_superuser_takes_a_link_down(alice: User, staff: Client) -> None:
    checked = factories.checked(factories.owner(alice), samples.AI)
    share = sharing.create(checked, now=NOW)
    listed = pages.html(staff.get("/staff/detector/share/"))
    assert str(share.pk) in listed
    assert share.sealed_token not in listed
    assert str(sharing.link_token(share)) not in listed
    staff.post("/staff/detector/share/", {"action": "revoke", "_selected_action": [str(share.pk)]})
    assert not Share.objects.exists()

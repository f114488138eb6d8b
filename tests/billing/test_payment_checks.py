"""Key, mode and address must agree before anything starts."""

import pytest
from django.conf import LazySettings

from billing import checks
from billing.accounts import account_of
from billing.models import StripeCustomer, User

REAL, LOOPBACK = "https://api.stripe.com", "http://127.0.0.1:12111"


def ids() -> set[str | None]:
    every = (checks.key_is_one, checks.key_and_address_agree, checks.webhooks_can_be_verified)
    every += (checks.exchange_rates_are_rates,)
    return {found.id for check in every for found in check(None)}


@pytest.mark.parametrize(
    ("key", "base", "debug", "problems"),
    [
        ("", LOOPBACK, False, set()),
        ("sk_test_1234", LOOPBACK, True, set()),
        ("sk_test_1234", REAL, False, set()),
        ("rk_live_1234", REAL, False, set()),
        ("sk_live_1234", REAL, True, {"billing.E002"}),
        ("sk_live_1234", LOOPBACK, True, {"billing.E002"}),
        ("sk_live_1234", LOOPBACK, False, {"billing.E002", "billing.E003"}),
        ("sk_test_1234", LOOPBACK, False, {"billing.E003"}),
        ("sk_test_1234", "http://api.stripe.com", False, {"billing.E004"}),
        ("sk_test_1234", "nonsense", False, {"billing.E004"}),
        ("pk_test_1234", REAL, False, {"billing.E001"}),
        ("sk_test_", REAL, False, {"billing.E001"}),
        ("nonsense", REAL, False, {"billing.E001"}),
    ],
)
def test_they_agree_or_say_what_does_not(
    settings: LazySettings, key: str, base: str, debug: bool, problems: set[str]
) -> None:
    settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE, settings.DEBUG = key, base, debug
    settings.STRIPE_WEBHOOK_SECRETS = ["whsec_1"]
    assert ids() == problems


def test_webhooks_need_a_secret_that_is_one_and_rates_a_number(settings: LazySettings) -> None:
    settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE = "sk_test_1234", REAL
    settings.STRIPE_WEBHOOK_SECRETS = []
    assert ids() == {"billing.W001"}
    settings.STRIPE_WEBHOOK_SECRETS, settings.EXCHANGE_RATES = ["whsec_1", "sk_test_1234"], ["EUR"]
    assert ids() == {"billing.E006", "billing.E007"}


def test_a_test_key_does_not_start_with_live_rows(alice: User, settings: LazySettings) -> None:
    settings.STRIPE_SECRET_KEY = "sk_test_1234"
    assert checks.key_and_rows_agree(None) == []
    StripeCustomer.objects.create(account=account_of(alice), stripe_id="cus_1", livemode=True)
    (problem,) = checks.key_and_rows_agree(None)
    assert problem.id == "billing.E005"
    settings.STRIPE_SECRET_KEY = "sk_live_1234"
    assert checks.key_and_rows_agree(None) == []

"""Keys, and requests that carry them."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User

MadeKey = Callable[..., keys.Issued]


@pytest.fixture
def key_of(db: None) -> MadeKey:
    """key_of(alice, scopes=[…]): a key of her account."""

    def made(user: User, **fields: object) -> keys.Issued:
        usual = {"name": "laptop", "scopes": Scope.values, "now": timezone.now(), "created_by": user}
        return keys.issue(account=account_of(user), **usual | fields)

    return made


@pytest.fixture
def api(alice: User, key_of: MadeKey) -> Client:
    """A program with a key of Alice's that may do everything."""
    return Client(headers={"Authorization": f"Bearer {key_of(alice).token}"})

"""Who calls: a person's account with a live key and a test key, and somebody without any."""

from collections.abc import Callable
from dataclasses import dataclass

LIVE, TEST, NOBODY = "live key", "test key", "no key"
# For `manage.py shell -c`: the product may run in other processes only.
MAKE_KEYS = """
import uuid
from django.utils import timezone
from billing import keys
from billing.accounts import account_of
from billing.models import Scope, User
account = account_of(User.objects.create_user(f"fuzz-{uuid.uuid4().hex}@example.com", uuid.uuid4().hex))
for live in (True, False):
    made = keys.issue(account=account, name="fuzz", scopes=Scope.values, now=timezone.now(), live=live)
    print("key:", made.token)
"""


@dataclass(frozen=True)
class Caller:
    """token: empty for nobody."""

    name: str
    token: str = ""


def made(shell: Callable[[str], str]) -> list[Caller]:
    """The three of them, the one with the most to do last.

    shell: runs Python in the product's Django and gives what it printed.
    """
    tokens = [line.removeprefix("key: ") for line in shell(MAKE_KEYS).splitlines() if line.startswith("key: ")]
    live, test = tokens
    return [Caller(NOBODY), Caller(TEST, test), Caller(LIVE, live)]

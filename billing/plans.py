"""What an account may use. Until plans can be bought, everybody has the free one; our own account has no limit."""

from dataclasses import dataclass

from django.conf import settings

from billing.models import Account

INTERNAL_WORDS_PER_MONTH = 10**12
INTERNAL_REQUESTS_PER_MINUTE = 10**6


@dataclass(frozen=True, slots=True)
class Plan:
    """name: stable, for programs."""

    name: str
    words_per_month: int
    requests_per_minute: int


def plan_of(account: Account) -> Plan:
    """The plan in force."""
    if account.internal:
        return Plan("internal", INTERNAL_WORDS_PER_MONTH, INTERNAL_REQUESTS_PER_MINUTE)
    return Plan("free", settings.FREE_WORDS_PER_MONTH, settings.API_REQUESTS_PER_MINUTE)

"""System checks of what GPUs may cost: nonsense in the settings stops the start, with an id and the fix."""

from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from gpujobs.models import Service


@register()
def budgets_make_sense(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """A budget in a zone that there is none of could never be read, and would refuse all GPU work."""
    found: list[CheckMessage] = []
    try:
        ZoneInfo(settings.BUDGET_ZONE)
    except (LookupError, ValueError):
        hint = "Take an IANA name, as in Europe/Madrid or UTC."
        found.append(Error("BUDGET_ZONE names no time zone", hint=hint, id="gpujobs.E001"))
    if not 1 <= settings.BUDGET_SOFT_PERCENT <= 100:
        hint = "From this part of a limit on it warns: 80 is usual."
        found.append(Error("BUDGET_SOFT_PERCENT is not 1 to 100", hint=hint, id="gpujobs.E002"))
    return found + _contradictions()


@register()
def alerts_have_an_address(app_configs: Any, **_kwargs: Any) -> list[CheckMessage]:
    """Alerts name what is spent: they don't travel in the clear."""
    if not settings.ALERT_WEBHOOK_URL:
        return []
    try:
        address = urlsplit(settings.ALERT_WEBHOOK_URL)
        good = address.scheme == "https" and bool(address.hostname) and address.port != 0
    except ValueError:
        good = False
    hint = "Copy the incoming webhook's whole address from the chat, or leave it empty: the staff get mails anyway."
    return [] if good else [Error("ALERT_WEBHOOK_URL is no https address", hint=hint, id="gpujobs.E003")]


def _contradictions() -> list[CheckMessage]:
    """Limits that can never be reached, as another one is reached before."""
    limits = settings.BUDGETS_NANOUSD
    found: list[CheckMessage] = []
    for whose in ("global", *Service.values, "account"):
        day, month = limits.get(f"{whose}-day"), limits.get(f"{whose}-month")
        if day is not None and month is not None and day > month:
            text = f"BUDGET_{whose.upper()}_DAY_USD is more than a month may cost"
            found.append(Warning(text, hint="The month's budget is used up first.", id="gpujobs.W001"))
    for service in Service.values:
        for period in ("day", "month"):
            part, whole = limits.get(f"{service}-{period}"), limits.get(f"global-{period}")
            if part is not None and whole is not None and part > whole:
                text = f"BUDGET_{service.upper()}_{period.upper()}_USD is more than everything together may cost"
                found.append(Warning(text, hint="The global budget is used up first.", id="gpujobs.W002"))
    return found

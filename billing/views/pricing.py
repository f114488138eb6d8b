"""The public page about plans and prices: one table, plans.toml. The address says how: ?per=year&currency=eur."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from billing import plans, standing, stripe_client
from billing.accounts import membership_of
from billing.models import Membership
from billing.plans import MONTH, YEAR, Plan
from billing.standing import Standing
from billing.views.frame import leads_to_stripe, person, plan_name, private

MONTHS = 12


@dataclass(frozen=True, slots=True)
class Offer:
    """A plan as the page shows it. Amounts are minor units of the chosen currency.

    cents: of one interval; None for what costs nothing.  month_cents: a twelfth of a year, rounded up.  saved_cents: of
    a year against twelve months.  by_year: it is what the reader has, paid by the month until now.
    """

    plan: Plan
    name: str
    cents: int | None
    month_cents: int | None
    saved_cents: int
    is_mine: bool
    by_year: bool


@leads_to_stripe
@require_safe
def show(request: HttpRequest) -> HttpResponse:
    interval, currency = choice(request)
    mine = membership_of(person(request)) if request.user.is_authenticated else None
    stands = standing.of(mine.account, timezone.now()) if mine else None
    have = stands.plan if stands else None
    context: dict[str, Any] = {
        "offers": [_offer(plan, interval, currency, stands) for plan in plans.current()],
        "interval": interval,
        "currency": currency,
        "currencies": plans.CURRENCIES,
        "set_up": stripe_client.is_set_up(),
        "reuse_days": settings.REUSE_DAYS,
        "visitor_checks": settings.VISITOR_CHECKS_PER_DAY,
        "have": have,
        "kept": have is not None and have not in plans.current(),
        "has_name": plan_name(have.name) if have else "",
        "subscribed": stands is not None and stands.is_subscribed,
        "can_change": stands is not None and stands.can_change,
        "may_pay": mine is not None and mine.role != Membership.Role.MEMBER,
    }
    page = render(request, "billing/pricing.html", context)
    return private(page) if mine else page


def choice(request: HttpRequest) -> tuple[str, str]:
    """Interval and currency by the address; without good ones a month, in the currency that the language suggests."""
    interval = request.GET.get("per", "")
    currency = request.GET.get("currency", "")
    usual = "eur" if (get_language() or "en").startswith("es") else "usd"
    return (
        interval if interval in plans.INTERVALS else MONTH,
        currency if currency in plans.CURRENCIES else usual,
    )


def _offer(plan: Plan, interval: str, currency: str, stands: Standing | None) -> Offer:
    is_mine = stands is not None and (stands.plan.name, stands.plan.version) == (plan.name, plan.version)
    row = stands.subscription if stands and stands.can_change else None
    cents = plan.prices.get((interval, currency))
    year, month = plan.prices.get((YEAR, currency)), plan.prices.get((MONTH, currency))
    return Offer(
        plan=plan,
        name=plan_name(plan.name),
        cents=cents,
        month_cents=-(-cents // MONTHS) if cents is not None and interval == YEAR else None,
        saved_cents=max(0, MONTHS * month - year) if interval == YEAR and month and year else 0,
        is_mine=is_mine,
        by_year=is_mine and row is not None and (row.interval, interval) == (MONTH, YEAR),
    )

"""What the pages about plan, payment and team share."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from urllib.parse import urlsplit

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import pgettext

from billing.models import User

View = Callable[..., HttpResponse]
STRIPE_PAGES = ("https://checkout.stripe.com", "https://billing.stripe.com")
STRIPE_API_HOST = "api.stripe.com"


def person(request: HttpRequest) -> User:
    """Who is signed in: only where the page asks for that."""
    return cast(User, request.user)


def private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store, private"
    return response


def plan_name(name: str) -> str:
    """As people read it; the names of what is sold are the same in every language."""
    return pgettext("a plan", "Free") if name == "free" else name.capitalize()


def leads_to_stripe(view: View) -> View:
    """For pages with forms whose answer sends the browser to Stripe's pages: browsers hold redirects against the
    policy's form-action, too."""

    @wraps(view)
    def allowed(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return cast(HttpResponse, csp_update({"form-action": _stripe_origins()})(view)(request, *args, **kwargs))

    return allowed


def _stripe_origins() -> list[str]:
    """Stripe's pages; beside a Stripe on loopback, its pages."""
    base = urlsplit(settings.STRIPE_API_BASE)
    if base.hostname == STRIPE_API_HOST:
        return list(STRIPE_PAGES)
    return [*STRIPE_PAGES, f"{base.scheme}://{base.netloc}"]

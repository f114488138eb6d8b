"""Pages about the product, and the choice of colours."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from detector import intake
from detector.verdicts import ANY_GENRE, cards_under
from detector.views.offer import caps_of, champion

THEME_COOKIE = "theme"
THEMES = ("auto", "light", "dark")
YEAR_SECONDS = 365 * 24 * 3600


@require_safe
def how_it_works(request: HttpRequest) -> HttpResponse:
    """Every figure on it comes from the manifest of the model in service."""
    model = champion()
    context: dict[str, Any] = {"model": model, "max_characters": intake.MAX_CHARACTERS}
    if model is not None:
        context |= {
            "caps": caps_of(model.manifest),
            "min_words": model.manifest["min_words"],
            "rates": _rates(model.manifest),
            "languages": model.manifest["languages"],
        }
    return render(request, "detector/how_it_works.html", context)


def _rates(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The rate card's lines over all genres under the default cap."""
    lines = cards_under(manifest, float(manifest["default_max_fpr"]))
    return [card for card in lines if card["genre"] == ANY_GENRE]


@require_safe
def privacy(request: HttpRequest) -> HttpResponse:
    context = {
        "visitor_days": settings.VISITOR_RETENTION_DAYS,
        "account_days": settings.ACCOUNT_RETENTION_DAYS,
    }
    return render(request, "detector/privacy.html", context)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Remembered in a cookie, so that the server paints the right colours first."""
    chosen = request.POST.get("theme", "")
    following = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(following, {request.get_host()}, request.is_secure()):
        following = "/"
    response = redirect(following)
    if chosen in THEMES:
        response.set_cookie(THEME_COOKIE, chosen, max_age=YEAR_SECONDS, samesite="Lax", secure=request.is_secure())
    return response

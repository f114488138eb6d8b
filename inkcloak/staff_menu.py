"""How the admin looks and where its menu leads: the setting UNFOLD. Read by settings.py, so it needs none itself."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.utils.translation import gettext_lazy as _

# The product's own petrol, from light to dark.
PETROL = {
    "50": "#eef6f6", "100": "#d9ebec", "200": "#b5d8da", "300": "#86bec3", "400": "#4f9ca5", "500": "#2c808b",
    "600": "#0b5563", "700": "#094855", "800": "#073e49", "900": "#06313a", "950": "#031d23",
}  # fmt: skip
# The staff's own pages, beside the admin: name, symbol, address. Addresses, since these pages are another app's.
PAGES = (
    (_("Costs"), "payments", "/staff/costs/"),
    (_("The week's report"), "summarize", "/staff/costs/week/"),
    (_("Alerts"), "notifications", "/staff/alerts/"),
    (_("GPU"), "memory", "/staff/gpu/"),
    (_("Planner"), "calculate", "/staff/plan/"),
)


def _favicon(_request: HttpRequest) -> str:
    return static("inkcloak/favicon.svg")


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "InkCloak",
    "SITE_HEADER": "InkCloak",
    "SITE_SUBHEADER": _("Staff"),
    "SITE_SYMBOL": "ink_pen",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _favicon}],
    "SHOW_VIEW_ON_SITE": False,
    "ENVIRONMENT": "inkcloak.staff_site.environment",
    "BORDER_RADIUS": "8px",
    "COLORS": {"primary": PETROL},
    "SIDEBAR": {
        "show_search": True,
        "show_all_applications": True,
        "navigation": [
            {
                "title": _("Running it"),
                "items": [{"title": title, "icon": icon, "link": link} for title, icon, link in PAGES],
            },
        ],
    },
}

"""The admin's site: django-unfold's, entered through the product's own login, under a policy that its scripts can bear.

StaffSite        what `django.contrib.admin.site` is (inkcloak.admin_app.StaffAdminConfig)
environment()    which installation this is, for the label beside the page's name

Unfold's Alpine evaluates what stands in attributes, and sets styles: both are refused everywhere else on this site. So
only responses of the admin's own views carry the looser policy; the staff's own pages beside it keep the strict one.
"""

from collections.abc import Callable
from typing import Any

from allauth.account.decorators import secure_admin_login
from csp.constants import UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from unfold.sites import UnfoldAdminSite

LOOSER = {"script-src": [UNSAFE_EVAL], "style-src": [UNSAFE_INLINE]}
View = Callable[..., HttpResponse]


class StaffSite(UnfoldAdminSite):  # type: ignore[misc]
    """Sign-in, second factor, password and sign-out are allauth's alone: one way in, one place that guards it."""

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        guarded: View = csp_update(LOOSER)(super().admin_view(view, cacheable))  # type: ignore[assignment]
        return guarded

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Visitors go to the login that asks for the second factor too; who is no staff gets a 403."""
        return secure_admin_login(self._signed_in)(request)  # type: ignore[no-any-return]

    def _signed_in(self, request: HttpRequest) -> HttpResponse:
        return redirect(f"{self.name}:index")

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return redirect("account_logout")

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return redirect("account_change_password")


def environment(_request: HttpRequest) -> list[str]:
    """Label and colour: nobody should take a rehearsal for the real thing, or the other way round."""
    if settings.RUNPOD_LOOPBACK_URL:
        return [_("rehearsal"), "warning"]
    return [_("development"), "info"] if settings.DEBUG else [_("live"), "danger"]

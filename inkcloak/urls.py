"""Addresses. Apps are named as strings: this package imports none of them."""

from django.contrib import admin
from django.urls import include, path

from inkcloak.health import healthz

handler400 = "detector.views.errors.bad_request"
handler403 = "detector.views.errors.forbidden"
handler404 = "detector.views.errors.not_found"
handler500 = "detector.views.errors.server_error"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("accounts/", include("allauth.urls")),
    path("staff/", include("detector.staff_urls")),
    path("staff/", admin.site.urls),
    path("api/v1/", include("detector.api.urls")),
    path("api/", include("inkcloak.docs_urls")),
    path("api/", include("billing.api.urls")),
    path("", include("billing.urls")),
    path("", include("detector.urls")),
]

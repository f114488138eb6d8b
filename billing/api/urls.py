"""Addresses of the API that are about the account, and what answers where there is nothing.

Included last of all that lies below `/api/`: the pattern at the end takes everything.
"""

from django.urls import path, re_path

from billing.api import base, views

app_name = "billing_api"
urlpatterns = [
    path("v1/usage", views.UsageView.as_view(), name="usage"),
    path("v1/usage/entries", views.EntriesView.as_view(), name="entries"),
    re_path(r"^(?!docs/)", base.NothingHere.as_view()),
]

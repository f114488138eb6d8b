"""The contract and its pages."""

from django.urls import path

from inkcloak import docs, openapi

app_name = "docs"
urlpatterns = [
    path("schema/", openapi.schema, name="schema"),
    path("docs/", docs.reference, name="reference"),
    path("docs/errors", docs.errors, name="errors"),
]

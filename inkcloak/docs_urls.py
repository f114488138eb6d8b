"""The contract and its pages."""

from django.urls import path

from inkcloak import docs, openapi

app_name = "docs"
urlpatterns = [
    path("schema/", openapi.schema, name="schema"),
    path("schema.json", openapi.schema_file, name="schema_file"),
    path("docs/", docs.reference, name="reference"),
    path("docs/quickstart/", docs.quickstart, name="quickstart"),
    path("docs/changelog/", docs.changelog, name="changelog"),
    path("docs/errors", docs.errors, name="errors"),
]

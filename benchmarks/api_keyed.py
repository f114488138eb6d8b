"""The product's web process with two addresses more: one view that asks for a key, and the same that doesn't.

An ASGI application; `make bench-api` holds both against each other.
"""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")

from inkcloak.asgi import application

__all__ = ["application"]

from django.db import connection
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from billing.authentication import ApiKeyAuthentication
from billing.permissions import HasKey
from inkcloak import urls


class Open(APIView):
    """Anybody's. Takes a connection of the database, as every view of ours does: that is no part of a key's check."""

    authentication_classes = []
    permission_classes = []

    def get(self, request: Request) -> Response:
        connection.ensure_connection()
        return Response({"used": 1, "left": 2})


class Keyed(Open):
    """Whose key is good."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasKey]


# In front: below /api/ the last of the product's addresses catches everything.
urls.urlpatterns[:0] = [path("api/bench/open", Open.as_view()), path("api/bench/keyed", Keyed.as_view())]

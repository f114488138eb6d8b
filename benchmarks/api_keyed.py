"""The product's web process with two addresses more: one view that asks for a key, and the same that doesn't.

An ASGI application; `make bench-api` holds both against each other.
"""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inkcloak.settings")

from inkcloak.asgi import application

__all__ = ["application"]

from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from billing.authentication import ApiKeyAuthentication
from billing.permissions import HasKey
from inkcloak import urls


class Open(APIView):
    """Anybody's."""

    authentication_classes = []
    permission_classes = []

    def get(self, request: Request) -> Response:
        return Response({"used": 1, "left": 2})


class Keyed(Open):
    """Whose key is good."""

    authentication_classes = [ApiKeyAuthentication]
    permission_classes = [HasKey]


# In front: below /api/ the last of the product's addresses catches everything.
urls.urlpatterns[:0] = [path("api/bench/open", Open.as_view()), path("api/bench/keyed", Keyed.as_view())]

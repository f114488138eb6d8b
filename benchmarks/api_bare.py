"""The peer of `make bench-api`: the least that REST framework needs to answer a small JSON. An ASGI application.

The same server, one process of it, the same framework and its usual view, which is synchronous as ours are. No key, no
limit, no database, no middleware.
"""

from typing import Any

from django.conf import settings

settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1"],
    USE_TZ=True,
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": [],
        "DEFAULT_PERMISSION_CLASSES": [],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
        "UNAUTHENTICATED_USER": None,
    },
)

from django.core.asgi import get_asgi_application  # noqa: E402  reads the settings

application = get_asgi_application()

from django.urls import path  # noqa: E402
from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.views import APIView  # noqa: E402


class Small(APIView):
    def get(self, request: Request) -> Response:
        """Two fields."""
        return Response({"used": 1, "left": 2})


urlpatterns: list[Any] = [path("small", Small.as_view())]

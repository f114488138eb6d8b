"""The contract as OpenAPI 3.1: what clients are made from."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularJSONAPIView


class SchemaView(SpectacularJSONAPIView):
    """Public and the same for everybody."""

    authentication_classes = []
    permission_classes = []


class BearerKey(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How a key is sent, in the contract's words."""

    target_class = "billing.authentication.ApiKeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "ink_live_… or ink_test_…"}

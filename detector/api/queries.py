"""What may stand in an address: strings there, and still nothing that only resembles what is meant."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from detector.api.serializers import StrictSerializer


@extend_schema_field({"type": "boolean"})
class QueryFlag(serializers.Field[Any, Any, Any, Any]):
    """`true` or `false`."""

    default_error_messages = {"invalid": _("This must be true or false.")}
    VALUES = {"true": True, "false": False}

    def to_internal_value(self, data: Any) -> bool:
        if data not in self.VALUES:
            self.fail("invalid")
        return self.VALUES[data]

    def to_representation(self, value: Any) -> Any:
        return value


def read(shape: type[StrictSerializer], request: Request) -> dict[str, Any]:
    """The parameters of an address. Raises ValidationError for faults, and for names that don't exist."""
    asked = shape(data=request.query_params.dict())
    asked.is_valid(raise_exception=True)
    found: dict[str, Any] = asked.validated_data
    return found

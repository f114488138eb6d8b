"""ReadOnly: an admin page of rows that the product alone writes."""

from typing import Any

from django.http import HttpRequest
from unfold.admin import ModelAdmin


class ReadOnly(ModelAdmin):  # type: ignore[misc]
    """Nothing is added, changed or deleted by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

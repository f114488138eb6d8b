"""Admin pages of rows that the product alone writes: ReadOnly, also for inlines, and ReadOnlyAdmin."""

from typing import Any

from django.http import HttpRequest
from unfold.admin import ModelAdmin


class ReadOnly:
    """Nothing is added, changed or deleted by hand."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, ModelAdmin):  # type: ignore[misc]
    """A model's page for looking only."""

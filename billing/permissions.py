"""What a key may do: one scope a view, or a live key where made-up answers make no sense."""

from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from billing.models import ApiKey, Scope


class HasKey(BasePermission):
    """Any good key."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, ApiKey)


class HasScope(HasKey):
    """Use as `permission_classes = [HasScope.of("checks:write")]`."""

    scope: str = ""
    code = "missing_scope"

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, ApiKey) and request.auth.has_scope(self.scope)

    @classmethod
    def of(cls, scope: str) -> "type[HasScope]":
        """The permission that asks for this scope. Raises ValueError for one that does not exist."""
        name = Scope(scope).value
        message = format_lazy("{} {}", _("This API key lacks the scope"), name)
        return type("HasScope", (cls,), {"scope": name, "message": message})


class IsLive(HasKey):
    """Refuses test keys."""

    code = "wrong_environment"
    message = _("This needs a live key (ink_live_…): a test key changes nothing.")

    def has_permission(self, request: Request, view: Any) -> bool:
        return isinstance(request.auth, ApiKey) and request.auth.live

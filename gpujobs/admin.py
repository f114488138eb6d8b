"""Staff's view of models and runs. Read-only: versions never change, and runs are moved by gpujobs.runs alone."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline

from gpujobs import budget_admin, price_admin  # noqa: F401 (registers)
from gpujobs.models import AliasMove, GpuRun, ModelAlias, ModelVersion, RoutingChange, RunEvent
from inkcloak.read_only_admin import ReadOnly, ReadOnlyAdmin


class RunEvents(ReadOnly, TabularInline):  # type: ignore[misc]
    model = RunEvent


@admin.register(GpuRun)
class GpuRunAdmin(ReadOnlyAdmin):
    list_display = ("id", "status", "backend", "model_version", "texts", "tokens", "execution_ms", "created_at")
    list_filter = ("status", "backend", "model_version")
    exclude = ("result",)  # offsets tell the shape of a customer's text
    inlines = (RunEvents,)


@admin.register(RoutingChange)
class RoutingChangeAdmin(ModelAdmin):  # type: ignore[misc]
    """Adding one is how the policy is set aside; another one takes it back, so that what was when stays known."""

    list_display = ("changed_at", "policy", "until", "reason", "changed_by")
    fields = ("policy", "until", "reason")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: RoutingChange, form: Any, change: bool) -> None:
        obj.changed_by_id = request.user.pk
        super().save_model(request, obj, form, change)


@admin.register(ModelVersion)
class ModelVersionAdmin(ReadOnlyAdmin):
    list_display = ("version", "name", "created_at")


@admin.register(ModelAlias)
class ModelAliasAdmin(ReadOnlyAdmin):
    list_display = ("name", "version")


@admin.register(AliasMove)
class AliasMoveAdmin(ReadOnlyAdmin):
    list_display = ("alias", "previous", "current", "reason", "moved_by", "moved_at")

"""Staff's view of people, accounts and allowances. Meters are moved by billing.quota alone."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from billing import keys
from billing.models import Account, ApiKey, Membership, Meter, User, WordEntry


class Memberships(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    extra = 0


@admin.register(User)
class UserAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("email", "is_staff", "is_active", "date_joined")
    search_fields = ("email",)
    fields = ("email", "is_active", "is_staff", "is_superuser", "groups", "last_login", "date_joined")
    readonly_fields = ("last_login", "date_joined")


@admin.register(Account)
class AccountAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("name", "internal", "created_at")
    search_fields = ("name",)
    inlines = (Memberships,)


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Written by the product alone."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Meter)
class MeterAdmin(ReadOnly):
    list_display = ("holder", "unit", "period_start", "used", "held", "limit")


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnly):
    """Who holds keys. A leaked one can be revoked here too."""

    list_display = ("hint", "name", "account", "live", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("account",)
    search_fields = ("hint", "account__name")
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description="Revoke: refused from the next request on", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: "QuerySet[ApiKey]") -> None:
        revoked = [key for key in queryset if keys.revoke(key, now=timezone.now())]
        self.message_user(request, f"Revoked: {len(revoked)}")

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)


@admin.register(WordEntry)
class WordEntryAdmin(ReadOnly):
    list_display = ("at", "account", "kind", "words", "check_id")
    list_filter = ("kind",)
    list_select_related = ("account",)

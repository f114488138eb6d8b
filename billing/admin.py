"""Staff's view of people, accounts and allowances. Meters are moved by billing.quota alone."""

from django.contrib import admin
from django.http import HttpRequest

from billing.models import Account, Membership, Meter, User


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


@admin.register(Meter)
class MeterAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("holder", "unit", "period_start", "used", "held", "limit")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Meter | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Meter | None = None) -> bool:
        return False

"""Staff's view of people, accounts and allowances. Meters are moved by billing.quota alone."""

from typing import Any

from allauth.account.admin import EmailAddressAdmin
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import ModelAdmin, TabularInline

from billing import (
    keys,
    payment_admin,  # noqa: F401 (registers its pages)
)
from billing.models import Account, ApiKey, Membership, Meter, User, WordEntry
from inkcloak.read_only_admin import ReadOnlyAdmin


class Memberships(TabularInline):  # type: ignore[misc]
    model = Membership
    extra = 0


@admin.register(User)
class UserAdmin(ModelAdmin):  # type: ignore[misc]
    list_display = ("email", "is_staff", "is_active", "date_joined")
    search_fields = ("email",)
    fields = ("email", "is_active", "is_staff", "is_superuser", "groups", "last_login", "date_joined")
    readonly_fields = ("last_login", "date_joined")


@admin.register(Account)
class AccountAdmin(ModelAdmin):  # type: ignore[misc]
    list_display = ("name", "plan_name", "plan_until", "internal", "created_at")
    list_filter = ("plan_name",)
    readonly_fields = ("plan_name", "plan_version", "plan_until", "next_plan_name", "next_plan_version")
    search_fields = ("name",)
    inlines = (Memberships,)


@admin.register(Meter)
class MeterAdmin(ReadOnlyAdmin):
    list_display = ("holder", "unit", "period_start", "used", "held", "limit")


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
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
class WordEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "account", "kind", "words", "check_id")
    list_filter = ("kind",)
    list_select_related = ("account",)


# --- Other packages' models, in the admin's own look -----------------------------------------------------------------

admin.site.unregister((Group, EmailAddress, Authenticator))


@admin.register(Group)
class Groups(GroupAdmin, ModelAdmin):  # type: ignore[misc]
    pass


@admin.register(EmailAddress)
class EmailAddresses(EmailAddressAdmin, ModelAdmin):  # type: ignore[misc]
    pass


@admin.register(Authenticator)
class SecondFactors(ReadOnlyAdmin):
    """That somebody has one, and since when; its secret is shown to nobody. Deleting it lets a person in again who
    lost it."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_select_related = ("user",)
    exclude = ("data",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

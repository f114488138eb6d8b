"""Staff's view of payment: events with replay, and what Stripe said of customers, subscriptions, invoices and money."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from billing import webhooks
from billing.models import Checkout, Invoice, RevenueEntry, StripeCustomer, StripeEvent, Subscription
from inkcloak.read_only_admin import ReadOnlyAdmin


@admin.register(StripeEvent)
class StripeEventAdmin(ReadOnlyAdmin):
    """What came, what became of it, and what waits with which error."""

    list_display = ("received_at", "type", "object_id", "outcome", "done_at", "attempts", "error_code", "livemode")
    list_filter = ("outcome", "error_code", "source", "livemode", ("done_at", admin.EmptyFieldListFilter))
    search_fields = ("event_id", "object_id", "type")
    ordering = ("-received_at",)
    actions = ("replay",)

    @admin.action(description=_("Do it again: asks Stripe how things stand"), permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: "QuerySet[StripeEvent]") -> None:
        for event in queryset:
            webhooks.replay(event, now=timezone.now())
        self.message_user(request, _("Put in line: %(count)d") % {"count": len(queryset)})

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)


@admin.register(Subscription)
class SubscriptionAdmin(ReadOnlyAdmin):
    list_display = ("account", "plan", "interval", "currency", "status", "period_end", "cancels_at", "livemode")
    list_filter = ("status", "plan", "interval", "currency", "livemode")
    list_select_related = ("account",)
    search_fields = ("stripe_id", "customer_id", "account__name")


@admin.register(Invoice)
class InvoiceAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "account", "number", "status", "plan", "total_cents", "paid_cents", "currency")
    list_filter = ("status", "plan", "currency", "livemode")
    list_select_related = ("account",)
    search_fields = ("stripe_id", "number", "account__name")
    ordering = ("-created_at",)


@admin.register(RevenueEntry)
class RevenueEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "kind", "amount_cents", "currency", "plan", "account_id", "invoice", "livemode")
    list_filter = ("kind", "plan", "currency", "livemode")
    search_fields = ("effect_key", "invoice")
    ordering = ("-at",)


@admin.register(StripeCustomer)
class StripeCustomerAdmin(ReadOnlyAdmin):
    list_display = ("account", "stripe_id", "livemode", "created_at", "deleted_at")
    list_select_related = ("account",)
    search_fields = ("stripe_id", "account__name")


@admin.register(Checkout)
class CheckoutAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "account", "lookup_key", "status", "livemode")
    list_filter = ("status", "livemode")
    list_select_related = ("account",)
    exclude = ("url",)

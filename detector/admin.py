"""Staff's view of checks, webhooks and share links: looking only. No secret, message or text; of addresses, hosts."""

from urllib.parse import urlsplit

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from detector import economics, sharing
from detector.models import Share, Submission, WebhookDelivery, WebhookEndpoint
from inkcloak import money
from inkcloak.read_only_admin import ReadOnlyAdmin


class Log(ReadOnlyAdmin):
    """Written by the product alone."""

    show_full_result_count = False  # the log is long, and counting it reads it whole


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(Log):
    """Where accounts want to hear of things, and whether we gave up on it."""

    list_display = ("id", "account", "host", "events", "created_at", "disabled_at", "disabled_reason")
    list_filter = ("disabled_reason",)
    list_select_related = ("account",)
    search_fields = ("id", "account__name")
    fields = (
        "id",
        "account",
        "host",
        "events",
        "created_at",
        "disabled_at",
        "disabled_reason",
        "previous_valid_until",
    )
    readonly_fields = fields

    @admin.display(description="host")
    def host(self, endpoint: WebhookEndpoint) -> str:
        return urlsplit(endpoint.url).hostname or ""


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(Log):
    """The log, without what was sent."""

    list_display = (
        "id",
        "host",
        "type",
        "status",
        "attempts",
        "last_status_code",
        "last_error",
        "created_at",
        "next_attempt_at",
        "finished_at",
    )
    list_filter = ("status", "last_error")
    list_select_related = ("endpoint", "event")
    search_fields = ("id", "endpoint__id")
    ordering = ("-created_at", "id")
    fields = (
        "id",
        "message",
        "host",
        "type",
        "status",
        "attempts",
        "last_attempt_at",
        "last_status_code",
        "last_error",
        "next_attempt_at",
        "created_at",
        "finished_at",
    )
    readonly_fields = fields

    @admin.display(description="host")
    def host(self, delivery: WebhookDelivery) -> str:
        return urlsplit(delivery.endpoint.url).hostname or ""

    @admin.display(description="type")
    def type(self, delivery: WebhookDelivery) -> str:
        return delivery.event.type

    @admin.display(description="webhook-id")
    def message(self, delivery: WebhookDelivery) -> str:
        return delivery.event.message_id

    def get_queryset(self, request: HttpRequest) -> "QuerySet[WebhookDelivery]":
        """Messages stay in the database: they are neither shown nor read."""
        rows: QuerySet[WebhookDelivery] = super().get_queryset(request)
        return rows.select_related("endpoint", "event").defer("event__payload")


@admin.register(Share)
class ShareAdmin(Log):
    """Links that work. What somebody shows to the world under our name can be taken down here."""

    list_display = ("id", "submission_id", "with_text", "created_at", "expires_at")
    search_fields = ("id", "submission__id")
    fields = ("id", "submission_id", "with_text", "created_at", "expires_at")
    readonly_fields = fields
    ordering = ("-created_at", "id")
    actions = ("revoke",)

    @admin.action(description="Revoke: it leads nowhere from the next request on", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: "QuerySet[Share]") -> None:
        revoked = [share for share in queryset if sharing.revoke(share.submission, share.pk)]
        self.message_user(request, f"Revoked: {len(revoked)}")

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)


@admin.register(Submission)
class SubmissionAdmin(Log):
    """A check and what it cost us. Its text, its name and what its owner wrote about it are neither shown nor read."""

    list_display = ("id", "account_id", "status", "characters", "model_version_id", "accepted_at")
    list_filter = ("status", "lane", "source")
    search_fields = ("id", "account__id", "run__id")
    ordering = ("-accepted_at", "id")
    fields = (
        "id",
        "account_id",
        "status",
        "failure_code",
        "characters",
        "words",
        "language",
        "model_version_id",
        "run_id",
        "attempts",
        "cost",
        "accepted_at",
        "dispatched_at",
        "finished_at",
    )
    readonly_fields = fields

    @admin.display(description="GPU cost of this check, without cold starts and idle time")
    def cost(self, submission: Submission) -> str:
        found = economics.cost_of_check(submission)
        return "–" if found is None else money.exact(found)

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Submission]":
        rows: QuerySet[Submission] = super().get_queryset(request)
        return rows.defer("text", "file_name", "metadata")
